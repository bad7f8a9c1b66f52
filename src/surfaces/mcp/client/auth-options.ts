/** The option `auth` of an import: what a host writes, and what is checked. */
import type { MaybePromise } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { storeOption } from '../../../stores/shared/use-store.ts';
import { describe, MisuseError } from '../../../values/errors/index.ts';
import { isMetadataUrl, webAddress } from '../../../values/http/web-address.ts';
import {
  flag,
  fn,
  kind,
  oneOf,
  readOptions,
  required,
  type TableOf,
  text,
} from '../../../values/options/index.ts';
import { scopeNames } from '../../../values/options/scope-names.ts';

/** An `OAuthClientProvider` of `@modelcontextprotocol/client`, which the host makes. */
export interface McpAuthProvider {
  /** The tokens that it has. */
  tokens(...context: never[]): unknown;
  /** Sends a person to log in. */
  redirectToAuthorization(url: URL): unknown;
}

/** A provider of the host, whose person is waited for. */
export interface McpAuthByProvider {
  /** The SDK's provider. */
  readonly provider: McpAuthProvider;
  /**
   * Resolves when the person whom the provider has sent to log in is back, to the parameters of the
   * address. Called once for each login.
   */
  readonly answer: () => MaybePromise<{ readonly code: string; readonly iss?: string | undefined }>;
}

/** What all grants have. */
interface AnyGrant {
  /** The scopes to ask for. @default what the server's challenge or metadata says */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Whether tokens are bound to a key of this client (DPoP, RFC 9449), so that nobody else can use
   * them. A token that is not bound is refused then. @default false
   */
  readonly dpop?: boolean | undefined;
}

/** A person logs in, with PKCE. */
export interface McpAuthorizationCode extends AnyGrant {
  readonly grant: 'authorization_code';
  /** Where the authorization server sends the person back to. */
  readonly redirectUrl: string;
  /**
   * Shows a person the address to log in at, and resolves to the address to which the person was
   * sent back, with its query. Not called again before it has settled. No call waits longer than
   * its own time limit.
   */
  readonly authorize: (address: URL) => MaybePromise<string | URL>;
  /** The address of the client's own metadata: https, with a path. @default none */
  readonly clientMetadataUrl?: string | undefined;
  /** A client that is registered. @default the client registers itself */
  readonly clientId?: string | undefined;
  /** Its secret. Needs `clientId` and `issuer`. @default none: a public client */
  readonly clientSecret?: string | undefined;
  /**
   * The authorization server that knows `clientId`. No other gets its secret.
   * @default the first one that the server names
   */
  readonly issuer?: string | undefined;
  /** Keeps the login. Whoever reads the store can use it. @default the memory of the import */
  readonly store?: Store | undefined;
  /** Whose login this is, if a store keeps those of several people. @default "" */
  readonly principal?: string | undefined;
}

/** A program that is a client by itself. */
export interface McpClientCredentials extends AnyGrant {
  readonly grant: 'client_credentials';
  /** The client, as the authorization server knows it. */
  readonly clientId: string;
  /** Its secret. */
  readonly clientSecret: string;
  /** The authorization server that knows the client. No other gets its secret. */
  readonly issuer: string;
}

/** The same, with a key in place of a secret (RFC 7523). */
export interface McpPrivateKeyJwt extends AnyGrant {
  readonly grant: 'private_key_jwt';
  /** The client, as the authorization server knows it. */
  readonly clientId: string;
  /** A private key as PEM. */
  readonly privateKey: string;
  /**
   * The signature. @default by the kind of the key: `RS256`, `ES256`, `ES384`, `ES512` or `EdDSA`
   */
  readonly algorithm?: string | undefined;
  /** The authorization server that knows the client. No other gets an assertion. */
  readonly issuer: string;
}

/** A platform vouches for the program that runs on it: workload identity (RFC 7523, SEP-1933). */
export interface McpJwtBearer extends AnyGrant {
  readonly grant: 'jwt_bearer';
  /** The client, as the authorization server knows it. */
  readonly clientId: string;
  /** The JWT of the platform, or a function that gives it, which is asked for each token. */
  readonly assertion: string | (() => MaybePromise<string>);
  /** The authorization server that trusts the platform. No other gets an assertion. */
  readonly issuer: string;
}

