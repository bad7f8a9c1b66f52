/** The login to a server with OAuth, as it is kept, and the SDK's provider over it. */
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../values/json/index.ts';
import { isScopeName } from '../../../values/options/scope-names.ts';
import { type DpopKey, isDpopKey } from './dpop.ts';
import { isToken } from './fetch.ts';

/** The stored record of a login. Plain JSON. */
export interface OAuthRecord {
  /** Where the browser was sent back to. */
  readonly redirectUrl: string;
  client?: StoredOAuthClientInformation | undefined;
  tokens?: StoredOAuthTokens | undefined;
  /** Where the login was made. If the server later names another place, it is not believed. */
  discovery?: OAuthDiscoveryState | undefined;
  /** The key to which the tokens are bound. @default they are not bound */
  dpop?: DpopKey | undefined;
  /** The scopes that the last login asked for. */
  asked?: readonly string[] | undefined;
  /** The scopes that calls needed, with those before. Later logins ask for them. */
  wanted?: readonly string[] | undefined;
}

/** Whether a value is the record of a login, with tokens that a header can carry. */
export function isRecord(value: unknown): value is OAuthRecord {
  if (!isJsonObject(value) || typeof value.redirectUrl !== 'string') return false;
  const { client, tokens, discovery, dpop, asked = [], wanted = [] } = value;
  return (
    (client === undefined || (isJsonObject(client) && typeof client.client_id === 'string')) &&
    (tokens === undefined || (isJsonObject(tokens) && isToken(tokens.access_token))) &&
    (discovery === undefined || isJsonObject(discovery)) &&
    (dpop === undefined || isDpopKey(dpop)) &&
    [asked, wanted].every((scopes) => Array.isArray(scopes) && scopes.every(isScopeName))
  );
}

/** Stores the login to one server. Other processes may write too. */
export interface OAuthStore {
  /** @throws if the stored record cannot be trusted */
  read(): Promise<OAuthRecord | undefined>;
  write(record: OAuthRecord): Promise<void>;
}

/** A client that the user has registered. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret: string | undefined;
  /** The only authorization server that gets the secret. @default the one that the server names */
  readonly issuer?: string | undefined;
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
