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
import type { Report } from '../report.ts';

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

// Identifies the client for per-address limits.

/**
 * The client's name in counters; undefined if it is unknown, and then no limit applies. Only routes
 * with such a limit ask for it.
 * @param reported the address that the server reports
 */
export async function addressOf(
  request: Request,
  reported: string | undefined,
  { clientAddress, proxies }: OriginSettings,
  report: Report,
): Promise<string | undefined> {
  const address =
    clientAddress === undefined
      ? addressBehind(request, reported, proxies)
      : await ask(clientAddress, request, report);
  return address === undefined || address === '' ? undefined : counted(address);
}

function addressBehind(
  request: Request,
  reported: string | undefined,
  proxies: number,
): string | undefined {
  if (proxies === 0) return reported;
  // Each proxy appends the address of its client. Earlier entries may be forged.
  const entries = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((entry) => entry.trim());
  return entries.at(-proxies) || reported;
}

async function ask(
  clientAddress: NonNullable<OriginSettings['clientAddress']>,
  request: Request,
  report: Report,
): Promise<string | undefined> {
  try {
    const address: unknown = await clientAddress(request);
    return typeof address === 'string' ? address : undefined;
  } catch (error) {
    report('clientAddress', error);
    // Clients for which the host's function fails share one limit.
    return 'unknown';
  }
}

/**
 * The name under which an address is counted. An IPv4 address stays whole, even if it is written as
 * IPv6. Of an IPv6 address only the first half counts, because a client usually has all addresses
 * with the same first half. Any other text is cut.
 */
function counted(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!bare.includes(':') || !URL.canParse(`http://[${bare}]`))
    return bare.slice(0, 100).toLowerCase();
  const [before = '', after] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  if (groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
