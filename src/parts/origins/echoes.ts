/** What an output may repeat: the input of its call, and what its handler got from other calls. */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { occurs } from './cut-out.ts';
import type { EchoFilter } from './echo-filter.ts';
import { pageText } from './identifiers.ts';
import { inputTexts, unescaped } from './json-texts.ts';
import type { Spelling } from './match.ts';
import { Shelf, type Sought } from './shelf.ts';
import { folded, type Slices } from './slices.ts';
import { longestSpelled } from './spellings.ts';
import { foldText, isAscii, leafEnd, type Steps, visible } from './text.ts';

// Finds a value inside the words of a text that a handler got from other calls.

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
class HeardText {
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

/** What the handler of a call was given. */
export interface Given {
  /** The input of the call. Undefined if it cannot be read. */
  readonly input: JsonValue | undefined;
  /** Outputs of other calls that are not trusted. */
  readonly heard?: readonly JsonValue[] | undefined;
  /** The words of inputs of other calls. */
  readonly filter?: EchoFilter | undefined;
}

/** The most characters of an encoded value for each one of the value. */
const maxEncoded = 12;
/** Steps for asking a filter. */
const filterSteps = 500;

/**
 * Recognises text that an output repeats. Such text keeps the origin that it had before. If it is
 * not known whether a value is repeated, the output must not vouch for it. Otherwise whoever makes
 * the search long, or the input too large to be kept, makes a foreign value trusted.
 */
export class Echoes {
  readonly #shelf: Shelf<undefined>;
  readonly #filter: EchoFilter | undefined;
  #heard: HeardText | undefined;
  /** Whether all texts are kept, or will be. */
  #isComplete = true;
  #chars = 0;
  /** Texts that are not indexed yet. */
  readonly #pending: { readonly text: string; readonly isHeard: boolean }[] = [];

  private constructor(filter: EchoFilter | undefined, seed: number) {
    this.#shelf = new Shelf(seed);
    this.#filter = filter;
  }

  /**
   * Reads everything at once, since it may be changed later. Undefined if nothing can be repeated.
   */
  static of({ input, heard, filter }: Given, seed: number): Echoes | undefined {
    if (input !== undefined && heard === undefined && filter === undefined && isEmpty(input))
      return undefined;
    const echoes = new Echoes(filter, seed);
    if (input === undefined) echoes.#isComplete = false;
    else echoes.#read(input, false);
    if (heard !== undefined) echoes.#read(heard, true);
    return echoes;
  }

  #read(value: JsonValue, isHeard: boolean): void {
    const { leaves, isComplete } = inputTexts(value);
    if (!isComplete) this.#isComplete = false;
    if (leaves.length > 0) this.#pending.push({ text: leaves.join(leafEnd), isHeard });
  }

  /** Indexes the texts. @param takes whether a text of this length may be kept */
  *indexing(takes: (chars: number) => boolean): Slices {
    for (const { text, isHeard } of this.#pending.splice(0)) {
      const form = yield* folded(text, (piece) => foldText(visible(piece)));
      this.#chars += form.length;
      if (takes(form.length)) {
        if (isHeard) {
          const heard = yield* HeardText.read(form);
          if (takes(heard.chars)) this.#heard = heard;
          else this.#isComplete = false;
        }
        yield* this.#shelf.adding(form, undefined);
      } else this.#isComplete = false;
    }
  }

  /**
   * Whether a value is a repetition; undefined if that is not known. Both sides are compared
   * without invisible characters.
   * @param spellings of the value in loose form
   */
  holds(spellings: readonly Sought[], steps: Steps): boolean | undefined {
    const isFound = occurs(this.#shelf, spellings.map(loosened), steps);
    if (isFound === true || this.#heard?.holds(spellings, steps) === true) return true;
    const isSearched = isFound === false && steps.left >= 0;
    if (!isSearched || !this.#isComplete || !this.#coversAll(spellings)) return undefined;
    if (this.#filter === undefined) return false;
    steps.left -= filterSteps;
    return this.#filter.mayHold(spellings) ? undefined : false;
  }

  /** Whether the search finds every text that counts as the same value. */
  #coversAll(spellings: readonly Sought[]): boolean {
    return (
      spellings.some(({ atoms }) => atoms.length > 0) &&
      spellings.every(
        ({ text }) => text.length <= longestSpelled || text.length > this.#chars * maxEncoded,
      )
    );
  }
}

function isEmpty(input: JsonValue): boolean {
  return isJsonObject(input) && Object.keys(input).length === 0;
}

/** Handlers often remove more than the usual spaces from a number. */
function loosened(one: Sought): Sought {
  return one.kind === 'digits' ? { ...one, kind: 'spread' } : one;
}
