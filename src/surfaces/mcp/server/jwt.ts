/** Verifies tokens that are JWTs, by the keys that their issuer publishes. */
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';
import type { JsonObject } from '../../../core.ts';
import { messageOf } from '../../../values/errors/index.ts';
import { readBodyText } from '../../../values/http/body.ts';
import { isProtected, webAddress } from '../../../values/http/web-address.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import {
  anything,
  milliseconds,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
  wrongOption,
} from '../../../values/options/index.ts';
import { packageFault } from '../../../values/packages/missing-package.ts';
import { areActors } from './authorization.ts';
import { type McpAuthorization, type McpToken, refusedTokens } from './authorization-options.ts';

/** Options of {@link jwtVerifier}. */
export interface JwtOptions {
  /** The issuer, exactly as tokens name it (`iss`): an https URL, or http on loopback. */
  readonly issuer: string;
  /**
   * This server, as tokens name it (`aud`): usually the address of the resource. A token for
   * another audience is refused.
   */
  readonly audience: string | readonly string[];
  /**
   * Where the issuer's keys are. @default `jwks_uri` of the issuer's metadata, by
   * `/.well-known/oauth-authorization-server` or `/.well-known/openid-configuration`
   */
  readonly jwksUrl?: string | URL | undefined;
  /**
   * The `typ` that the header of each token must have, such as `at+jwt` (RFC 9068). Set it if your
   * issuer writes one. @default any, but a token that says it is of another kind is refused
   */
  readonly typ?: string | undefined;
  /**
   * Milliseconds by which clocks may differ when `exp` and `nbf` are compared. From 0.
   * @default 60_000
   */
  readonly clockToleranceMs?: number | undefined;
}

const table = {
  issuer: required(text(1, 2_048)),
  audience: required(anything<string | readonly string[]>()),
  jwksUrl: anything<string | URL>(),
  typ: text(1, 256),
  clockToleranceMs: withDefault(milliseconds(0), 60_000),
} satisfies TableOf<JwtOptions>;
const where = 'jwtVerifier';

/** Only signatures that a public key verifies: whoever knows that key cannot make tokens. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Milliseconds before keys are fetched again for a key id that is not among them. */
const keyCooldownMs = 30_000;
/** Milliseconds for which keys are used without being fetched again. */
const keyAgeMs = 600_000;
/** Milliseconds that the issuer may take for one document. */
const fetchMs = 5_000;
const maxDocumentBytes = 262_144;

type Jose = typeof import('jose');
/** What the issuer answered, so that the next token does not ask again. */
interface Issuer {
  readonly jose: Jose;
  readonly keys: JWTVerifyGetKey;
  /** Epoch milliseconds. */
  readonly foundAt: number;
}

/**
 * Makes `authorization.verify` for tokens that are JWTs: their signature, `iss`, `aud`, `exp`
 * (required) and `nbf` are checked. `sub`, or else `client_id`, becomes the principal; `scope` or
 * `scp` the scopes; `act` (RFC 8693) the `actors`. Keys are fetched when the first token comes, and
 * again at most every 30 seconds when a token names a key that is not among them. Where the keys
 * are is looked up again if that does not help and was found more than ten minutes ago. While keys
 * cannot be fetched, tokens are refused. So are tokens that say they are of another kind, such as
 * ID tokens. Needs the package `jose`.
 * @throws MisuseError `invalid_option`; `missing_dependency` (as a rejection of the function).
 *
 * @example
 * ```ts
 * import { createMcpHandler, jwtVerifier } from 'host-tools/mcp';
 *
 * const issuer = 'https://login.example.com';
 * const audience = 'https://tools.example.com/mcp';
 * const handler = createMcpHandler(
 *   ({ principal = '', scopes = [] }) =>
 *     registry.createSession({ sessionId: principal, principal, scopes }),
 *   {
 *     authorization: {
 *       resource: audience,
 *       authorizationServers: [issuer],
 *       verify: jwtVerifier({ issuer, audience }),
 *     },
 *   },
 * );
 * ```
 */
