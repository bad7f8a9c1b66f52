/** Which address a sandboxed agent is connected to when it asks for a host. */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { allowsHost, canonicalHost, type HostPattern } from '../../surfaces/config/host-pattern.ts';

/** Looks a name up. */
export type FindAddresses = (
  host: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/**
 * Addresses of this machine and its network link. A name must not lead there, whoever answers for
 * it: only an entry with the address does.
 */
const near4 = new BlockList();
for (const [address, bits] of Object.entries({ '0.0.0.0': 8, '127.0.0.0': 8, '169.254.0.0': 16 }))
  near4.addSubnet(address, bits);
near4.addSubnet('224.0.0.0', 3);
/** Apart, since one that has both takes IPv4 addresses for those that IPv6 maps. */
const near6 = new BlockList();
for (const [address, bits] of Object.entries({ '::': 127, 'fe80::': 10, 'ff00::': 8 }))
  near6.addSubnet(address, bits, 'ipv6');
near6.addSubnet('::ffff:0:0', 96, 'ipv6');

/** A connection that is not made, with the status of its answer. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The address of a host of the list.
 * @param find Looks a name up. @default by the system
 * @throws Refusal 403 if it is not allowed, 502 if it has no address
 */
export async function reachableAddress(
  hosts: readonly HostPattern[],
  given: string,
  port: number,
  find: FindAddresses = (host) => lookup(host, { all: true }),
): Promise<string> {
  const host = canonicalHost(given);
  if (host === undefined || !allowsHost(hosts, host, port))
    throw new Refusal(403, `host-tools guard: ${host ?? '?'}:${port} is not in \`network\`.`);
  const literal = host.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return literal;
  const found = await find(host).catch(() => []);
  const { address, family } = found.find((one) => one.family === 4) ?? found[0] ?? {};
  if (address === undefined) throw new Refusal(502, `host-tools guard: ${host} has no address.`);
  const isNear = family === 6 ? near6.check(address, 'ipv6') : near4.check(address);
  const spelled = canonicalHost(family === 6 ? `[${address}]` : address) ?? '';
  if (!isNear || allowsHost(hosts, spelled, port)) return address;
  const why = `leads to ${address}, which is not in \`network\``;
  throw new Refusal(403, `host-tools guard: ${host}:${port} ${why}.`);
}
