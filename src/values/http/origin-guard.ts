/**
 * Which hosts a server answers to, and which web pages may call it. The `Host` check stops pages
 * that reach the server through their own DNS name. The `Origin` check stops other sites.
 */
import { headerOf } from './direct-body.ts';
import { loopbackNames, webAddress } from './web-address.ts';

/** The hosts and origins that are accepted. */
export interface OriginPolicy {
  /**
   * Names for any port, or `name:port`, in lower case. Undefined: none are listed, and
   * `unlistedHosts` decides.
   */
  readonly allowedHosts: ReadonlySet<string> | undefined;
  /** Origins that are accepted and get CORS headers. Undefined: none are listed. */
  readonly allowedOrigins: '*' | ReadonlySet<string> | undefined;
  /**
   * Which hosts are answered when none are listed. An MCP handler often runs on a developer's
   * machine without authentication, so it accepts loopback names only. A relay is deployed under a
   * public name and requires a token, so it accepts any.
   */
  readonly unlistedHosts: 'any' | 'loopback';
  /**
   * Which pages are accepted without being listed, and without CORS headers. `loopback`: when no
   * origins are listed, pages of any loopback host and port, such as a local inspector. `own`:
   * always, pages of the relay's own host, if that is a loopback name or a listed host; another
   * name may be one that an attacker has pointed here.
   */
  readonly unlistedOrigins: 'own' | 'loopback';
  /**
   * How an `Origin` is compared with the list. Browsers send the normal form only, so the relay
   * compares exactly; an MCP handler also accepts another spelling, such as upper case, from
   * clients that are not browsers.
   */
  readonly spelling: 'exact' | 'normalized';
}

/** Whether the `Host` of a request is one that the server answers to. */
export function isHostAllowed(request: Request, policy: OriginPolicy): boolean {
  const { allowedHosts, unlistedHosts } = policy;
  if (allowedHosts === undefined && unlistedHosts === 'any') return true;
  const host = hostOf(request);
  const name = hostName(host);
  if (name === undefined) return false;
  return allowedHosts === undefined
    ? loopbackNames.has(name)
    : allowedHosts.has(name) || allowedHosts.has(host);
}

/** Whether the page that sent a request may do so. A request without an `Origin` may. */
export function isOriginAllowed(request: Request, policy: OriginPolicy): boolean {
  const origin = headerOf(request, 'origin');
  if (origin === null || isListed(origin, policy)) return true;
  return policy.unlistedOrigins === 'own'
    ? isOwn(origin, request, policy)
    : policy.allowedOrigins === undefined && isLoopback(origin);
}

/** The `Origin` of a request if it is a listed one. */
export function listedOrigin(request: Request, policy: OriginPolicy): string | undefined {
  const origin = headerOf(request, 'origin');
  return origin !== null && isListed(origin, policy) ? origin : undefined;
}

/** The CORS headers for a listed origin, without `Vary`. @param exposed headers that it may read */
export function corsHeaders(
  origin: string,
  { allowedOrigins }: OriginPolicy,
  exposed: string,
): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': allowedOrigins === '*' ? '*' : origin,
    'Access-Control-Expose-Headers': exposed,
  };
}

/** The headers of an answer to a preflight request in addition to {@link corsHeaders}. */
export function preflightHeaders(
  methods: string,
  headers: string,
): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': headers,
    'Access-Control-Max-Age': '600',
  };
}

function isListed(origin: string, { allowedOrigins, spelling }: OriginPolicy): boolean {
  if (allowedOrigins === '*') return true;
  if (allowedOrigins === undefined) return false;
  if (spelling === 'exact') return allowedOrigins.has(origin);
  return URL.canParse(origin) && allowedOrigins.has(new URL(origin).origin);
}

function isLoopback(origin: string): boolean {
  const url = webAddress(origin);
  return url !== undefined && loopbackNames.has(url.hostname);
}

function isOwn(origin: string, request: Request, { allowedHosts }: OriginPolicy): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const host = hostOf(request);
  const name = hostName(host);
  return (
    name !== undefined &&
    new URL(origin).host === host &&
    (loopbackNames.has(name) ||
      allowedHosts?.has(name) === true ||
      allowedHosts?.has(host) === true)
  );
}

function hostOf(request: Request): string {
  return (headerOf(request, 'host') ?? new URL(request.url).host).toLowerCase();
}

function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:/?#@\\[\]\s]+)(?::\d{1,5})?$/.exec(host)?.[1];
}
