/**
 * What a request over HTTP must pass before the protocol is spoken: where it is sent to, where it
 * comes from, who sends it.
 */
import type { HandlerSettings } from './options.ts';
import { type RpcId, rpcCodes, rpcError } from './rpc.ts';

/** Answers with a JSON-RPC error under an HTTP status. */
export function refusal(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  id: RpcId | null = null,
): Response {
  return Response.json(rpcError(code, message, id), { status, headers });
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * 403 for a host or an origin that is not expected: a page that a name server led here, or somebody
 * else's page.
 */
export function checkOrigin(
  request: Request,
  { allowedHosts, allowedOrigins }: HandlerSettings,
): Response | undefined {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  if (!hostAllowed(host, allowedHosts))
    return refusal(403, rpcCodes.server, 'This Host is not allowed here.');
  const origin = request.headers.get('origin');
  if (origin === null || originAllowed(origin, allowedOrigins)) return undefined;
  return refusal(403, rpcCodes.server, 'This Origin is not allowed here.');
}

function hostAllowed(host: string, allowed: readonly string[] | undefined): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\\[\]\s]+)(?::\d{1,5})?$/i.exec(host);
  const name = match?.[1]?.toLowerCase();
  if (name === undefined) return false;
  return allowed === undefined
    ? loopback.has(name)
    : allowed.includes(name) || allowed.includes(host.toLowerCase());
}

function originAllowed(origin: string, allowed: readonly string[] | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.protocol !== 'http:' && url.protocol !== 'https:' && allowed === undefined) return false;
  return allowed === undefined
    ? loopback.has(url.hostname)
    : url.origin !== 'null' && allowed.includes(url.origin);
}

/** The principal, or 401. */
export async function authenticate(
  request: Request,
  settings: HandlerSettings,
): Promise<{ readonly principal: string | undefined } | Response> {
  if (settings.authenticate === undefined) return { principal: undefined };
  let principal: unknown;
  try {
    principal = await settings.authenticate(request);
  } catch (error) {
    settings.logFault(error, 'authenticate');
    settings.report(error);
  }
  if (typeof principal === 'string' && principal !== '') return { principal };
  const challenge = request.headers.has('authorization')
    ? 'Bearer error="invalid_token"'
    : 'Bearer';
  return refusal(401, rpcCodes.server, 'Authentication is needed.', {
    'WWW-Authenticate': challenge,
  });
}

const corsMethods = 'GET, POST, DELETE';
const corsHeaders =
  'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, ' +
  'Mcp-Method, Mcp-Name';

/** CORS headers for the origins that the host has named, and for no others. */
export function corsOf(
  request: Request,
  { allowedOrigins }: HandlerSettings,
): Readonly<Record<string, string>> | undefined {
  const origin = request.headers.get('origin');
  if (origin === null || allowedOrigins === undefined || !originAllowed(origin, allowedOrigins))
    return undefined;
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Mcp-Session-Id, WWW-Authenticate',
    Vary: 'Origin',
  };
}

/** Most headers of one preflight that repeat arguments. */
const maxParamHeaders = 100;

/**
 * What a browser asks first. Headers that repeat arguments have names of the tools' own: those that
 * it asks for are allowed.
 */
export function preflight(request: Request, cors: Readonly<Record<string, string>>): Response {
  const asked = (request.headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim());
  const params = asked
    .filter((name) => name.length <= 256 && /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name))
    .slice(0, maxParamHeaders);
  return new Response(null, {
    status: 204,
    headers: {
      ...cors,
      'Access-Control-Allow-Methods': corsMethods,
      'Access-Control-Allow-Headers': [corsHeaders, ...params].join(', '),
      'Access-Control-Max-Age': '600',
      Vary: 'Origin, Access-Control-Request-Headers',
    },
  });
}
