/** Finds a value inside the words of a text that a handler got from other calls. */
import { unescaped } from './json-texts.ts';
import type { Spelling } from './match.ts';
import { pageText } from './readings.ts';
import { folded, type Slices } from './slices.ts';
import { isAscii, leafEnd, type Steps } from './text.ts';

/** A shorter value is found only as a whole word. */
const shortestPiece = 6;
/** Characters of a native search for one step. */
const charsPerStep = 32;

/** The cost of replacing escapes, for each character. */
const readCost = 2;

/**
 * Handlers often take an address out of a longer word, such as `to=eve@evil.example&n=1`, cut a
 * text, or leave out what is no letter. So nothing but letters and digits counts here: a page could
 * put anything else where the handler cuts, also as tags, references and escapes.
 */
export class HeardText {
  readonly #plain: string;
  /** Its letters and digits, as it is and without escapes or tags. */
  readonly #letters: readonly string[];

  private constructor(plain: string, letters: readonly string[]) {
    this.#plain = plain;
    this.#letters = letters;
  }

  /** Reads a text in loose form. */
  static *read(form: string): Slices<HeardText> {
    // Across the ends of leaves too: a handler may join them.
    const text = form.replaceAll(leafEnd, '');
    const readings = new Set([text]);
    for (const read of [unescaped, pageText]) {
      readings.add(read(text));
      yield text.length * readCost;
    }
    const letters = new Set<string>();
    for (const reading of readings) letters.add(yield* folded(reading, lettersOf));
    return new HeardText(yield* folded(form, withoutMarks), [...letters]);
  }

  /** Characters that are kept in addition to the text. */
  get chars(): number {
    return this.#letters.reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether a value in one of these spellings is a part of the text. */
  holds(spellings: readonly Spelling[], steps: Steps): boolean {
    const has = (heard: string, piece: string): boolean => {
      if (piece.length < shortestPiece) return false;
      steps.left -= Math.ceil(heard.length / charsPerStep);
      return steps.left >= 0 && heard.includes(piece);
    };
    for (const { text, kind } of spellings) {
      if (kind === 'date') continue;
      if (kind !== 'digits' && has(this.#plain, withoutMarks(text))) return true;
      const letters = lettersOf(text);
      if (this.#letters.some((heard) => has(heard, letters))) return true;
    }
    return false;
  }
}

function lettersOf(form: string): string {
  const plain = withoutMarks(form);
  return plain.replace(isAscii(plain) ? /[^a-z0-9]+/gi : /[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

/** A normal form without combining marks, replacement characters and white space. */
function withoutMarks(form: string): string {
  const plain = isAscii(form) ? form : form.normalize('NFKD').replace(/[\p{M}\ufffd]+/gu, '');
  return plain.replace(/\s+/g, '');
}
