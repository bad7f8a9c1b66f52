/** Finds the numbers of accounts and telephones, and references with letters and digits. */
import { isDigit, isSpace } from './text.ts';

/** Fewest digits of an account or telephone number, and of a number with letters in it. */
export const fewestDigits = 8;
const fewestInCode = 4;
/** Fewest characters of a code that has letters and digits, such as the address of a wallet. */
const fewestInLongCode = 14;
const maxGroups = 12;

/** Dates and times in a text, which identify no one. */
const moments = /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?Z?)?\b/g;

/** A run of letters and digits. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly digits: number;
  /** Whether it has no small letter. */
  readonly isUpper: boolean;
  /** Whether a space or bracket separates it from the group before it. */
  readonly isLoose: boolean;
}

/**
 * Account numbers; other numbers with eight digits or more, in groups or not; and long codes of
 * letters and digits. Linear in the length of the text.
 */
export function accountsIn(content: string): string[] {
  const found: string[] = [];
  const text = withoutIbans(content.replace(moments, ' / '), found);
  let run: Group[] = [];
  const close = (): void => {
    const one = rangeOf(text, run);
    if (one !== undefined) found.push(text.slice(one.start, one.end));
    run = [];
  };
  for (let at = 0; at < text.length; at++) {
    if (!isAlphanumeric(text.charCodeAt(at))) continue;
    const start = at;
    let digits = 0;
    let isUpper = true;
    for (; isAlphanumeric(text.charCodeAt(at)); at++) {
      if (isDigit(text.charCodeAt(at))) digits++;
      else if (text.charCodeAt(at) >= 97) isUpper = false;
    }
    // A word of prose is in no number, and begins none.
    if (
      digits === 0 &&
      !isUpper &&
      !dashes.has(text[at] ?? '') &&
      !dashes.has(text[start - 1] ?? '')
    ) {
      if (run.length > 0) close();
      continue;
    }
    const last = run.at(-1)?.end ?? start;
    const gap = start - last > 2 ? '' : text.slice(last, start);
    const group = { start, end: at, digits, isUpper, isLoose: looseGaps.has(gap) };
    if (run.length >= maxGroups || !follows(text, run, gap, group)) close();
    run.push(group);
  }
  close();
  return found;
}

/** Adds the IBANs of a text to `found`, and returns the text without them. */
function withoutIbans(text: string, found: string[]): string {
  let rest = '';
  let from = 0;
  for (const { index } of text.matchAll(ibanStart)) {
    const end = index < from ? undefined : ibanEnd(text, index);
    if (end === undefined) continue;
    found.push(text.slice(index, end));
    rest += `${text.slice(from, index)}/`;
    from = end;
  }
  return from === 0 ? text : rest + text.slice(from);
}

/** What may separate two groups of one number. */
const looseGaps = new Set([' ', ') ', ')', '-(', ' (']);
const dashes = new Set(['-', '\u2010']);
const slashes = new Set(['/', '_']);

/** Whether a group continues the number or code that the groups before it begin. */
function follows(text: string, run: readonly Group[], gap: string, group: Group): boolean {
  const last = run.at(-1);
  if (last === undefined) return false;
  if (dashes.has(gap)) return true;
  if (slashes.has(gap))
    return group.isUpper && last.isUpper && run.some((one) => one.digits < one.end - one.start);
  if (!group.isLoose || (last.digits === 0 && group.digits === 0)) return false;
  return [last, group].every((one) => one.digits > 0 || (gap === ' ' && isCode(text, one)));
}

/** Words in capitals that stand between two numbers without belonging to either. */
const ordinary = new Set(
  (
    'AND AS AT BUT BY EXT FAX FOR FROM IN INTO IS NO NOR NOT NOW OF ON OR OVER PER PLUS THE THEN ' +
    'TO UND VIA WAS WITH ACC ACCT BIC BLZ IBAN ID KTO NR REF SWIFT TEL VAT AUD CAD CHF CNY EUR ' +
    'EURO GBP INR JPY RUB SEK USD'
  ).split(' '),
);

/** Whether a group of letters may be a part of a code: a few capitals, and no common word. */
function isCode(text: string, { start, end, isUpper }: Group): boolean {
  return isUpper && end - start > 1 && end - start <= 5 && !ordinary.has(text.slice(start, end));
}

/** The range of the number or code in a run of groups; undefined if there is none. */
function rangeOf(text: string, run: readonly Group[]): Pick<Group, 'start' | 'end'> | undefined {
  let groups = run;
  // Letters beside a number rather name it, except in a code such as `AB 123 CD` or `ME 65 S9J`.
  const isParcel = isPair(groups[0]) && isPair(groups.at(-1));
  if (!isParcel && isWord(groups.at(-1)) && groups.at(-1)?.isLoose) groups = groups.slice(0, -1);
  if (!isParcel && isWord(groups[0]) && groups[1]?.isLoose && !groups.some(isMixed))
    groups = groups.slice(1);
  const [first, last] = [groups[0], groups.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const withDigits = groups.filter(({ digits }) => digits > 0).length;
  const digits = groups.reduce((sum, group) => sum + group.digits, 0);
  const isNumber = digits >= fewestDigits && digits >= 2 * withDigits;
  if (!isNumber && (digits < fewestInCode || !isLongCode(groups))) return undefined;
  return isDecimal(text, first.start, last.end) ? undefined : { start: first.start, end: last.end };
}

function isWord(group: Group | undefined): boolean {
  return group?.digits === 0;
}

function isPair(group: Group | undefined): boolean {
  return group !== undefined && group.digits === 0 && group.end - group.start === 2;
}

function isMixed({ start, end, digits }: Group): boolean {
  return digits > 0 && digits < end - start;
}

/** Whether a code is one group, or groups of capitals or of one length that dashes join. */
function isLongCode(groups: readonly Group[]): boolean {
  const sizes = groups.map(({ start, end }) => end - start);
  if (sizes.reduce((sum, size) => sum + size, 0) < fewestInLongCode) return false;
  if (groups.length === 1) return true;
  if (groups.slice(1).some(({ isLoose }) => isLoose)) return false;
  return groups.every(({ isUpper }) => isUpper) || sizes.every((size) => size === sizes[0]);
}

/** Whether the range is a part of a number with a fraction, such as `12345678.90`. */
function isDecimal(text: string, start: number, end: number): boolean {
  return (
    /^[.,]\d/.test(text.slice(end, end + 2)) ||
    /\d[.,]$/.test(text.slice(Math.max(0, start - 2), start))
  );
}

// International bank account numbers (ISO 13616) in a text, in any grouping and case.

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
function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
