/**
 * Takes whole words out of texts that were cut. A piece of a word is another word, for which the
 * text does not vouch: `eve@evil.example` is a piece of `steve@evil.example.org`.
 */

/** How far a range is widened to have the words at its ends as a whole. */
const widest = 200;
/** Stands for what was left out. No value is found across it. */
export const omission = '[…]';

/**
 * The words in a range of a text. A word at an end of the range is taken as a whole, or left out if
 * it is very long or a part of a number in groups.
 */
export function wholeWords(text: string, from: number, to: number): string {
  if (from >= to) return '';
  const first = nearest(text, from, -1, Math.max(0, from - widest), startsApart);
  const start = first ?? nearest(text, from, 1, to, startsApart) ?? to;
  const last = nearest(text, to, 1, Math.min(text.length, to + widest), endsApart);
  const end = last ?? nearest(text, to, -1, from, endsApart) ?? from;
  return withoutNumbers(text.slice(start, end), start > 0, end < text.length);
}

/**
 * A text without the pieces of words beside the marks that stand for what was cut off.
 * @param marks a global expression without groups
 * @param isEndCut whether the text also ends in the middle of something
 */
export function withoutPieces(text: string, marks: RegExp, isEndCut: boolean): string {
  const parts = text.split(marks);
  const last = parts.length - 1;
  return parts
    .map((part, index) => {
      const [atStart, atEnd] = [index > 0, index < last || isEndCut];
      const start = atStart ? nearest(part, 1, 1, part.length, startsApart) : 0;
      const end = atEnd ? nearest(part, part.length - 1, -1, 0, endsApart) : part.length;
      return withoutNumbers(part.slice(start ?? part.length, end ?? 0), atStart, atEnd);
    })
    .join(omission);
}

/** The first place from `from` to `to` that a test accepts; undefined if there is none. */
function nearest(
  text: string,
  from: number,
  step: 1 | -1,
  to: number,
  isGood: (text: string, at: number) => boolean,
): number | undefined {
  for (let at = from; step === 1 ? at <= to : at >= to; at += step) if (isGood(text, at)) return at;
  return undefined;
}

/** White space, except for the byte-order mark, which no one sees. */
const space = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const blank = new RegExp(`[${space}]`);
/** Signs that are in no address, no number, and no name of a mailbox. */
const borders = new Set('"<>、「」（）');

/** Whether a word may begin here, whatever comes before the sign in front of it. */
function startsApart(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text[at - 1] as string;
  if (blank.test(before)) return true;
  return borders.has(before) && at < text.length && !isMark(text[at] as string);
}

/** Whether a word may end here, whatever comes after the sign behind it. */
function endsApart(text: string, at: number): boolean {
  if (at >= text.length) return true;
  const after = text[at] as string;
  if (blank.test(after)) return true;
  return borders.has(after) && at + 1 < text.length && !isMark(text[at + 1] as string);
}

/** A mark makes another sign of the one before it, such as `≮` of `<`. */
function isMark(sign: string): boolean {
  return /[\p{M}\uff9e\uff9f]/u.test(sign);
}

/** Most characters of a number in groups. */
const longestNumber = 100;
/** What may be a group of a number: with a digit, or as short as the code of a bank. */
const group = `(?:[^${space}"<>]*\\p{N}[^${space}"<>]*|[^${space}"<>\\p{Lo}]{1,4})`;
const groupAtStart = new RegExp(`^[${space}]*${group}(?:[${space}]|["<>](?!\\p{M})|$)`, 'u');
const groupAtEnd = new RegExp(`(?:[${space}]|["<>](?!\\p{M})|^)${group}[${space}]*$`, 'u');

/** Without a number at an end that was cut, since its other groups may have been cut off. */
function withoutNumbers(text: string, atStart: boolean, atEnd: boolean): string {
  let [start, end] = [0, text.length];
  while (atStart && start < Math.min(longestNumber, end)) {
    const found = groupAtStart.exec(text.slice(start, start + 2 * longestNumber));
    if (found === null) break;
    start += found[0].length;
  }
  while (atEnd && end > Math.max(text.length - longestNumber, start)) {
    const from = Math.max(start, end - 2 * longestNumber);
    const found = groupAtEnd.exec(text.slice(from, end));
    if (found === null) break;
    end = from + found.index;
  }
  return text.slice(start, end);
}