/** The identity provider of an organisation vouches for the person (SEP-990). */
export interface McpEnterprise extends AnyGrant {
  readonly grant: 'enterprise';
  /** The client at the authorization server of the MCP server. */
  readonly clientId: string;
  /** Its secret. */
  readonly clientSecret: string;
  /** That authorization server. No other gets the secret. */
  readonly issuer: string;
  /** The identity provider. */
  readonly idpUrl: string;
  /** Where it exchanges tokens. @default what its metadata says */
  readonly idpTokenUrl?: string | undefined;
  /** The client at the identity provider. */
  readonly idpClientId: string;
  /** Its secret. @default none: a public client */
  readonly idpClientSecret?: string | undefined;
  /** The person's ID token, asked for each time. */
  readonly idToken: string | (() => MaybePromise<string>);
}

/** How an import gets its tokens. */
export type McpAuth =
  | McpAuthProvider
  | McpAuthByProvider
  | McpAuthorizationCode
  | McpClientCredentials
  | McpPrivateKeyJwt
  | McpJwtBearer
  | McpEnterprise;

const where = 'importMcpTools';
const member = { noun: 'member', path: 'auth' };
const secret = required(text(1));
const grant = required(
  oneOf('authorization_code', 'client_credentials', 'private_key_jwt', 'jwt_bearer', 'enterprise'),
);
const address = kind<string>(
  'an http(s) address',
  (value) => typeof value === 'string' && webAddress(value) !== undefined,
);
const metadataUrl = kind<string>('an https address with a path', isMetadataUrl);
const token = kind<string | (() => MaybePromise<string>)>(
  'a non-empty string or a function',
  (value) => (typeof value === 'string' && value !== '') || typeof value === 'function',
);
const any = { grant, scopes: scopeNames, dpop: flag } as const;
const machine = { ...any, clientId: secret, issuer: required(address) };
const tables = {
  authorization_code: {
    ...any,
    redirectUrl: required(address),
    authorize: required(fn<McpAuthorizationCode['authorize']>()),
    clientMetadataUrl: metadataUrl,
    clientId: text(1),
    clientSecret: text(1),
    issuer: address,
    store: storeOption,
    principal: text(),
  } satisfies TableOf<McpAuthorizationCode>,
  client_credentials: {
    ...machine,
    clientSecret: secret,
  } satisfies TableOf<McpClientCredentials>,
  private_key_jwt: {
    ...machine,
    privateKey: secret,
    algorithm: text(1),
  } satisfies TableOf<McpPrivateKeyJwt>,
  jwt_bearer: { ...machine, assertion: required(token) } satisfies TableOf<McpJwtBearer>,
  enterprise: {
    ...machine,
    clientSecret: secret,
    idpUrl: required(address),
    idpTokenUrl: address,
    idpClientId: secret,
    idpClientSecret: text(1),
    idToken: required(token),
  } satisfies TableOf<McpEnterprise>,
} as const;
const byProvider = {
  provider: required(kind<McpAuthProvider>('an OAuthClientProvider of the SDK', isProvider)),
  answer: required(fn<McpAuthByProvider['answer']>()),
} satisfies TableOf<McpAuthByProvider>;

export function isProvider(value: unknown): value is McpAuthProvider {
  const { tokens, redirectToAuthorization } = (value ?? {}) as Partial<McpAuthProvider>;
  return typeof tokens === 'function' && typeof redirectToAuthorization === 'function';
}

/** A grant that this library gets tokens by. */
export type McpGrant = Exclude<McpAuth, McpAuthProvider | McpAuthByProvider>;

/** The option, checked. @throws MisuseError `invalid_option`. */
export function readAuth(given: McpAuth): McpAuth {
  if (isProvider(given)) return given;
  if (typeof given === 'object' && given !== null && 'provider' in given)
    return readOptions(where, given, byProvider, member);
  const named = (given as { grant?: unknown } | null)?.grant;
  if (typeof named !== 'string' || !Object.hasOwn(tables, named))
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`auth\` to be a provider of the SDK, { provider, answer }, or to have ` +
        `a \`grant\` that is one of ${Object.keys(tables).join(', ')}, got ${describe(given)}.`,
    );
  const table = tables[named as keyof typeof tables] as never;
  const read = readOptions(where, given, table, member) as McpGrant;
  if (read.grant === 'authorization_code') checkClient(read);
  return read;
}

/** @throws MisuseError for a secret that any server could have sent to an address of its own. */
function checkClient({ clientId, clientSecret, issuer }: McpAuthorizationCode): void {
  const missing = clientId === undefined ? 'clientId' : 'issuer';
  const needing = clientSecret === undefined ? 'issuer' : 'clientSecret';
  if (clientSecret === undefined && issuer === undefined) return;
  if (clientId !== undefined && issuer !== undefined) return;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`auth.${missing}\` beside \`auth.${needing}\`, got none. Name the ` +
      'client and the one authorization server that knows it.',
  );
}
