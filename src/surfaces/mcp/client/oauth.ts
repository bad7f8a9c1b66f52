/** Signing in to a server with OAuth, and the resulting tokens, with the SDK's own helpers. */
import type {
  AuthProvider,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../../values/errors/index.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { checkAddress, isToken, oauthFetch } from './fetch.ts';
import { loadSdk } from './sdk.ts';

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** The stored record of a login. Plain JSON. */
export interface OAuthRecord {
  /** Where the browser was sent back to. */
  readonly redirectUrl: string;
  client?: StoredOAuthClientInformation | undefined;
  tokens?: StoredOAuthTokens | undefined;
  /** Where the login was made. If the server later names another place, it is not believed. */
  discovery?: OAuthDiscoveryState | undefined;
}

/** Whether a value is the record of a login, with tokens that a header can carry. */
export function isRecord(value: unknown): value is OAuthRecord {
  if (!isJsonObject(value) || typeof value.redirectUrl !== 'string') return false;
  const { client, tokens, discovery } = value;
  return (
    (client === undefined || (isJsonObject(client) && typeof client.client_id === 'string')) &&
    (tokens === undefined || (isJsonObject(tokens) && isToken(tokens.access_token))) &&
    (discovery === undefined || isJsonObject(discovery))
  );
}

/** Stores the login to one server. Other processes may write too. */
export interface OAuthStore {
  /** @throws if the stored record cannot be trusted */
  read(): Promise<OAuthRecord | undefined>;
  write(record: OAuthRecord): Promise<void>;
}

/** The parameters that the browser brings back. */
export interface Callback {
  readonly code: string;
  readonly iss: string | undefined;
}

/** A client that the user has registered. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret: string | undefined;
  /** The only authorization server that gets the secret. @default the one that the server names */
  readonly issuer?: string | undefined;
}

/** How to sign in. */
export interface SignInOptions {
  readonly url: string;
  readonly redirectUrl: string;
  /** A value that comes back with the browser. */
  readonly state: string;
  readonly store: OAuthStore;
  /** @default registers one, if the server lets it */
  readonly client?: RegisteredClient | undefined;
  /** Shows the address to open. */
  show(address: URL): void;
  /** Resolves when the browser is back. */
  answer(): Promise<Callback>;
}

function renewalFault(error: unknown, hint: string): Error {
  if (error instanceof Error && error.message.includes(hint)) return error;
  const message = `Its login could not be renewed: ${messageOf(error)} ${hint}`;
  return new Error(message, { cause: error });
}

/** Adds the token to each request of a server, and replaces one that has expired. */
export function bearerOf(
  url: string,
  store: OAuthStore,
  {
    hint,
    told,
  }: {
    /** What to do without a token, as a sentence. */
    readonly hint: string;
    /** Called with the secrets of a login, before they are used. */
    readonly told: (secret: string) => void;
  },
): AuthProvider {
  let last: string | undefined;
  let refreshing: Promise<void> | undefined;
  const refresh = async ({ response }: UnauthorizedContext): Promise<void> => {
    const record = await store.read();
    const had = record?.tokens;
    if (record === undefined || had === undefined) throw new Error(`It asks for a login. ${hint}`);
    // Another process may have refreshed it meanwhile.
    if (had.access_token !== last) return;
    const { auth, extractWWWAuthenticateParams } = await loadSdk();
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    const again = (): never => {
      throw new Error(`Its login could not be renewed. ${hint}`);
    };
    const provider = providerOf(record, { redirect: again, saved: () => store.write(record) });
    try {
      // Without a way to store it, the SDK registers no client.
      await auth(Object.assign(provider, { saveClientInformation: undefined }), {
        serverUrl: url,
        fetchFn: oauthFetch(new URL(url)),
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      });
    } catch (error) {
      // A refresh token may be valid only once, and another process may have used it first.
      const now = (await store.read())?.tokens?.access_token;
      if (now === undefined || now === had.access_token) throw renewalFault(error, hint);
    }
  };
  return {
    async token() {
      const { client, tokens } = (await store.read()) ?? {};
      for (const secret of [client?.client_secret, tokens?.refresh_token, tokens?.access_token])
        if (secret !== undefined) told(secret);
      last = tokens?.access_token;
      return last;
    },
    onUnauthorized(context) {
      refreshing ??= refresh(context).finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
  };
}

/**
 * Signs in. False if the server does not ask for it. Nothing is stored before it has succeeded, so
 * an earlier login stays if this one fails.
 */
export async function signIn(options: SignInOptions): Promise<boolean> {
  const { url, redirectUrl, state, store, client, show, answer } = options;
  const { auth, extractWWWAuthenticateParams } = await loadSdk();
  const server = new URL(url);
  const fetchFn = oauthFetch(server);
  const response = await fetchFn(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
  });
  await response.body?.cancel();
  if (response.status !== 401) return false;
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  const record: OAuthRecord = { redirectUrl, client: client && clientOf(client) };
  const redirect = (address: URL): void => {
    checkAddress(server, address);
    show(address);
  };
  const provider = providerOf(record, { redirect, saved: async () => {}, state });
  // A client of one issuer registers itself at no other.
  if (client?.issuer !== undefined) Object.assign(provider, { saveClientInformation: undefined });
  const wishes = {
    serverUrl: url,
    fetchFn,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
  await auth(provider, wishes);
  const { code, iss } = await answer();
  await auth(provider, {
    ...wishes,
    authorizationCode: code,
    ...(iss === undefined ? {} : { iss }),
  });
  await store.write(record);
  return true;
}

/**
 * The provider that the SDK needs, backed by a record.
 * @param saved called when the record has new tokens
 */
export function providerOf(
  record: OAuthRecord,
  {
    redirect,
    saved,
    state,
    clientName = 'host-tools gateway',
    isPublic = true,
    scope,
  }: {
    readonly redirect: (address: URL) => void;
    readonly saved: () => Promise<void>;
    readonly state?: string;
    readonly clientName?: string;
    /** Whether the client has no secret. @default true */
    readonly isPublic?: boolean;
    /** Asked for when the client registers itself. @default what the server says */
    readonly scope?: string | undefined;
  },
): OAuthClientProvider {
  let verifier = '';
  return {
    redirectUrl: record.redirectUrl,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [record.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A program on the user's machine cannot keep its own secret.
      ...(isPublic ? { token_endpoint_auth_method: 'none' } : {}),
      ...(scope === undefined ? {} : { scope }),
    },
    ...(state === undefined ? {} : { state: () => state }),
    clientInformation: () => record.client,
    saveClientInformation(client) {
      record.client = client;
    },
    tokens: () => record.tokens,
    saveTokens(tokens) {
      record.tokens = tokens;
      return saved();
    },
    redirectToAuthorization: redirect,
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(found) {
      record.discovery = found;
    },
    discoveryState: () => record.discovery,
    invalidateCredentials(scope) {
      // Only in memory, because another process may have replaced the stored record.
      if (scope === 'all' || scope === 'client') record.client = undefined;
      if (scope === 'all' || scope === 'tokens') record.tokens = undefined;
    },
  };
}

export function clientOf({ id, secret, issuer }: RegisteredClient): StoredOAuthClientInformation {
  return {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}
