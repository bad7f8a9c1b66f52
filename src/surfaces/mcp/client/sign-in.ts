/** Signing in to a server with OAuth, once, by the command line. */
import { bindTokens, dpopSession, newDpopKey } from './dpop.ts';
import { checkAddress, oauthFetch } from './fetch.ts';
import {
  clientOf,
  type OAuthRecord,
  type OAuthStore,
  providerOf,
  type RegisteredClient,
} from './oauth.ts';
import { loadSdk } from './sdk.ts';
import { scopesIn, scopeUnion } from './wanted-scopes.ts';

/** How to sign in. */
export interface SignInOptions {
  readonly url: string;
  readonly redirectUrl: string;
  /** A value that comes back with the browser. */
  readonly state: string;
  readonly store: OAuthStore;
  /** @default registers one, if the server lets it */
  readonly client?: RegisteredClient | undefined;
  /** The address of the client's own metadata. @default none */
  readonly clientMetadataUrl?: string | undefined;
  /** The scopes to ask for. @default what the server says */
  readonly scopes?: readonly string[] | undefined;
  /** Whether the tokens must be bound to a new key. @default false */
  readonly dpop?: boolean | undefined;
  /** Shows the address to open. @param wanted the scopes that calls have needed since */
  show(address: URL, wanted: readonly string[]): void;
  /** Resolves when the browser is back. */
  answer(): Promise<Callback>;
}

/** The parameters that the browser brings back. */
export interface Callback {
  readonly code: string;
  readonly iss: string | undefined;
}

/**
 * Signs in. False if the server does not ask for it. Nothing is stored before it has succeeded, so
 * an earlier login stays if this one fails.
 */
export async function signIn(options: SignInOptions): Promise<boolean> {
  const { url, redirectUrl, state, store, client, dpop, clientMetadataUrl } = options;
  const { auth, extractWWWAuthenticateParams } = await loadSdk();
  const server = new URL(url);
  const fetchFn = oauthFetch(server);
  const wanted = await wantedIn(store);
  const response = await fetchFn(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
  });
  await response.body?.cancel();
  if (response.status !== 401 && wanted.length === 0) return false;
  const { resourceMetadataUrl, scope: named } = extractWWWAuthenticateParams(response);
  const record: OAuthRecord = { redirectUrl, client: client && clientOf(client) };
  if (wanted.length > 0) record.wanted = wanted;
  const scopes = scopeUnion(options.scopes ?? scopesIn(named), wanted);
  const redirect = (address: URL): void => {
    checkAddress(server, address);
    record.asked = scopesIn(address.searchParams.get('scope'));
    options.show(address, wanted);
  };
  const plain = providerOf(record, { redirect, saved: async () => {}, state });
  // A client of one issuer registers itself at no other.
  if (client?.issuer !== undefined) Object.assign(plain, { saveClientInformation: undefined });
  if (clientMetadataUrl !== undefined) Object.assign(plain, { clientMetadataUrl });
  if (dpop === true) record.dpop = await newDpopKey();
  const session = record.dpop && (await dpopSession(record.dpop));
  const provider = session === undefined ? plain : bindTokens(plain, async () => session);
  const wishes = {
    serverUrl: url,
    fetchFn,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  await auth(provider, wishes);
  const { code, iss } = await options.answer();
  await auth(provider, {
    ...wishes,
    authorizationCode: code,
    ...(iss === undefined ? {} : { iss }),
  });
  await store.write(record);
  return true;
}

/** What calls needed since the last login. A login that cannot be read is replaced. */
async function wantedIn(store: OAuthStore): Promise<readonly string[]> {
  const kept = await store.read().catch(() => undefined);
  return kept?.wanted ?? [];
}