export function jwtVerifier(options: JwtOptions): McpAuthorization['verify'] {
  const { issuer, audience, jwksUrl, typ, clockToleranceMs } = readOptions(where, options, table);
  checkUrl(issuer, 'issuer');
  const keysAt = jwksUrl === undefined ? undefined : checkUrl(jwksUrl, 'jwksUrl');
  const audiences = readAudience(audience);
  let known: Promise<Issuer> | undefined;
  const open = async (): Promise<Issuer> => {
    const jose = await loadJose();
    const url = keysAt ?? (await discover(issuer));
    return { jose, keys: keysFrom(jose, url), foundAt: Date.now() };
  };
  const found = (): Promise<Issuer> => {
    known ??= open().catch((error: unknown) => {
      // The next token tries again.
      known = undefined;
      throw error;
    });
    return known;
  };
  const verify = async (
    token: string,
    { jose, keys }: Issuer,
  ): Promise<McpToken | string | undefined> => {
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys, {
      issuer,
      audience: audiences,
      algorithms,
      requiredClaims: ['exp'],
      clockTolerance: clockToleranceMs / 1_000,
      ...(typ === undefined ? {} : { typ }),
    });
    return wrongKind(protectedHeader.typ ?? typ, payload) ?? tokenOf(payload);
  };
  const judge = async (token: string): Promise<McpToken | string | undefined> => {
    const issuerNow = await found();
    const { jose, foundAt } = issuerNow;
    try {
      try {
        return await verify(token, issuerNow);
      } catch (error) {
        // The issuer may have moved its keys. Tokens that are made up make it look rarely only.
        const isOld = keysAt === undefined && Date.now() - foundAt > keyAgeMs;
        const isMissing = error instanceof jose.errors.JWKSNoMatchingKey;
        if (!isOld || (isRefusal(jose, error) && !isMissing)) throw error;
        known = undefined;
        return await verify(token, await found());
      }
    } catch (error) {
      // A token that does not hold is an answer. Anything else, such as a key set that cannot be
      // fetched, is a fault that the host should hear of.
      if (isRefusal(jose, error)) return messageOf(error);
      throw error;
    }
  };
  return saysWhy(judge);
}

/** Undefined for a token that does not hold, with the reason beside the request. */
function saysWhy(
  judge: (token: string) => Promise<McpToken | string | undefined>,
): McpAuthorization['verify'] {
  return async (token, request) => {
    const found = await judge(token);
    if (found !== undefined && typeof found !== 'string') return found;
    // The second argument may be missing where a host calls this itself.
    if (request instanceof Request)
      refusedTokens.set(
        request,
        found ?? 'it names no principal: it has neither `sub` nor `client_id`',
      );
    return undefined;
  };
}

/** Why a genuine token is not taken from its bearer; undefined if it is. */
function wrongKind(typ: string | undefined, payload: JWTPayload): string | undefined {
  const { cnf } = payload as JsonObject;
  // A thief of such a token lacks the key, of which a bearer shows nothing.
  if (isJsonObject(cnf) && Object.hasOwn(cnf, 'jkt'))
    return 'it is bound to a key (DPoP), so it must not come as a bearer token';
  return isAccessToken(typ, payload)
    ? undefined
    : 'it is not an access token: its `typ` or its claims are those of another kind';
}

/**
 * Whether nothing says that the token is of another kind. Many issuers do not mark access tokens,
 * so the marks of others count: those of JOSE, of ID tokens (OpenID Connect), and of products.
 */
function isAccessToken(typ: string | undefined, payload: JWTPayload): boolean {
  const kind = typ?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
  if (!/^(?:at\+)?jwt$/.test(kind)) return false;
  const { at_hash: atHash, c_hash: codeHash, events, token_use: use, typ: named } = payload;
  if (atHash !== undefined || codeHash !== undefined || events !== undefined) return false;
  // Amazon Cognito, and Keycloak.
  return (use === undefined || use === 'access') && (named === undefined || named === 'Bearer');
}

async function loadJose(): Promise<Jose> {
  try {
    return await import('jose');
  } catch (error) {
    throw packageFault('jose', 'verifies tokens', error);
  }
}

function readAudience(audience: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (list.length === 0 || !list.every((one) => typeof one === 'string' && one !== ''))
    throw wrongOption(where, 'audience', 'a non-empty string, or a list of them', audience);
  return list as string[];
}

