/** The ports of this machine's loopback that a list of hosts opens to a sandbox. */
import { type HostPattern, isLoopback } from '../../surfaces/config/host-pattern.ts';

/**
 * The ports on which programs listen for connections of this machine.
 * @param table `/proc/net/tcp`
 */
export function listeningPorts(table: string): readonly number[] {
  const ports = new Set<number>();
  for (const line of table.split('\n')) {
    const [, address, port, state] =
      /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2})/.exec(line) ?? [];
    if (state !== '0A' || address === undefined || port === undefined) continue;
    const isHere =
      /^0+$/.test(address) || /7F$/.test(address.slice(0, 8)) || /^0{24}01000000$/.test(address);
    if (isHere) ports.add(Number.parseInt(port, 16));
  }
  return [...ports];
}

/** The ports of the loopback that the list opens. `all`: those on which programs listen now. */
export function loopbackPorts(
  hosts: readonly HostPattern[],
  all: () => readonly number[],
): readonly { readonly address: string; readonly port: number }[] {
  return hosts
    .filter(({ host, below }) => isLoopback(host) && !below)
    .flatMap(({ host, port }) =>
      (port === undefined ? all() : [port]).map((one) => ({ address: host, port: one })),
    );
}
