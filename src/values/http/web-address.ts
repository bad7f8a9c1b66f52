/** Addresses of the web, as hosts write them and as servers name them. */

/** This machine, as `URL.hostname` has it. */
export const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The absolute http or https URL; undefined for anything else. */
export function webAddress(given: unknown): URL | undefined {
  const text = String(given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Whether nobody on the way can read or change what is sent: https, or http on the loopback. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && loopbackNames.has(hostname));
}

/** Whether a client of OAuth can be known by this address of its metadata. */
export function isMetadataUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? webAddress(value) : undefined;
  return url !== undefined && url.protocol === 'https:' && url.pathname !== '/';
}
