/** The guard of an MCP handler against foreign hosts and web pages, and its CORS headers. */
import {
  corsHeaders,
  isHostAllowed,
  isOriginAllowed,
  listedOrigin,
  type OriginPolicy,
  preflightHeaders,
} from '../../../values/http/origin-guard.ts';
import type { HandlerSettings } from './options.ts';
import { refusal } from './refusal.ts';
import { rpcCodes } from './rpc.ts';

/** What a handler accepts. */
export function originPolicy({ allowedHosts, allowedOrigins }: HandlerSettings): OriginPolicy {
  return {
    allowedHosts: allowedHosts && new Set(allowedHosts),
    allowedOrigins: allowedOrigins && new Set(allowedOrigins),
    unlistedHosts: 'loopback',
    unlistedOrigins: 'loopback',
    spelling: 'normalized',
  };
}

/** 403 for a host or an origin that is not allowed. */
export function checkOrigin(request: Request, policy: OriginPolicy): Response | undefined {
  if (!isHostAllowed(request, policy))
    return refusal(403, rpcCodes.server, 'This Host is not allowed here.');
  if (!isOriginAllowed(request, policy))
    return refusal(403, rpcCodes.server, 'This Origin is not allowed here.');
  return undefined;
}

const corsMethods = 'GET, POST, DELETE';
const corsRequestHeaders =
  'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, ' +
  'Mcp-Method, Mcp-Name';
const exposedHeaders = 'Mcp-Session-Id, WWW-Authenticate';

/** CORS headers for listed origins only. */
export function corsOf(
  request: Request,
  policy: OriginPolicy,
): Readonly<Record<string, string>> | undefined {
  const origin = listedOrigin(request, policy);
  return origin === undefined
    ? undefined
    : { ...corsHeaders(origin, policy, exposedHeaders), Vary: 'Origin' };
}

/** Most headers of one preflight that repeat arguments. */
const maxParamHeaders = 100;

/**
 * The answer to a browser's preflight request. Tools name the headers that repeat their arguments,
 * so those that the browser asks for are allowed.
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
      ...preflightHeaders(corsMethods, [corsRequestHeaders, ...params].join(', ')),
      Vary: 'Origin, Access-Control-Request-Headers',
    },
  });
}
