/** The words of a text, as searches compare them. */
import { stemmer } from 'stemmer';

/** Words of English that say nothing about what a tool does. They are left out on both sides. */
const stopWords = new Set(
  (
    'a am an and are as at be been but by can could did do does for from had has have how i if in ' +
    'into is it its me my of on or our please should so than that the their them then there these ' +
    'they this to us was we were what when where which who will with would you your'
  ).split(' '),
);

/** The longest part of a word that counts. */
const longestWord = 40;

/** Scripts that put no spaces between words. */
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** One word of a text. */
export interface Word {
  /** As it is compared: a stem in lower case. */
  readonly stem: string;
  /** As it was written, in lower case. */
  readonly written: string;
}

/**
 * The words of a text in order, with repetitions. `getUserById`, `get_user_by_id` and `get user by
 * id` have the same words.
 * @param most Stops after this many words.
 */
export function wordsOf(text: string, most: number): Word[] {
  const words: Word[] = [];
  const add = (word: string): void => {
    if (words.length >= most || stopWords.has(word)) return;
    const written = word.slice(0, longestWord);
    words.push({ stem: stemmer(written), written });
  };
  // Most texts are ASCII, for which the simpler patterns are several times faster.
  if (isAscii.test(text)) {
    for (const word of lowered(text, /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g).match(
      /[a-z\d]+/g,
    ) ?? [])
      add(word);
    return words;
  }
  const parts = lowered(
    text.normalize('NFKC'),
    /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu,
  );
  // Made once: making one takes longer than cutting a whole sentence with it.
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

/** In lower case, with a space where a capital letter begins a word. */
function lowered(text: string, capitals: RegExp): string {
  return text.replace(capitals, ' ').toLowerCase();
}

/** The language is fixed, so that the words do not depend on the machine. */
function createSegmenter(): Intl.Segmenter {
  return new Intl.Segmenter('en', { granularity: 'word' });
}
