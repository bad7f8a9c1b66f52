/** The usual spellings of one value. */
import { addressOf, addressSpellings, withoutEnd } from './addresses.ts';
import { dateSpellings } from './dates.ts';
import { ibanEnd } from './iban.ts';
import type { Spelling } from './match.ts';
import { numberSpellings } from './numbers.ts';
import { collapsed } from './text.ts';

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
