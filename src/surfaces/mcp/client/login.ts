/** The login of a person, which a store can keep. */
import { randomBytes } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import type { Store } from '../../../extend.ts';
import { sha256 } from '../../../values/crypto.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { McpAuthorizationCode } from './auth-options.ts';
import { bindTokens, dpopSession, newDpopKey } from './dpop.ts';
import { checkAddress, type OAuthFetch } from './fetch.ts';
import { clientOf, isRecord, type OAuthRecord, type OAuthStore, providerOf } from './oauth.ts';
import { registeringFor, registrationOf } from './registration.ts';
import type { AskedScopes } from './wanted-scopes.ts';

/** Gives tokens to one connection after the other. */
export interface Authorizer {
  readonly provider: OAuthClientProvider;
  /** Requests of the login. */
  readonly fetch: OAuthFetch;
  /**
   * Waits for the person who logs in, and redeems the code; undefined if nobody can log in.
   * @throws Error that says why it failed.
   */
  readonly finish: ((redeem: Redeem) => Promise<void>) | undefined;
  /** Nobody is waited for to end the login that was begun last. */
  readonly abandon?: (() => void) | undefined;
  /** A call needs these scopes as well. */
  readonly note?: AskedScopes['note'] | undefined;
}

/** Gets tokens for the parameters with which a person came back. */
type Redeem = (back: URLSearchParams) => Promise<void>;

/** A login that a person is waiting for. */
interface Pending {
  readonly address: URL;
  readonly verifier: string;
}

/** The person of `authorization_code`. */
export function loginOf(
  auth: McpAuthorizationCode,
  endpoint: URL,
  fetch: OAuthFetch,
  asked: AskedScopes,
): () => Promise<Authorizer> {
  const { redirectUrl, clientId, clientSecret, issuer } = auth;
  const kept = auth.store && storedLogin(auth.store, endpoint, auth);
  const client =
    clientId === undefined ? undefined : clientOf({ id: clientId, secret: clientSecret, issuer });
  return async () => {
    const stored = await kept?.read();
    const known: OAuthRecord = stored?.redirectUrl === redirectUrl ? stored : { redirectUrl };
    // The host's secret may be newer than the stored one. The issuer that was found still counts.
    const record: OAuthRecord =
      client === undefined ? known : { ...known, client: { ...known.client, ...client } };
    const login: Login = { pending: undefined, finishing: undefined, replaced: undefined };
    const saved = async (): Promise<void> => kept?.write(record);
    const person = personOf(auth, { endpoint, record, login, saved, asked });
    const undo = (): void => {
      // The tokens that are there are of the client before.
      record.client = login.replaced ?? record.client;
    };
    const over = (): void => {
      login.pending = undefined;
      login.finishing = undefined;
      login.replaced = undefined;
    };
    return {
      note: asked.note,
      abandon() {
        if (login.finishing !== undefined) return;
        undo();
        over();
      },
      provider: await boundTo(auth, record, person),
      fetch: registeringFor(asked, fetch),
      finish(redeem) {
        // A connection that replaces a lost one waits for the same login: the tokens are of both.
        login.finishing ??= finishLogin(auth, login, redeem)
          .catch((error: unknown) => {
            undo();
            throw error;
          })
          .finally(over);
        return login.finishing;
      },
    };
  };
}

/** The same person, whose tokens are bound to the key of the login. */
async function boundTo(
  { dpop }: McpAuthorizationCode,
  record: OAuthRecord,
  person: OAuthClientProvider,
): Promise<OAuthClientProvider> {
  // A key that was kept with a login counts: its tokens are worth nothing without it.
  if (dpop !== true && record.dpop === undefined) return person;
  // Nor does a token without a key count for a host that asks for one.
  if (record.dpop === undefined) record.tokens = undefined;
  record.dpop ??= await newDpopKey();
  const session = await dpopSession(record.dpop);
  return bindTokens(person, async () => session);
}

async function finishLogin(
  auth: McpAuthorizationCode,
  { pending }: Login,
  redeem: Redeem,
): Promise<void> {
  if (pending === undefined) throw new Error('The server did not begin a login.');
  await redeem(await comeBack(auth, pending.address));
}

