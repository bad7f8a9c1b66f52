/** The usual spellings of one value. */

import { ibanEnd } from './accounts.ts';
import { dateSpellings } from './dates.ts';
import type { Spelling } from './match.ts';
import { decodePunycode } from './punycode.ts';
import { collapsed, normalForm } from './text.ts';

/** Longer values are compared as they are. */
export const longestSpelled = 16_384;

/**
 * The ways in which a value may be written in a text: the value itself, and the usual forms of an
 * address, a number, a date or an account.
 * @param form the value in normal form or in loose form
 * @param isNumeric whether the value was a number of JSON
 */
export function spellingsOf(form: string, isNumeric = false): Spelling[] {
  const value = unquoted(collapsed(form));
  const found: Spelling[] = [];
  const add = (text: string, kind: Spelling['kind']): void => {
    if (text !== '' && !found.some((one) => one.text === text && one.kind === kind))
      found.push({ text, kind });
  };
  add(value, 'plain');
  if (value.length > longestSpelled) return found;
  const address = addressOf(value);
  if (address !== undefined) {
    add(address, 'url');
    for (const other of addressSpellings(address)) add(other, 'url');
  } else {
    const named = /^[^@,;<>]*<([^<>@\s]+@[^<>@\s]+)>$/.exec(value);
    if (named !== null) add(named[1] as string, 'plain');
    if (/^(?:mailto|tel):/.test(value)) add(value.slice(value.indexOf(':') + 1), 'plain');
    if (/^[@#][^@#\s]/.test(value)) add(value.slice(1), 'plain');
    if (/^\.\/[^/]/.test(value)) add(value.slice(2), 'url');
    if (value.endsWith('/')) add(withoutEnd(value, '/'), 'plain');
  }
  for (const other of numberSpellings(value, isNumeric)) add(other, 'plain');
  for (const other of dateSpellings(value)) add(other, 'date');
  const digits = accountDigits(value);
  if (digits !== undefined) add(digits, 'digits');
  return found;
}

const quotes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['<', '>'],
  ['“', '”'],
  ['‘', '’'],
]);

/** The value without the quotes or angle brackets around it. */
function unquoted(value: string): string {
  const end = quotes.get(value[0] ?? '');
  if (value.length < 3 || end === undefined || !value.endsWith(end)) return value;
  const inner = value.slice(1, -1);
  return inner.includes(end) || inner.includes(value[0] as string) ? value : inner.trim();
}

/** A number with fewer digits is not an account or telephone number. */
const fewestDigits = 6;
/** More characters than any account number has. */
const maxChars = 42;

/**
 * The number without spaces, dashes and brackets; undefined if the value does not look like a
 * number.
 */
function accountDigits(value: string): string | undefined {
  if (value.length > 2 * maxChars || !/^\+?[a-z0-9 ()\u2010-]+$/.test(value)) return undefined;
  const compact = value.replace(/[^a-z0-9]/g, '');
  const digits = compact.replace(/[^0-9]/g, '').length;
  if (digits < fewestDigits || compact.length > maxChars) return undefined;
  const isWordy = /[a-z]{7}/.test(compact) && ibanEnd(compact, 0) !== compact.length;
  return isWordy ? undefined : compact;
}

// The usual spellings of a number.

/** Longer numbers are identifiers, which are not grouped by thousands. */
const maxDigits = 15;

/**
 * `1000` for `1,000.00`, and the reverse; empty if the value is not a number. Zeros at the end of a
 * fraction count where the text may be a version: 2.10 is not 2.1, and 2024.10 is not 2024.1.
 * @param isNumeric whether the value was a number of JSON, which keeps no such zeros
 */
function numberSpellings(value: string, isNumeric: boolean): string[] {
  const parts = partsOf(value);
  if (parts === undefined) return [];
  const { sign, whole, written } = parts;
  const fraction = written.replace(/0+$/, '');
  const spellings: string[] = [];
  const isAmount = isNumeric || (whole.length > 3 && !/^(?:19|20)\d\d\./.test(value));
  const fractions =
    fraction === '' ? ['', '0', '00'] : isAmount ? [fraction, fraction.padEnd(2, '0')] : [written];
  const grouped = (mark: string): string => whole.replace(/\B(?=(?:\d{3})+$)/g, mark);
  for (const end of fractions) {
    const point = end === '' ? '' : `.${end}`;
    const comma = end === '' ? '' : `,${end}`;
    spellings.push(`${sign}${whole}${point}`, `${sign}${grouped(',')}${point}`);
    // `1,250` rather groups thousands.
    if (end !== '' && end.length !== 3) spellings.push(`${sign}${whole}${comma}`);
    if (whole.length > 3)
      spellings.push(
        `${sign}${grouped("'")}${point}`,
        `${sign}${grouped(' ')}${point}`,
        ...(end === '' ? [] : [`${sign}${grouped('.')}${comma}`]),
      );
  }
  return spellings;
}

function partsOf(
  value: string,
): { readonly sign: string; readonly whole: string; readonly written: string } | undefined {
  if (value.length > 2 * maxDigits) return undefined;
  const plain = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value);
  const english = plain ?? /^(-?)(\d{1,3}(?:[,' ]\d{3})+)(?:\.(\d+))?$/.exec(value);
  const found = english ?? /^(-?)(\d{1,3}(?:\.\d{3})+|\d+),(\d+)$/.exec(value);
  if (found === null) return undefined;
  const whole = (found[2] as string).replace(/\D/g, '');
  if (whole.length > maxDigits || /^0\d/.test(whole)) return undefined;
  return { sign: found[1] as string, whole, written: found[3] ?? '' };
}

// Web addresses: their form without the parts that are often left out, and their other spellings.

/**
 * A web address without `http://`, `https://`, `www.`, and a slash or full stop at its end.
 * Undefined if the value is not a web address. An address with a user name does not count, since
 * `https://known.example@other.example` leads elsewhere.
 * @param value in normal form
 */
function addressOf(value: string): string | undefined {
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
function addressSpellings(address: string): string[] {
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
function withoutEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text[end - 1] as string)) end--;
  return text.slice(0, end);
}
