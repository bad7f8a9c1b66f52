/** Whose request it is, as far as limits an address go. */
import type { OriginSettings } from '../read-options.ts';
import type { Report } from '../report.ts';

/**
 * What names the address in counters; undefined where nobody knows it, which means no limit. @param
 * told what the server says
 */
export async function addressOf(
  request: Request,
  told: string | undefined,
  { clientAddress, proxies }: OriginSettings,
  report: Report,
): Promise<string | undefined> {
  const address =
    clientAddress === undefined
      ? addressBehind(request, told, proxies)
      : await ask(clientAddress, request, report);
  return address === undefined || address === '' ? undefined : counted(address);
}

function addressBehind(
  request: Request,
  told: string | undefined,
  proxies: number,
): string | undefined {
  if (proxies === 0) return told;
  // Each proxy adds at the end whom it saw; what stands before that is anybody's word.
  const entries = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((entry) => entry.trim());
  return entries.at(-proxies) || told;
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
    // Those whom the host's function fails on share one limit.
    return 'unknown';
  }
}

/**
 * An IPv4 address, also one that is written as IPv6; of IPv6 the first half, since whoever has one
 * address has all with the same; else the text, cut.
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
