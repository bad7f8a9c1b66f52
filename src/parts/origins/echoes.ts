/** What an output may repeat: the input of its call, and what its handler got from other calls. */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import type { EchoFilter } from './echo-filter.ts';
import { HeardText } from './heard-text.ts';
import { inputTexts } from './input-texts.ts';
import { Shelf, type Sought } from './shelf.ts';
import { folded, type Slices } from './slices.ts';
import { longestSpelled } from './spellings.ts';
import { foldText, leafEnd, type Steps, visible } from './text.ts';
import { occurs } from './vouches.ts';

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
