/** The option `authorization` of a handler: what a host writes, and what is checked. */
import type { JsonObject, MaybePromise } from '../../../core.ts';
import { webAddress } from '../../../values/http/web-address.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import {
  anything,
  arrayOf,
  fn,
  kind,
  readOptions,
  required,
  type TableOf,
  text,
  wrongOption,
} from '../../../values/options/index.ts';
import { isScopeName } from '../../../values/options/scope-names.ts';

/** What a valid token says about its bearer. */
export interface McpToken {
  /** Whom the token was issued for. 1 to 1 024 characters. */
  readonly principal: string;
  /** The scopes that it grants, at most 4 096. One that no tool can need is left out. */
  readonly scopes: readonly string[];
  /** The client that it was issued to. @default unknown */
  readonly clientId?: string | undefined;
  /**
   * The agents through which the principal acts, the first one first and the one that sends the
   * request last: at most 64, with names of 1 to 256 characters. Each becomes an agent of the chain
   * of the session, as by `session.delegate`. @default none
   */
  readonly actors?: readonly string[] | undefined;
  /** Everything that it says. Given to the function that makes sessions. @default none */
  readonly claims?: JsonObject | undefined;
}

/** A scope, as the server's metadata lists it. */
export interface McpScope {
  /** As tokens and tools name it: 1 to 256 printable ASCII characters, no blank, `"` or `\`. */
  readonly name: string;
  /** For the host's own lists; the metadata of the protocol has no place for it. @default none */
  readonly description?: string | undefined;
}

/** Makes a handler a resource server of OAuth. */
export interface McpAuthorization {
  /**
   * The address by which clients know the server: an absolute http or https URL without a fragment.
   * Needed behind a proxy that changes the scheme, the host or the path.
   * @default the address of the request, whose `Host` has been checked
   */
  readonly resource?: string | URL | undefined;
  /** The issuers of tokens: 1 to 20 absolute URLs. Clients get their tokens from one of them. */
  readonly authorizationServers: readonly (string | URL)[];
  /**
   * The scopes that a client asks for at first. For those that only some tools need, it asks when a
   * call is refused. @default none
   */
  readonly scopes?: readonly McpScope[] | undefined;
  /**
   * Verifies a token, which was sent as `Authorization: Bearer …`. Undefined or an error leads to
   * 401 `invalid_token`, and so does an answer that takes more than 30 seconds. `jwtVerifier` makes
   * such a function for tokens that are JWTs.
   */
  readonly verify: (token: string, request: Request) => MaybePromise<McpToken | undefined>;
}

/** {@link McpAuthorization}, checked. */
export interface Authorization {
  readonly resource: URL | undefined;
  readonly servers: readonly string[];
  readonly scopes: readonly string[];
  readonly verify: McpAuthorization['verify'];
}

const table = {
  resource: anything<string | URL>(),
  authorizationServers: required(arrayOf(anything<string | URL>(), 'absolute URLs')),
  scopes: arrayOf(
    kind<McpScope>(
      'a scope',
      (one) => isJsonObject(one) && Object.hasOwn(one, 'name') && isScopeName(one.name),
    ),
    '{ name, description? }, whose names are scopes of OAuth, without blanks, `"` and `\\`',
  ),
  verify: required(fn<McpAuthorization['verify']>()),
} satisfies TableOf<McpAuthorization>;
const scopeTable = { name: text(1, 256), description: text() } satisfies TableOf<McpScope>;

/** @throws MisuseError `invalid_option`, which names the option. */
export function readAuthorization(given: object, where: string): Authorization {
  const path = 'authorization';
  const read = readOptions(where, given as McpAuthorization, table, { path });
  const { authorizationServers, scopes = [], verify } = read;
  if (authorizationServers.length === 0 || authorizationServers.length > 20)
    throw wrongOption(where, `${path}.authorizationServers`, '1 to 20 URLs', authorizationServers);
  for (const [index, scope] of scopes.entries())
    readOptions(where, scope, scopeTable, { path: `${path}.scopes[${index}]` });
  const resource =
    read.resource === undefined ? undefined : readUrl(read.resource, where, `${path}.resource`);
  return {
    resource,
    servers: authorizationServers.map((server, index) => {
      const issuer = String(server);
      readUrl(issuer, where, `${path}.authorizationServers[${index}]`);
      // An issuer is compared as it is written, so a slash is neither added nor taken away.
      return issuer;
    }),
    scopes: scopes.map(({ name }) => name),
    verify,
  };
}

function readUrl(given: string | URL, where: string, option: string): URL {
  const url = webAddress(given);
  if (url === undefined || String(given).includes('#'))
    throw wrongOption(where, option, 'an absolute http or https URL without a fragment', given);
  return url;
}

/** Why a verifier of this library refused the token of a request. Clients do not learn it. */
export const refusedTokens = new WeakMap<Request, string>();
