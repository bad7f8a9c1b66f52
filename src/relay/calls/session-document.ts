/** The session's document: made, found, and changed by compare-and-set. */
import { keys, type SessionDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { relayError } from '../relay-error.ts';
import { hashOf, newCode, newToken } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';

/**
 * Milliseconds that the store keeps a session after it has expired, so that whoever was in it is
 * told so.
 */
const keptAfterwardsMs = 600_000;
const mostTries = 20;

/** A new session and its tokens, which are told once. */
export interface CreatedSession {
  readonly document: SessionDocument;
  readonly sessionToken: string;
  readonly agentToken: string;
}

/** Creates a session under a code that is free. */
export async function createSessionDocument({
  store,
  now,
  ttlMs,
}: RelaySettings): Promise<CreatedSession> {
  const [sessionToken, agentToken] = [newToken(), newToken()];
  const createdAt = Math.floor(now());
  const expiresAt = createdAt + ttlMs;
  for (let tries = 0; tries < mostTries; tries++) {
    const code = newCode();
    const tokens = { application: [hashOf(sessionToken)], agent: [hashOf(agentToken)] };
    const document: SessionDocument = {
      code,
      createdAt,
      expiresAt,
      tokens,
      paired: [],
      toolsRevision: 0,
    };
    if (
      await store.create(code, keys.session, JSON.stringify(document), expiresAt + keptAfterwardsMs)
    )
      return { document, sessionToken, agentToken };
  }
  throw busy();
}

/**
 * Changes the document, again over what others have written meanwhile. @param next what it becomes;
 * undefined leaves it as it is @returns what it is then; undefined: no such session
 */
export async function changeSession(
  store: RelayStore,
  code: string,
  next: (document: SessionDocument) => SessionDocument | undefined,
): Promise<SessionDocument | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    const [stored] = await store.get(code, [keys.session]);
    if (stored === undefined) return undefined;
    const before = JSON.parse(stored.value) as SessionDocument;
    const after = next(before);
    if (after === undefined) return before;
    if ((await store.set(code, keys.session, JSON.stringify(after), stored.version)) !== undefined)
      return after;
  }
  throw busy();
}

/** 503: others write all the time. */
export function busy(): Error {
  return relayError(503, 'busy', 'Others change this session all the time. Try again.', {
    headers: { 'Retry-After': '1' },
  });
}
