/** The words of a text, as searches compare them. */
import { stemmer } from 'stemmer';

/** Words of English that say nothing about a tool. They are left out of queries and tools. */
const stopWords = new Set(
  (
    'a am an and are as at be been but by can could did do does for from had has have how i if ' +
    'in into is it its me my of on or our please should so than that the their them then there ' +
    'these they this to us was we were what when where which who will with would you your'
  ).split(' '),
);

/** The longest part of a word that counts. */
const longestWord = 40;

/** Scripts that put no spaces between words. */
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** One word of a text. */
export interface Word {
  /** The form that is compared: a stem in lower case. */
  readonly stem: string;
  /** As it was written, in lower case. */
  readonly written: string;
}

/**
 * Words that were read before, as they were written, because stemming takes longer than a lookup.
 * Null for words that are left out.
 */
export type KnownWords = Map<string, Word | null>;

/** If there are more known words than this, they are forgotten. */
const maxKnown = 50_000;

/**
 * The words of a text in order, with repetitions. `getUserById`, `get_user_by_id` and `get user by
 * id` have the same words.
 * @param most Stops after this many words.
 */
export function wordsOf(text: string, most: number, known: KnownWords = new Map()): Word[] {
  const words: Word[] = [];
  const add = (part: string): void => {
    if (words.length >= most) return;
    let word = known.get(part);
    if (word === undefined) {
      word = readWord(part.toLowerCase());
      if (known.size >= maxKnown) known.clear();
      known.set(part, word);
    }
    if (word !== null) words.push(word);
  };
  if (isAscii.test(text)) {
    asciiParts(text, add);
    return words;
  }
  const parts = text
    .normalize('NFKC')
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .toLowerCase();
  // Created once, because that takes longer than splitting a whole sentence.
  let segmenter: Intl.Segmenter | undefined;
  for (const run of parts.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) {
    if (words.length >= most) break;
    if (unspaced.test(run)) {
      segmenter ??= createSegmenter();
      for (const { segment } of segmenter.segment(run)) add(segment);
    } else add(run);
  }
  return words;
}

const isAscii = /^[\0-\x7f]*$/;

function readWord(word: string): Word | null {
  if (stopWords.has(word)) return null;
  const written = word.slice(0, longestWord);
  return { stem: stemmer(written), written };
}

/** The class of a character, which decides where words end. */
const other = 0;
const small = 1;
const capital = 2;

/** Splits an ASCII text as the patterns for other texts do, in a tenth of the time. */
function asciiParts(text: string, add: (part: string) => void): void {
  let start = -1;
  let before = other;
  for (let at = 0; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at));
    if (kind === other) {
      if (start >= 0) add(text.slice(start, at));
      start = -1;
    } else if (start < 0) start = at;
    // `getUser` has two words, and so has `HTTPServer`.
    else if (kind === capital && (before === small || isLetter(text.charCodeAt(at + 1)))) {
      add(text.slice(start, at));
      start = at;
    }
    before = kind;
  }
  if (start >= 0) add(text.slice(start));
}

function kindOf(code: number): number {
  if (isLetter(code) || (code >= 48 && code <= 57)) return small;
  return code >= 65 && code <= 90 ? capital : other;
}

function isLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** The language is fixed, so that the words do not depend on the machine. */
function createSegmenter(): Intl.Segmenter {
  return new Intl.Segmenter('en', { granularity: 'word' });
}

// Finds words that are spelt nearly alike.

/**
 * How many letters may differ in a word. Short words would have too many neighbours, and long ones
 * are usually data.
 */
export function differenceOf(word: string): number {
  return word.length < 4 || word.length > 24 ? 0 : word.length < 6 ? 1 : 2;
}

/**
 * The letters of a word as bits. One difference between two words changes two bits at most, so that
 * most words need not be compared.
 */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Whether two words may have at most this many differences, judged by their letters. */
export function mayBeSimilar(left: number, right: number, most: number): boolean {
  let bits = left ^ right;
  let count = 0;
  while (bits !== 0) {
    bits &= bits - 1;
    if (++count > 2 * most) return false;
  }
  return true;
}

/**
 * The letters to insert, remove or replace to make one word the other; undefined if over `most`.
 */
export function differenceBetween(left: string, right: string, most: number): number | undefined {
  if (Math.abs(left.length - right.length) > most) return undefined;
  const over = most + 1;
  // Two rows of the usual table. Only its diagonals up to `most` can hold the answer.
  let row: number[] = [];
  let next: number[] = [];
  for (let at = 0; at <= right.length; at++) row[at] = at <= most ? at : over;
  for (let at = 1; at <= left.length; at++) {
    const first = Math.max(1, at - most);
    const last = Math.min(right.length, at + most);
    next[first - 1] = first === 1 && at <= most ? at : over;
    let least = next[first - 1] as number;
    const letter = left.charCodeAt(at - 1);
    for (let other = first; other <= last; other++) {
      const replaced =
        (row[other - 1] as number) + (letter === right.charCodeAt(other - 1) ? 0 : 1);
      const removed = (row[other] as number) + 1;
      const inserted = (next[other - 1] as number) + 1;
      const value = Math.min(replaced, removed, inserted, over);
      next[other] = value;
      if (value < least) least = value;
    }
    if (least === over) return undefined;
    if (last < right.length) next[last + 1] = over;
    [row, next] = [next, row];
  }
  const difference = row[right.length] as number;
  return difference <= most ? difference : undefined;
}