/** The login of one import. */
interface Login {
  /** The newest that was begun, or the one that a person is waited for. */
  pending: Pending | undefined;
  /** While a person is waited for. */
  finishing: Promise<void> | undefined;
  /** The client before it registered itself for more scopes, until the login has ended. */
  replaced: OAuthRecord['client'];
}

/** The SDK's provider, with a verifier for each login that several requests may begin at once. */
function personOf(
  { clientSecret, clientMetadataUrl, issuer, scopes }: McpAuthorizationCode,
  {
    endpoint,
    record,
    login,
    saved,
    asked,
  }: {
    readonly endpoint: URL;
    readonly record: OAuthRecord;
    readonly login: Login;
    readonly saved: () => Promise<void>;
    readonly asked: AskedScopes;
  },
): OAuthClientProvider {
  const verifiers = new Map<string, string>();
  const { clientInformation, saveClientInformation } = registrationOf(record, asked, (client) => {
    login.replaced ??= client;
  });
  const base = providerOf(record, {
    redirect(address) {
      checkAddress(endpoint, address);
      const scope = asked.of(address.searchParams.get('scope') ?? undefined);
      if (scope !== undefined) address.searchParams.set('scope', scope);
      const verifier = verifiers.get(address.searchParams.get('code_challenge') ?? '');
      if (verifier !== undefined && login.finishing === undefined)
        login.pending = { address, verifier };
      verifiers.clear();
    },
    saved,
    clientName: 'host-tools',
    isPublic: clientSecret === undefined,
    scope: scopes?.join(' '),
  });
  return Object.assign(base, {
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    // A client of this issuer registers itself at no other.
    saveClientInformation: issuer === undefined ? saveClientInformation : undefined,
    clientInformation,
    state: () => randomBytes(24).toString('base64url'),
    saveCodeVerifier(verifier: string) {
      const challenge = sha256(verifier, 'base64url');
      if (verifiers.size < 100) verifiers.set(challenge, verifier);
    },
    codeVerifier: () => login.pending?.verifier ?? '',
    // What was found counts until the login ends. Later the server may name another issuer, which
    // gets nothing of what this one has given.
    discoveryState: () => (login.pending === undefined ? undefined : record.discovery),
  });
}

/** The parameters with which the person comes back. @throws Error if they are not those. */
async function comeBack(
  { authorize, redirectUrl }: McpAuthorizationCode,
  asked: URL,
): Promise<URLSearchParams> {
  const address = String(await authorize(asked));
  // The error of the URL itself would carry the code.
  if (!URL.canParse(address, redirectUrl))
    throw new Error('Expected `auth.authorize` to resolve to an address, got another text.');
  const back = new URL(address, redirectUrl).searchParams;
  // Anybody could have sent the person here with a code of their own.
  if (back.get('state') !== asked.searchParams.get('state'))
    throw new Error('The login came back with another `state` than it was begun with.');
  if (back.get('code') === null) {
    const why = cleanLine(back.get('error_description'), 500);
    throw new Error(
      `The login was refused: ${cleanLine(back.get('error') ?? 'no code came back', 200)}` +
        `${why === '' ? '' : ` (${why})`}.`,
    );
  }
  return back;
}

function storedLogin(
  store: Store,
  endpoint: URL,
  { clientId = '', principal = '' }: McpAuthorizationCode,
): OAuthStore {
  const space = { shared: 'mcp-logins' } as const;
  const key = sha256(JSON.stringify([endpoint.href, clientId, principal]));
  return {
    async read() {
      const { results } = await store.apply(space, [{ op: 'get', keys: [key] }]);
      const value = results?.[0][0]?.value;
      return value === undefined ? undefined : readRecord(value);
    },
    async write(record) {
      await store.apply(space, [{ op: 'set', key, value: JSON.stringify(record) }]);
    },
  };
}

/** The record of a login; its errors repeat nothing of it. @throws Error */
function readRecord(text: string): OAuthRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Refused below.
  }
  throw new Error(
    'Expected `auth.store` to have a login as it was written. Delete it there and log in again.',
  );
}
