/**
 * The handler as a resource server of OAuth: its metadata (RFC 9728), and its challenges
 * (RFC 6750).
 */
import type { JsonObject } from '../../../core.ts';
import { describe } from '../../../values/errors/index.ts';
import { headerOf } from '../../../values/http/direct-body.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { withDeadline } from '../../../values/limits/with-deadline.ts';
import { isScopeName } from '../../../values/options/scope-names.ts';
import { type Authorization, type McpToken, refusedTokens } from './authorization-options.ts';
import { type RpcId, refusal, rpcCodes } from './rpc.ts';

/** Who sends a request. */
export interface Sender {
  readonly principal: string | undefined;
  /** Undefined if nobody asked for a token. */
  readonly scopes: readonly string[] | undefined;
  readonly clientId?: string | undefined;
  /** Undefined if the principal acts itself. */
  readonly actors?: readonly string[] | undefined;
  readonly claims?: JsonObject | undefined;
}

/** Where the metadata of a resource is, before its path. */
export const metadataPath = '/.well-known/oauth-protected-resource';

/** Answers a request for the metadata; undefined for any other request. */
export function answerMetadata(
  request: Request,
  { resource, servers, scopes }: Authorization,
  name: string,
): Response | undefined {
  const { pathname } = new URL(request.url);
  if (pathname !== metadataPath && !pathname.startsWith(`${metadataPath}/`)) return undefined;
  if (request.method !== 'GET')
    return refusal(405, rpcCodes.server, 'Method not allowed.', { Allow: 'GET' });
  const path = pathname.slice(metadataPath.length);
  const own = resource && pathOf(resource);
  if (own !== undefined && path !== '' && path !== own)
    return refusal(404, rpcCodes.server, 'There is no such resource here.');
  return Response.json({
    resource: resource === undefined ? addressOf(request).origin + path : hrefOf(resource),
    authorization_servers: servers,
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    resource_name: name,
  });
}

/** The address that a client has used. A server gives its own name, and the client's in `Host`. */
function addressOf(request: Request): URL {
  const asked = new URL(request.url);
  const named = `${asked.protocol}//${headerOf(request, 'host') ?? asked.host}${asked.pathname}`;
  return URL.canParse(named) ? new URL(named) : asked;
}

/** The path of a resource, as its metadata's address repeats it. */
function pathOf({ pathname }: URL): string {
  return pathname === '/' ? '' : pathname;
}

function hrefOf(resource: URL): string {
  return resource.origin + pathOf(resource) + resource.search;
}

const bearer = /^bearer +([\w\-.~+/]+=*)$/i;
/** Most characters of a token. */
const maxToken = 16_384;
/** Most scopes of a token. */
const maxScopes = 4_096;
/** Milliseconds that the host's code has to say who sends a request. */
export const verifyMs = 30_000;

/**
 * Who sends a request, or 401 with what a client needs to get a token.
 * @param failed hears of faults of `verify`
 * @param refused hears why a token was refused, which clients do not learn
 */
export async function checkToken(
  request: Request,
  authorization: Authorization,
  failed: (error: unknown) => void,
  refused: (error: Error) => void,
): Promise<Sender | Response> {
  const given = request.headers.get('authorization');
  const token = given === null || given.length > maxToken ? undefined : bearer.exec(given)?.[1];
  try {
    const verdict = token === undefined ? undefined : authorization.verify(token, request);
    const found: unknown = verdict && (await withDeadline(Promise.resolve(verdict), verifyMs));
    if (found !== undefined) return readToken(found);
    if (given !== null) refused(new Error(`A request was refused: ${whyRefused(request, token)}.`));
  } catch (error) {
    failed(error);
  }
  return challenge(401, request, authorization, {
    error: given === null ? undefined : 'invalid_token',
    scopes: authorization.scopes,
    message: 'Authentication is needed.',
  });
}

function whyRefused(request: Request, token: string | undefined): string {
  if (token === undefined)
    return `expected \`Authorization: Bearer\` with a token of at most ${maxToken} characters`;
  const reason = refusedTokens.get(request);
  return reason === undefined
    ? '`authorization.verify` knows no such token'
    : `its token does not hold: ${reason.slice(0, 300)}`;
}

/** Fails closed: a verdict that cannot be read lets nobody in. */
function readToken(found: unknown): Sender {
  const { principal, scopes, clientId, actors, claims } = (found ?? {}) as Partial<McpToken>;
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value !== '' && value.length <= 1_024;
  const isShort = Array.isArray(scopes) && scopes.length <= maxScopes;
  const isList = isShort && scopes.every((scope) => typeof scope === 'string');
  if (!isText(principal) || !isList)
    throw new TypeError(
      'authorization.verify: expected undefined or { principal, scopes }, with 1 to 1024 ' +
        `characters and a list of at most ${maxScopes} strings, got ${describe(found)}.`,
    );
  if (actors !== undefined && !areActors(actors))
    throw new TypeError(
      'authorization.verify: expected `actors` to be a list of at most 64 names of 1 to 256 ' +
        `characters, got ${describe(actors)}.`,
    );
  return {
    principal,
    // No tool can need another one, and sessions refuse them.
    scopes: Object.freeze(scopes.filter(isScopeName)),
    ...(isText(clientId) ? { clientId } : {}),
    ...(actors === undefined || actors.length === 0 ? {} : { actors: Object.freeze([...actors]) }),
    ...(isJsonObject(claims) ? { claims } : {}),
  };
}

/** Whether these may be agents of a chain. */
export function areActors(given: unknown): given is readonly string[] {
  return (
    Array.isArray(given) &&
    given.length <= 64 &&
    given.every((one) => typeof one === 'string' && one !== '' && one.length <= 256)
  );
}

/** 403 for agents whose chain the registry does not take. */
export function refusedActors(): Response {
  return refusal(403, rpcCodes.server, 'The agents that this token names may not act here.');
}

/** 401 or 403, with what a client needs to get a token that holds. */
export function challenge(
  status: number,
  request: Request,
  { resource }: Authorization,
  {
    error,
    scopes,
    message,
    id,
  }: {
    readonly error: string | undefined;
    readonly scopes: readonly string[];
    readonly message: string;
    readonly id?: RpcId | undefined;
  },
): Response {
  const at = resource ?? addressOf(request);
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `resource_metadata="${at.origin}${metadataPath}${pathOf(at)}"`,
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
  ];
  return refusal(
    status,
    rpcCodes.server,
    message,
    { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` },
    id ?? null,
  );
}
