/**
 * Where a request is sent to and where it comes from: Host, Origin, and what browsers are told of
 * it.
 */

import type { OriginSettings } from '../read-options.ts';
import { relayError } from '../relay-error.ts';
import { headerOf } from './direct-body.ts';

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);
const corsMethods = 'GET, POST, DELETE';
const corsHeaders =
  'Authorization, Content-Type, Accept, Last-Event-ID, Accept-Version, If-None-Match, ' +
  'Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name';
const exposedHeaders =
  'Retry-After, WWW-Authenticate, API-Version, Session-ID, Supported-Versions, ' +
  'Tool-Manifest-Version, ETag, Last-Modified, Allow, Mcp-Session-Id';

/** @throws RelayError 403 `host_not_allowed`: a name server may have led somebody's page here */
export function checkHost(request: Request, { allowedHosts }: OriginSettings): void {
  if (allowedHosts === undefined) return;
  const host = hostOf(request);
  const name = hostName(host);
  if (name === undefined || !(allowedHosts.has(name) || allowedHosts.has(host)))
    throw relayError(
      403,
      'host_not_allowed',
      'This Host is not one that the relay answers to; see `allowedHosts`.',
    );
}

/** @throws RelayError 403 `origin_not_allowed` */
export function checkOrigin(request: Request, door: OriginSettings): void {
  const origin = headerOf(request, 'origin');
  if (origin === null || isListed(origin, door) || isOwn(origin, request, door)) return;
  throw relayError(
    403,
    'origin_not_allowed',
    'Pages of this Origin may not speak to the relay; see `allowedOrigins`.',
  );
}

/** The CORS headers of an answer; none but `Vary` for origins that the host has not named. */
export function corsOf(request: Request, door: OriginSettings): Readonly<Record<string, string>> {
  const { allowedOrigins } = door;
  if (allowedOrigins === undefined) return {};
  const vary: Readonly<Record<string, string>> = allowedOrigins === '*' ? {} : { Vary: 'Origin' };
  const origin = headerOf(request, 'origin');
  if (origin === null || !isListed(origin, door)) return vary;
  return {
    ...vary,
    'Access-Control-Allow-Origin': allowedOrigins === '*' ? '*' : origin,
    'Access-Control-Expose-Headers': exposedHeaders,
  };
}

/** What a browser that asks first is told beside {@link corsOf}. */
export function preflightOf(
  request: Request,
  door: OriginSettings,
): Readonly<Record<string, string>> {
  const origin = headerOf(request, 'origin');
  if (
    origin === null ||
    !isListed(origin, door) ||
    !request.headers.has('access-control-request-method')
  )
    return {};
  return {
    'Access-Control-Allow-Methods': corsMethods,
    'Access-Control-Allow-Headers': corsHeaders,
    'Access-Control-Max-Age': '600',
  };
}

function isListed(origin: string, { allowedOrigins }: OriginSettings): boolean {
  return allowedOrigins === '*' || (allowedOrigins?.has(origin) ?? false);
}

/**
 * A page that the same host has served. A name that somebody made point here is no proof of that,
 * so the name must be a known one.
 */
function isOwn(origin: string, request: Request, { allowedHosts }: OriginSettings): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const host = hostOf(request);
  const name = hostName(host);
  return (
    name !== undefined &&
    new URL(origin).host === host &&
    (loopback.has(name) || allowedHosts?.has(name) === true || allowedHosts?.has(host) === true)
  );
}

function hostOf(request: Request): string {
  return (headerOf(request, 'host') ?? new URL(request.url).host).toLowerCase();
}

function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:/?#@\\[\]\s]+)(?::\d{1,5})?$/.exec(host)?.[1];
}
