/** Tells a whole address or number in a text from a part of a longer one that it is cut out of. */
import { ibanEnd, ibanStart } from './accounts.ts';
import { isWebAddress } from './identifiers.ts';
import type { Range } from './match.ts';
import type { Shelf, Sought, Visit } from './shelf.ts';
import { classOf, ideograph, letter, type Steps } from './text.ts';

/**
 * Whether the words at a place are only a part of an address or number of that text, although signs
 * that usually separate words surround them: `brien@example.com` in `o'brien@example.com`, and
 * `3704 0044` in `DE89 3704 0044 0532 0130 00`. Such a place vouches for nothing.
 */
export function isCutOut(text: string, range: Range): boolean {
  return (
    isInName(text, range) ||
    isInUnspaced(text, range) ||
    isInGroups(text, range) ||
    isInIban(text, range)
  );
}

/** Signs that a mailbox may have in its name, and that separate words elsewhere. */
const oddSigns = new Set("!'*^`{}’·");
/** Most characters of the name of a mailbox. */
const longestName = 64;

/** In the name of a mailbox, or in the password of a URL. */
function isInName(text: string, { start, end }: Range): boolean {
  const isMail = text.slice(start, end).includes('@') || goesOnToHost(text, end);
  if (isMail && oddSigns.has(text[start - 1] ?? '') && isLetter(text, start - 2)) return true;
  if (oddSigns.has(text[end] ?? '') && isLetter(text, end + 1) && goesOnToHost(text, end))
    return true;
  if (!isMail || text[start - 1] !== ':') return false;
  return /\/\/[^\s/@\p{Cc}]*:$/u.test(text.slice(Math.max(0, start - 4 * longestName), start));
}

/** Whether what follows without a space leads to an `@` and a host. */
function goesOnToHost(text: string, end: number): boolean {
  return /^[^\s@,;<>()"\p{Cc}]*@[\p{L}\p{N}]/u.test(text.slice(end, end + longestName + 2));
}

function isLetter(text: string, at: number): boolean {
  return classOf(text.charCodeAt(at)) === letter;
}

function isIdeograph(text: string, at: number): boolean {
  return classOf(text.charCodeAt(at)) === ideograph;
}

/** In an address of a script without spaces: any place in it could be the edge of a word. */
function isInUnspaced(text: string, { start, end }: Range): boolean {
  const opens = start > 0 && isIdeograph(text, start - 1) && isIdeograph(text, start);
  const closes = end < text.length && isIdeograph(text, end - 1) && isIdeograph(text, end);
  if (!opens && !closes) return false;
  const value = text.slice(start, end);
  if (value.includes('@') || isWebAddress(value)) return true;
  const before = text.slice(Math.max(0, start - longestName), start);
  return (
    (opens && /(?:\/\/|@|www\.)[\p{L}\p{M}\p{N}.-]*$/u.test(before)) ||
    (closes && value.includes('.'))
  );
}

/** Fewest digits of a number that may be a part of a longer one, and most of a group. */
const fewestDigits = 6;
const longestGroup = 5;

/** In a number that is written in groups: another short group is next to it. */
function isInGroups(text: string, { start, end }: Range): boolean {
  const value = text.slice(start, end);
  if (value.length > 2 * longestName || !/^[a-z0-9 ()\u2010-]+$/.test(value)) return false;
  if (value.replace(/[^0-9]/g, '').length < fewestDigits) return false;
  const [first = '', last = ''] = [/^[a-z0-9]+/.exec(value)?.[0], /[a-z0-9]+$/.exec(value)?.[0]];
  const before = /(?:^|[^\p{L}\p{N}.,:/-])([a-z0-9]+)(?: |\) ?|-?\()$/u.exec(
    text.slice(Math.max(0, start - longestGroup - 3), start),
  );
  const after = /^(?: |\) ?|-?\()([a-z0-9]+)(?![\p{L}\p{N}:/]|[.,-]\d)/u.exec(
    text.slice(end, end + longestGroup + 3),
  );
  return (isGroup(first) && isGroup(before?.[1])) || (isGroup(last) && isGroup(after?.[1]));
}

function isGroup(group: string | undefined): boolean {
  return group !== undefined && group.length <= longestGroup && /\d/.test(group);
}

/** Characters of the longest account number with two signs between any two of them. */
const longestIban = 100;

function isInIban(text: string, { start, end }: Range): boolean {
  const from = Math.max(0, start - longestIban);
  for (const { index } of text.slice(from, start + 4).matchAll(ibanStart)) {
    const first = from + index;
    const last = ibanEnd(text, first) ?? 0;
    if (first <= start && last >= end && last - first > end - start)
      return first === 0 || classOf(text.charCodeAt(first - 1)) !== letter;
  }
  return false;
}

// Whether a shelf has a value, and whether it has it as a value of its own.

/** Steps for looking at what surrounds a place. */
export const cutOutSteps = 40;

/** Whether one of the spellings occurs; undefined if the search was not completed. */
export function occurs(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
): boolean | undefined {
  return finds(shelf, spellings, steps, () => true);
}

/** Whether one of them surely occurs, and not only in a longer address or number. */
export function confirms(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
): boolean {
  const isFound = finds(shelf, spellings, steps, ({ text }, range) => {
    steps.left -= cutOutSteps;
    return !isCutOut(text, range);
  });
  return isFound === true;
}

function finds(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
  accepts: Visit<undefined>,
): boolean | undefined {
  let isFound = false;
  let isComplete = true;
  const note: Visit<undefined> = (block, range) => {
    isFound = accepts(block, range);
    return isFound;
  };
  for (const spelling of spellings) {
    if (!shelf.find(spelling, steps, note)) isComplete = false;
    if (isFound) return true;
  }
  return isComplete ? false : undefined;
}
