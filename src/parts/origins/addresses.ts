/**
 * Web addresses: their form without the parts that are often left out, and their other spellings.
 */
import { decodePunycode } from './punycode.ts';
import { normalForm } from './text.ts';

/**
 * A web address without `http://`, `https://`, `www.`, and a slash or full stop at its end.
 * Undefined if the value is not a web address. An address with a user name does not count, since
 * `https://known.example@other.example` leads elsewhere.
 * @param value in normal form
 */
export function addressOf(value: string): string | undefined {
  const scheme = /^https?:\/\//.exec(value)?.[0] ?? '';
  const rest = value.slice(scheme.length);
  if (rest.includes('://') || /[\s@\\]/.test(rest) || /^[./?#:]/.test(rest)) return undefined;
  const host = hostPart(rest).replace(/:\d+$/, '');
  if (scheme === '' && !/^[^.]+(?:\.[^.]+)+\.?$/.test(host)) return undefined;
  const bare = rest.startsWith('www.') ? rest.slice(4) : rest;
  // A dot that is a whole name leads to another page.
  const address = /\/\.{1,2}\/*$/.test(bare) ? bare : withoutEnd(bare, '/.');
  return address === '' ? undefined : address;
}

/** Other spellings of an address, with its characters and its host in other encodings. */
export function addressSpellings(address: string): string[] {
  const found: string[] = [];
  const forms = [address];
  try {
    const decoded = normalForm(decodeURI(address));
    // `%2F` stays as it is, because it does not mean `/`. A value that decodes to a space or
    // control character is not a spelling of anything.
    if (!/[\s\p{Cc}]/u.test(decoded)) {
      found.push(decoded, encodeURI(decoded).toLowerCase());
      if (decoded !== address) forms.push(decoded);
    }
  } catch {
    // It has a `%` that encodes nothing, so there is no other spelling.
  }
  for (const form of forms) {
    const host = hostPart(form);
    for (const other of hostSpellings(host)) found.push(other + form.slice(host.length));
  }
  return found;
}

function hostPart(address: string): string {
  const end = address.search(/[/?#]/);
  return end === -1 ? address : address.slice(0, end);
}

/** The host in punycode, or in the letters that the punycode represents. */
function hostSpellings(host: string): string[] {
  if (host.length > 255) return [];
  if (/[^\0-\x7f]/.test(host)) {
    const ascii = asciiHost(host);
    return ascii === undefined ? [] : [ascii];
  }
  if (!host.includes('xn--')) return [];
  const decoded = host
    .split('.')
    .map((label) => decodePunycode(label) ?? label)
    .join('.');
  // Only if the platform reads it in the same way.
  return decoded !== host && asciiHost(decoded) === host ? [normalForm(decoded)] : [];
}

/** The host as the platform writes it; undefined if that is not a host. */
function asciiHost(host: string): string | undefined {
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const { username, password, host: ascii } = new URL(`http://${host}`);
  if (username !== '' || password !== '' || host.includes('@')) return undefined;
  return ascii.startsWith('www.') ? ascii.slice(4) : ascii;
}

/** The text without the given characters at its end. */
export function withoutEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}
