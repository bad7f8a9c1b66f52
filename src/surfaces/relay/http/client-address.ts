/** Identifies the client for per-address limits. */
import type { OriginSettings } from '../read-options.ts';
import type { Report } from '../report.ts';

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
