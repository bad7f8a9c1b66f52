/** Hosts that the network of a sandboxed agent may reach, as a file lists them. */

/** One entry of `network`, in the one spelling that hosts are compared in. */
export interface HostPattern {
  /** A name, or an address: `127.0.0.1`, `[::1]`. */
  readonly host: string;
  /** Whether it stands for all names below `host` instead. */
  readonly below: boolean;
  /** Undefined for every port. */
  readonly port: number | undefined;
}

/** What an entry looks like, for messages. */
export const hostForms =
  '`example.com`, `*.example.com`, `example.com:443`, `127.0.0.1:8080` or `[::1]:8080`';

/** Undefined if the text is none of {@link hostForms}. */
export function readHost(text: string): HostPattern | undefined {
  const found = /^(\*\.)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text);
  const host = canonicalHost(found?.[2] ?? '');
  const port = found?.[3] === undefined ? undefined : Number(found[3]);
  if (host === undefined || port === 0 || (port ?? 1) > 65_535) return undefined;
  const below = found?.[1] !== undefined;
  // An address has no names below it. `*.com` would be a mistake.
  if (below && (isAddress(host) || !host.includes('.'))) return undefined;
  return { host, below, port };
}

/**
 * The spelling in which hosts are compared: lower case, no dot at the end, and one form for each
 * address. The names of the loopback are one. Undefined if it is no host.
 */
export function canonicalHost(text: string): string | undefined {
  const name = text.replace(/\.$/, '');
  if (!/^(?:[^\s:@/?#\\[\]]+|\[[\da-f:.]+\])$/i.test(name)) return undefined;
  if (!URL.canParse(`http://${name}`)) return undefined;
  const { hostname } = new URL(`http://${name}`);
  if (/^\.|\.\.|\.$/.test(hostname)) return undefined;
  return hostname === 'localhost' || hostname === '[::1]' ? '127.0.0.1' : hostname;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}

/** Whether an address or a name is the loopback of this machine. @param host canonical */
export function isLoopback(host: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether one of the patterns covers this host. @param host canonical */
export function allowsHost(patterns: readonly HostPattern[], host: string, port: number): boolean {
  return patterns.some(
    (one) =>
      (one.below ? host.endsWith(`.${one.host}`) : host === one.host) &&
      (one.port === undefined || one.port === port),
  );
}
