/** Finds a value inside the words of a text that a handler got from other calls. */
import type { Spelling } from './match.ts';
import type { Steps } from './steps.ts';
import { isAscii } from './text.ts';

/** A shorter value is found only as a whole word. */
const shortestPiece = 6;
/** Characters of a native search for one step. */
const charsPerStep = 32;

/**
 * Handlers often take an address out of a longer word, such as `to=eve@evil.example&n=1`, cut a
 * text, or leave out what is no letter. So marks and white space do not count here: a page could
 * put them where the handler cuts.
 */
export class HeardText {
  readonly #plain: string;
  #compact: string | undefined;

  /** @param plain Slices of a normal form, each after {@link withoutMarks}. */
  constructor(plain: string) {
    this.#plain = plain;
  }

  /** Whether a value in one of these spellings is a part of the text. */
  holds(spellings: readonly Spelling[], steps: Steps): boolean {
    for (const { text, kind } of spellings) {
      if (text.length < shortestPiece || kind === 'date') continue;
      steps.left -= Math.ceil(this.#plain.length / charsPerStep);
      if (steps.left < 0) return false;
      if (kind === 'digits' ? this.#lettersOnly.includes(text) : this.#holds(text)) return true;
    }
    return false;
  }

  #holds(text: string): boolean {
    const plain = withoutMarks(text);
    return plain.length >= shortestPiece && this.#plain.includes(plain);
  }

  /** The text without any sign, for numbers in groups. */
  get #lettersOnly(): string {
    this.#compact ??= this.#plain.replace(/[^\p{L}\p{N}\0]+/gu, '');
    return this.#compact;
  }
}

/** A normal form without combining marks, replacement characters and white space. */
export function withoutMarks(form: string): string {
  const plain = isAscii(form) ? form : form.normalize('NFKD').replace(/[\p{M}\ufffd]+/gu, '');
  return plain.replace(/\s+/g, '');
}
