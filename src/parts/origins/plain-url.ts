/** Which values are URLs, and on which host a URL is whatever program reads it. */
import { compatible } from './text.ts';

/** Longer values are not read. */
const longestUrl = 10_000;

/** White space, brackets, quotes and other signs at which some program ends or splits a URL. */
const splitting = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}<>()[\]{}"'`|\\^,;$@]/u;

/**
 * The host and port that every program finds in this value, in lower case and without `www.`.
 * Undefined if the value is no web address, or if two programs may read it differently: it must
 * have two slashes and a host that `new URL()` leaves as it is, and nothing in it may begin a
 * further address or word, neither as written nor percent-decoded.
 */
export function plainHost(value: string): string | undefined {
  if (value.length > longestUrl || splitting.test(compatible(value))) return undefined;
  const [, scheme = '', authority = '', rest = ''] =
    /^((?:https?:\/\/)?)([^/?#]+)(.*)$/i.exec(value) ?? [];
  if (scheme === '' && !authority.includes('.')) return undefined;
  // Two slashes lead to another host if a server answers with that path as an address.
  if (compatible(rest).includes('//') || /^[^?]*&/.test(rest) || !decodesPlainly(rest))
    return undefined;
  const address = `${scheme || 'http://'}${authority}${rest}`;
  // Parsing a text that is not an address would throw, which is slow.
  if (!URL.canParse(address)) return undefined;
  const { host } = new URL(address);
  const written = authority.toLowerCase();
  if (written !== host && written !== `${host}:${/^https:/i.test(scheme) ? 443 : 80}`)
    return undefined;
  const bare = host.startsWith('www.') ? host.slice(4) : host;
  return bare === '' ? undefined : bare;
}

/** How often an address may be percent-encoded. Programs that decode it again are rare. */
const maxDecodings = 3;

function decodesPlainly(rest: string): boolean {
  let text = rest;
  for (let times = 0; text.includes('%'); times++) {
    let decoded: string;
    try {
      decoded = decodeURIComponent(text);
    } catch {
      // The first time, a `%` encodes nothing. Later, the text has a percent sign of its own.
      return times > 0;
    }
    if (times === maxDecodings || /[\p{Cc}\p{Cf}\p{Cs}\\@]|\/\//u.test(compatible(decoded)))
      return false;
    text = decoded;
  }
  return true;
}

/**
 * Whether a program may read the value as a web address, with or without a scheme, also if it is
 * spelled in a way that only browsers accept.
 */
export function looksLikeUrl(value: string): boolean {
  const plain = spelledOut(value);
  if (
    /^(?:[a-z][a-z0-9+.-]+:[\\/]|(?:https?|wss?|ftp|file):|[\\/]{2}|\[[0-9a-f:.]+\])/i.test(plain)
  )
    return true;
  const end = plain.search(/[/?#]/);
  const host = end === -1 ? plain : plain.slice(0, end);
  return !/[\s@]/.test(host) && host.slice(1, -1).includes('.');
}

/**
 * The address that a browser finds in an unusual spelling, without its scheme: `evil.example/x` for
 * `//evil.example/x`, `https:/evil.example/x` and `http:\\evil.example\x`. Undefined if there is
 * nothing unusual about the value.
 */
export function browserReading(value: string): string | undefined {
  const plain = spelledOut(value);
  const [start, scheme] = /^(?:(https?|wss?|ftp):)?[\\/]*/i.exec(plain) as RegExpExecArray;
  const isUsual = /^(?:[a-z]+:\/\/)?$/i.test(start) && plain === value && !plain.includes('\\');
  if (isUsual || (scheme === undefined && start.length < 2 && !/[。｡]/.test(value)))
    return undefined;
  return plain.slice(start.length).replaceAll('\\', '/');
}

/** Tabs and line ends in an address count for nothing, and neither does white space around it. */
function spelledOut(value: string): string {
  const text = compatible(value)
    .replace(/[\t\n\r]+/g, '')
    .replaceAll('。', '.');
  let start = 0;
  while (text.charCodeAt(start) <= 32) start++;
  return text.slice(start, start + longestUrl).trimEnd();
}
