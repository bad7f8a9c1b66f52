/** International bank account numbers (ISO 13616) in a text, in any grouping and case. */
import { isDigit, isSpace } from './text.ts';

/** How many characters a number has, by country, from the IBAN registry and common practice. */
const lengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24AE23AL28AO25AT20AZ28BA20BE16BF28BG22BH22BI27BJ28BR29BY28CF27CG27CH21CI28CM27CR22CV25CY28' +
    'CZ24DE22DJ27DK18DO28DZ26EE20EG29ES24FI18FK18FO18FR27GA27GB22GE22GI23GL18GR27GT28GW25HN28HR21' +
    'HU28IE22IL23IQ23IR26IS26IT27JO30KM27KW30KZ20LB28LC32LI21LT20LU20LV21LY25MA28MC27MD24ME22MG27' +
    'MK19ML28MN20MR27MT31MU30MZ25NE28NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18' +
    'SE24SI19SK24SM27SN28SO23ST25SV28TD27TG28TL23TN24TR26UA29VA22VG24XK20YE30'
  )
    .match(/.{4}/g)
    ?.map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const longest = 34;
const shortest = 15;
const fewestDigits = 8;
/** Most letters of a group without digits, such as the code of a bank. */
const maxLetters = 4;
/** Most characters between two groups. */
const widestGap = 2;

/** What begins a number: the code of a country, and two digits. */
export const ibanStart = /(?<![a-z0-9])[a-z]{2}\d{2}/gi;

/**
 * Where the number that begins here ends; undefined if none does. Of an unknown country or of
 * another length than its country's, a number must be in groups of four.
 * @param start where {@link ibanStart} matches
 */
export function ibanEnd(text: string, start: number): number | undefined {
  const length = lengths.get(text.slice(start, start + 2).toUpperCase());
  const ends = groupEnds(text, start);
  const exact = ends.find(({ count }) => count === length);
  if (exact?.isPlain === true && exact.digits >= fewestDigits) return exact.end;
  let last: GroupEnd | undefined;
  for (const [index, one] of ends.entries()) {
    const isShort = one.size !== 4;
    const isBank = index === 1 && one.size === 4;
    if (one.size > 4 || !one.isPlain || !(one.hasDigit || isBank)) break;
    last = one;
    if (isShort) break;
  }
  if (last?.hasDigit !== true || last.count < shortest || last.digits < fewestDigits)
    return undefined;
  return last.end;
}

interface GroupEnd {
  readonly end: number;
  /** Characters of the number so far, and the digits among them. */
  readonly count: number;
  readonly digits: number;
  /** Of this group. */
  readonly size: number;
  readonly hasDigit: boolean;
  /** Whether no group so far is a long word. */
  readonly isPlain: boolean;
}

/** The ends of the groups that follow each other from here, as far as a number may reach. */
function groupEnds(text: string, start: number): GroupEnd[] {
  const ends: GroupEnd[] = [];
  let count = 0;
  let digits = 0;
  let isPlain = true;
  for (let at = start; count <= longest; ) {
    const first = at;
    const before = digits;
    for (; isAlphanumeric(text.charCodeAt(at)) && at - first <= longest; at++)
      if (isDigit(text.charCodeAt(at))) digits++;
    const size = at - first;
    if (size === 0) break;
    count += size;
    const hasDigit = digits > before;
    isPlain &&= hasDigit || size <= maxLetters;
    ends.push({ end: at, count, digits, size, hasDigit, isPlain });
    const gap = at;
    while (at - gap < widestGap && isGap(text.charCodeAt(at))) at++;
    if (at === gap) break;
  }
  return ends;
}

function isGap(code: number): boolean {
  return code === 0x2d || code === 0x2010 || isSpace(code);
}

/** Whether a code unit is a Latin letter without accents, or a digit. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