function checkUrl(given: string | URL, option: string): URL {
  const url = webAddress(given);
  if (url === undefined || !isProtected(url))
    throw wrongOption(where, option, 'an https URL, or an http URL of the loopback', given);
  return url;
}

function keysFrom(jose: Jose, url: URL): JWTVerifyGetKey {
  return jose.createRemoteJWKSet(url, {
    cooldownDuration: keyCooldownMs,
    cacheMaxAge: keyAgeMs,
    timeoutDuration: fetchMs,
    [jose.customFetch]: async (address) =>
      Response.json((await fetchJson(new URL(address))) as unknown as JSONWebKeySet),
  });
}

/** The address of the keys, by the metadata of the issuer (RFC 8414, OpenID Connect Discovery). */
async function discover(issuer: string): Promise<URL> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname === '/' ? '' : pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  const faults: unknown[] = [];
  for (const place of places) {
    try {
      const found = await fetchJson(new URL(place));
      // The metadata of another issuer would bring another issuer's keys.
      if (found.issuer !== issuer)
        throw new Error(`${place} is the metadata of another issuer: ${String(found.issuer)}.`);
      if (typeof found.jwks_uri !== 'string') throw new Error(`${place} has no \`jwks_uri\`.`);
      return checkUrl(found.jwks_uri, 'jwks_uri of the issuer');
    } catch (error) {
      faults.push(error);
    }
  }
  throw new AggregateError(faults, `The keys of the issuer ${issuer} cannot be found.`);
}

async function fetchJson(url: URL): Promise<JsonObject> {
  const response = await fetch(url, {
    redirect: 'error',
    headers: { Accept: 'application/json' },
    signal: AbortSignal.timeout(fetchMs),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url.href} answered ${response.status}.`);
  }
  const read = await readBodyText(response, maxDocumentBytes);
  if ('fault' in read) throw new Error(`${url.href} could not be read: ${read.fault}.`);
  const value: unknown = JSON.parse(read.text);
  if (!isJsonObject(value)) throw new Error(`${url.href} is no JSON object.`);
  return value;
}

/** Undefined if the token names nobody; or why it does not hold. */
function tokenOf(payload: JWTPayload): McpToken | string | undefined {
  const { sub, client_id: client, azp, scope, scp, act } = payload;
  const actors = act === undefined ? [] : actorsIn(act, payload.iss);
  if (!areActors(actors))
    return 'its `act` is no chain of at most 64 actors with a `sub` of 1 to 256 characters each';
  const clientId = textOf(client) ?? textOf(azp);
  const principal = textOf(sub) ?? clientId;
  if (principal === undefined) return undefined;
  return {
    principal,
    scopes: scopesOf(scope ?? scp),
    ...(clientId === undefined ? {} : { clientId }),
    ...(actors.length === 0 ? {} : { actors }),
    claims: payload as JsonObject,
  };
}

/** Most actors that are read: one more than a chain may have. */
const mostActors = 65;

/**
 * The actors of a token, the first one first. The outermost one is the present one, and each has
 * the one before it as its own `act` (RFC 8693, section 4.1). Undefined if one has no name.
 */
function actorsIn(act: unknown, issuer: string | undefined): readonly string[] | undefined {
  const actors: string[] = [];
  for (let at: unknown = act; at !== undefined && actors.length < mostActors; ) {
    if (!isJsonObject(at as JsonValue)) return undefined;
    const { sub, client_id: client, iss, act: before } = at as JsonObject;
    const name = textOf(sub) ?? textOf(client);
    if (name === undefined) return undefined;
    // An issuer has no fragment, so the first `#` of a name ends its issuer.
    if (iss !== undefined && textOf(iss)?.includes('#') !== false) return undefined;
    // The same name at another issuer is somebody else, also if the name looks like that.
    const isOwn = iss === undefined || iss === issuer;
    actors.unshift(isOwn && !name.includes('#') ? name : `${iss ?? issuer}#${name}`);
    at = before;
  }
  return actors;
}

function scopesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ').filter((scope) => scope !== '');
  return Array.isArray(value) ? value.filter((scope) => typeof scope === 'string') : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether the token is at fault, and not the way to its issuer's keys. */
function isRefusal({ errors }: Jose, error: unknown): boolean {
  return (
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout) &&
    error.code !== 'ERR_JOSE_GENERIC'
  );
}
