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
