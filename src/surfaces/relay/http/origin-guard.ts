/** The relay's guard against foreign hosts and web pages, and its CORS headers. */
import { headerOf } from '../../../values/http/direct-body.ts';
import {
  corsHeaders,
  isHostAllowed,
  isOriginAllowed,
  listedOrigin,
  type OriginPolicy,
  preflightHeaders,
} from '../../../values/http/origin-guard.ts';
import type { OriginSettings } from '../read-options.ts';
import { relayError } from '../relay-error.ts';

const corsMethods = 'GET, POST, DELETE';
const corsRequestHeaders =
  'Authorization, Content-Type, Accept, Last-Event-ID, Accept-Version, If-None-Match, ' +
  'Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name';
const exposedHeaders =
  'Retry-After, WWW-Authenticate, API-Version, Session-ID, Supported-Versions, ' +
  'Tool-Manifest-Version, ETag, Last-Modified, Allow, Mcp-Session-Id';

/** The hosts and origins that the relay accepts. */
export function originPolicy({
  allowedHosts,
  allowedOrigins,
}: Pick<OriginSettings, 'allowedHosts' | 'allowedOrigins'>): OriginPolicy {
  return {
    allowedHosts,
    allowedOrigins,
    unlistedHosts: 'any',
    unlistedOrigins: 'own',
    spelling: 'exact',
  };
}

/**
 * Refuses a request for a host that is not allowed.
 * @throws RelayError 403 `host_not_allowed`
 */
export function checkHost(request: Request, policy: OriginPolicy): void {
  if (!isHostAllowed(request, policy))
    throw relayError(
      403,
      'host_not_allowed',
      'The relay does not answer to this Host. Add it to the relay option `allowedHosts`.',
    );
}

/**
 * Refuses a request from an origin that is not allowed.
 * @throws RelayError 403 `origin_not_allowed`
 */
export function checkOrigin(request: Request, policy: OriginPolicy): void {
  if (!isOriginAllowed(request, policy))
    throw relayError(
      403,
      'origin_not_allowed',
      'Pages of this Origin may not call the relay. Add it to the relay option `allowedOrigins`.',
    );
}

/** The CORS headers of an answer. An origin that is not listed gets only `Vary`. */
export function corsOf(request: Request, policy: OriginPolicy): Readonly<Record<string, string>> {
  const { allowedOrigins } = policy;
  if (allowedOrigins === undefined) return {};
  const vary: Readonly<Record<string, string>> = allowedOrigins === '*' ? {} : { Vary: 'Origin' };
  const origin = listedOrigin(request, policy);
  return origin === undefined ? vary : { ...vary, ...corsHeaders(origin, policy, exposedHeaders) };
}

/**
 * The headers that the answer to a browser's preflight request has in addition to {@link corsOf}.
 */
export function preflightOf(
  request: Request,
  policy: OriginPolicy,
): Readonly<Record<string, string>> {
  const isPreflight =
    listedOrigin(request, policy) !== undefined &&
    headerOf(request, 'access-control-request-method') !== null;
  return isPreflight ? preflightHeaders(corsMethods, corsRequestHeaders) : {};
}
