/**
 * Access to a session by token or ticket. A client cannot tell a wrong token from an unknown
 * session code.
 */
import { headerOf } from '../../../values/http/direct-body.ts';
import { keys, type SessionDocument, type Side } from '../ports/documents.ts';
import { documentsOf, type KeptStore, removeDocument } from '../ports/kept-store.ts';
import { type RelayError, relayError, sessionNotFound } from '../relay-error.ts';
import { hashOf, sameHash } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';

/** `ticket:<hash>`: the side that the ticket is for, and its expiry. */
export interface TicketDocument {
  readonly side: Side;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A client that has passed the checks. */
interface Admitted {
  readonly document: SessionDocument;
  readonly side: Side;
}

/** The access that a client asks for. */
interface AccessRequest {
  readonly code: string;
  readonly access: Side | 'either';
  /** The bearer token. */
  readonly token: string | undefined;
  /** Used when there is no token. Also undefined when the route accepts no tickets. */
  readonly ticket: string | undefined;
}

const maxSecretChars = 200;
/** Compared when a side has no further hash. */
const noHash = '0'.repeat(64);
/** Used for an unknown session, so that the work takes the same time. */
const noSession = JSON.stringify({
  code: '',
  createdAt: 0,
  expiresAt: 0,
  tokens: { application: [noHash], agent: [noHash] },
  paired: [],
  toolsRevision: 0,
});

/**
 * The token of `Authorization: Bearer …`; undefined without that header.
 * @throws RelayError 401 `unauthorized` for another scheme, or for a malformed token
 */
export function bearerOf(request: Request): string | undefined {
  const header = headerOf(request, 'authorization');
  if (header === null) return undefined;
  const space = header.indexOf(' ');
  const token = header.slice(space + 1);
  if (
    header.slice(0, Math.max(0, space)).toLowerCase() !== 'bearer' ||
    token === '' ||
    token.length > maxSecretChars ||
    token.includes(' ')
  )
    throw unauthorized(
      'Expected `Authorization: Bearer` and a token.',
      'Bearer error="invalid_request"',
    );
  return token;
}

/**
 * Admits a client with the right token or ticket.
 * @throws RelayError 401, 403 `wrong_side`, 404 `session_not_found`, 410 `session_expired`
 */
export async function authorize(
  store: KeptStore,
  now: number,
  { code, access, token, ticket }: AccessRequest,
): Promise<Admitted> {
  if (token === undefined && ticket !== undefined)
    return authorizeTicket(store, now, code, access, ticket);
  if (token === undefined)
    throw unauthorized('Expected `Authorization: Bearer` with a token of this session.');
  const hash = hashOf(token);
  const [stored] = await documentsOf(store, code, [keys.session]);
  const document = JSON.parse(stored?.value ?? noSession) as SessionDocument;
  const side = sideOf(document, hash);
  if (stored === undefined || side === undefined) throw sessionNotFound();
  return admit({ document, side }, access, now);
}

/**
 * Finds a session for the host, whose key was already checked.
 * @throws RelayError 404 `session_not_found`, 410 `session_expired`
 */
export async function findSession(
  store: KeptStore,
  now: number,
  code: string,
): Promise<SessionDocument> {
  const [stored] = await documentsOf(store, code, [keys.session]);
  if (stored === undefined) throw sessionNotFound();
  const document = JSON.parse(stored.value) as SessionDocument;
  if (now >= document.expiresAt) throw sessionExpired();
  return document;
}

/**
 * Checks the host key.
 * @throws RelayError 401 `unauthorized`, 403 `forbidden`
 */
export function checkHostKey(token: string | undefined, hostKeyHash: string): void {
  if (token === undefined)
    throw unauthorized('Expected `Authorization: Bearer` with the host key.');
  if (!sameHash(hashOf(token), hostKeyHash))
    throw relayError(403, 'forbidden', 'Expected the host key, got another token.');
}

async function authorizeTicket(
  store: KeptStore,
  now: number,
  code: string,
  access: Side | 'either',
  ticket: string,
): Promise<Admitted> {
  if (ticket === '' || ticket.length > maxSecretChars) throw sessionNotFound();
  const key = keys.ticket(hashOf(ticket));
  const [session, stored] = await documentsOf(store, code, [keys.session, key]);
  if (session === undefined || stored === undefined) throw sessionNotFound();
  const { side, expiresAt } = JSON.parse(stored.value) as TicketDocument;
  const admitted = admit(
    { document: JSON.parse(session.value) as SessionDocument, side },
    access,
    now,
  );
  // If several clients present the same ticket, only one is admitted.
  const first = await removeDocument(store, code, key);
  if (!first || now >= expiresAt) throw sessionNotFound();
  return admitted;
}

function admit(admitted: Admitted, access: Side | 'either', now: number): Admitted {
  if (now >= admitted.document.expiresAt) throw sessionExpired();
  if (access !== 'either' && access !== admitted.side)
    throw relayError(403, 'wrong_side', `This route is for the ${access} side of the session.`);
  return admitted;
}

/** Compares every hash, even after one matches, so that the time reveals nothing. */
function sideOf({ tokens }: SessionDocument, hash: string): Side | undefined {
  let found: Side | undefined;
  for (const side of ['application', 'agent'] as const)
    for (const at of [0, 1]) if (sameHash(tokens[side][at] ?? noHash, hash)) found = side;
  return found;
}

/** 410: the session has expired. */
export function sessionExpired(): RelayError {
  return relayError(410, 'session_expired', 'Session has expired');
}

function unauthorized(message: string, challenge = 'Bearer'): RelayError {
  return relayError(401, 'unauthorized', message, { headers: { 'WWW-Authenticate': challenge } });
}

// Keeps sessions that were read a moment ago, for answers of applications. A session need not be
// read again for each answer, because the store refuses the write if the session is gone.

/** Milliseconds for which a session counts as read. */
const recentMs = 10_000;
/** Most sessions that are kept. */
const maxKept = 10_000;

/** Finds sessions like `access.ts`, but reads each of them only once in a while. */
export interface RecentSessions {
  /**
   * Like `authorize`. A kept session is good enough to admit a client, because tokens are never
   * withdrawn. Before a client is refused, its session is read again.
   */
  authorize(asked: AccessRequest): Promise<Admitted>;
  /** Like `findSession`. */
  find(code: string): Promise<SessionDocument>;
}

/** Starts with no sessions. */
export function recentSessions({
  store,
  now,
}: Pick<RelaySettings, 'store' | 'now'>): RecentSessions {
  const kept = new Map<string, { readonly document: SessionDocument; readonly until: number }>();
  const recent = (code: string): SessionDocument | undefined => {
    const found = kept.get(code);
    if (found === undefined) return undefined;
    if (found.until > performance.now() && found.document.expiresAt > now()) return found.document;
    kept.delete(code);
    return undefined;
  };
  const keep = (document: SessionDocument): void => {
    kept.set(document.code, { document, until: performance.now() + recentMs });
    if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
  };
  return {
    async authorize(asked) {
      const document = recent(asked.code);
      const side =
        document && asked.token !== undefined ? sideOf(document, hashOf(asked.token)) : undefined;
      if (document !== undefined && side !== undefined && side === asked.access)
        return { document, side };
      const admitted = await authorize(store, now(), asked);
      keep(admitted.document);
      return admitted;
    },
    async find(code) {
      const known = recent(code);
      if (known !== undefined) return known;
      const document = await findSession(store, now(), code);
      keep(document);
      return document;
    },
  };
}
