/**
 * What a session remembers of the texts that its model has seen, and where a value occurred in
 * them.
 */

import type { FoundOrigin, SeenAt } from '../../api/origins.ts';
import type { JsonPrimitive, JsonValue } from '../../values/json/index.ts';
import { readOptions, type TableOf, wholeNumber, withDefault } from '../../values/options/index.ts';
import { confirms, cutOutSteps, isCutOut } from './cut-out.ts';
import { Echoes, type Given } from './echoes.ts';
import type { Spelling } from './match.ts';
import type { OutputLabels } from './output-labels.ts';
import {
  type LeafTexts,
  leafOverhead,
  type OutputPart,
  type OutputTexts,
  seenAt,
  textsOf,
} from './output-texts.ts';
import { browserReading } from './plain-url.ts';
import { Shelf, type Sought, seek } from './shelf.ts';
import { finish, folded, type Slices } from './slices.ts';
import { spellingsOf } from './spellings.ts';
import {
  foldText,
  leafEnd,
  looseForm,
  normalForm,
  type Steps,
  visible,
  withSpaces,
} from './text.ts';
import { isWholeLeaf } from './whole-leaf.ts';

/** Options of {@link createOriginRecord}. */
export interface OriginRecordOptions {
  /**
   * Most characters that are remembered. Text that does not fit is not remembered, so values from
   * it are `unknown`. From 1. @default 8_388_608
   */
  readonly maxChars?: number | undefined;
  /** The seed of the index's hashes. Only tests set it. @default random */
  readonly seed?: number | undefined;
}

/** What is remembered together with an output. */
export interface OutputFacts {
  readonly callId: string;
  readonly toolName: string;
  readonly labels: OutputLabels;
  /**
   * The input of the same call. Text of the output that occurred in it keeps its earlier origin.
   */
  readonly given?: Given | undefined;
}

const recordTable = {
  maxChars: withDefault(wholeNumber(1), 8 * 1_024 * 1_024),
  seed: wholeNumber(0, 2 ** 32 - 1),
} satisfies TableOf<OriginRecordOptions>;

/** Added for each text to its characters, because remembering it costs more than those. */
const textOverhead = 32;
/** Added for each output, and for the input of its call. */
const outputOverhead = 64;

/** The result of searching one shelf. */
interface Seen {
  readonly seen: SeenAt | undefined;
  /** A place where the value is a part of a field that vouches only for the whole of itself. */
  readonly part: SeenAt | undefined;
  readonly isComplete: boolean;
}

/** Most steps of the lookups of one call: about 10 ms. */
export const lookupSteps = 1_000_000;
/** Steps for a value, and for each of its spellings. */
const valueSteps = 150;
const spellingSteps = 60;

/**
 * The texts of one session by their origin. Remembering a megabyte takes a few milliseconds. A
 * lookup takes some microseconds, however much is remembered.
 */
export class OriginRecord {
  readonly #maxChars: number;
  readonly #seed: number;
  #chars = 0;
  #isFull = false;
  readonly #user: Shelf<undefined>;
  readonly #trustedWords: Shelf<undefined>;
  readonly #trusted: Shelf<OutputPart>;
  readonly #untrusted: Shelf<OutputPart>;
  readonly #approved = new Map<string, string>();

  constructor(options: OriginRecordOptions = {}) {
    const { maxChars, seed } = readOptions('createOriginRecord', options, recordTable);
    this.#maxChars = maxChars;
    this.#seed = (seed ?? randomSeed()) | 0;
    this.#user = new Shelf(this.#seed);
    this.#trustedWords = new Shelf(this.#seed);
    this.#trusted = new Shelf(this.#seed);
    this.#untrusted = new Shelf(this.#seed);
  }

  /** Remembered characters, with a few added for each field. Never more than the limit. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether some text was not remembered, because it did not fit. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Remembers what the user wrote, or a text that the host vouches for. */
  said(text: string, origin: 'user' | 'trusted' = 'user'): void {
    finish(this.saying(text, origin));
  }

  /** The same in slices. */
  *saying(text: string, origin: 'user' | 'trusted'): Slices {
    const shelf = origin === 'user' ? this.#user : this.#trustedWords;
    if (text === '' || !this.#hasRoom(text.length)) return;
    let isSplit = false;
    let split = '';
    const form = yield* folded(text, (piece) => {
      const reading = normalForm(piece);
      const other = withSpaces(piece);
      if (other !== piece) isSplit = true;
      split += other === piece ? reading : normalForm(other);
      return reading;
    });
    for (const reading of isSplit ? [form, split] : [form])
      if (this.#takes(Math.max(text.length, reading.length) + textOverhead))
        yield* shelf.adding(reading, undefined);
  }

  /**
   * Remembers the text of an output, as the model saw it: strings, numbers and keys. A text that is
   * JSON is read as JSON.
   */
  output(value: JsonValue, facts: OutputFacts): void {
    finish(this.outputting(value, facts));
  }

  /** The same in slices. The output may be changed once this has returned. */
  outputting(value: JsonValue, facts: OutputFacts): Slices {
    const room = this.#maxChars - this.#chars - outputOverhead;
    const texts = textsOf(value, facts.labels, room + leafOverhead);
    const echoes = facts.given && Echoes.of(facts.given, this.#seed);
    if (texts.isCut) this.#isFull = true;
    return this.#keeping(texts, echoes, facts);
  }

  *#keeping(texts: OutputTexts, echoes: Echoes | undefined, facts: OutputFacts): Slices {
    if (echoes !== undefined)
      yield* echoes.indexing((chars) => this.#takes(chars + outputOverhead));
    const { callId, toolName } = facts;
    const { containers } = texts;
    const lists: readonly [Shelf<OutputPart>, LeafTexts, boolean, (text: string) => string][] = [
      [this.#trusted, texts.trusted, false, foldText],
      [this.#trusted, texts.trustedFields, true, foldText],
      [this.#untrusted, texts.untrusted, false, (text) => foldText(visible(text))],
    ];
    for (const [shelf, { leaves, within, keys, chars }, onlyWhole, fold] of lists) {
      if (leaves.length === 0 || !this.#hasRoom(chars)) continue;
      const form = yield* folded(leaves.join(leafEnd), fold);
      if (!this.#takes(Math.max(chars, form.length) + outputOverhead)) continue;
      const about = { callId, toolName, containers, texts: { within, keys }, onlyWhole, echoes };
      yield* shelf.adding(form, { ...about, starts: undefined });
    }
  }

  /** Remembers that a person approved a call with this value at a target. */
  approved(value: JsonPrimitive, by: string): void {
    const text = String(value);
    if (this.#approved.has(text) || !this.#takes(text.length + by.length + leafOverhead)) return;
    this.#approved.set(text, by);
  }

  /** The approved values, and who approved them. */
  get approvals(): ReadonlyMap<string, string> {
    return this.#approved;
  }

  /**
   * Where a value came from: the first of `user`, `trusted` and `untrusted` that holds, else
   * `unknown`.
   * @param steps The steps that the lookup may take, shared by all values of a call
   */
  originOf(value: JsonPrimitive, steps: Steps = { left: lookupSteps }): FoundOrigin {
    const text = String(value);
    const approvedBy = this.#approved.get(text);
    steps.left -= valueSteps + text.length;
    if (approvedBy !== undefined) return { origin: 'user', approvedBy };
    // A null character separates the remembered texts, so no remembered text contains one.
    if (text.includes(leafEnd)) return { origin: 'unknown' };
    if (steps.left < 0) return { origin: this.unsearched };
    const isNumeric = typeof value === 'number';
    const spellings = seek(spellingsOf(normalForm(text), isNumeric), this.#seed);
    steps.left -= spellings.length * spellingSteps;
    if (confirms(this.#user, spellings, steps)) return { origin: 'user' };
    if (confirms(this.#trustedWords, spellings, steps)) return { origin: 'trusted' };
    const loose = this.#loosely(text, spellings);
    const trusted = this.#seen(this.#trusted, spellings, loose, steps);
    if (trusted.seen !== undefined) return { origin: 'trusted', seen: trusted.seen };
    const untrusted = this.#seen(this.#untrusted, loose, loose, steps);
    // A field that vouches only for its whole value may contain text that someone else wrote.
    const seen = untrusted.seen ?? trusted.part;
    if (seen !== undefined) return { origin: 'untrusted', seen };
    return { origin: untrusted.isComplete ? 'unknown' : this.unsearched };
  }

  /**
   * The origin of a value that was not searched for to the end. It may occur in an untrusted
   * output, if there is one.
   */
  get unsearched(): 'untrusted' | 'unknown' {
    return this.#untrusted.blocks.length > 0 ? 'untrusted' : 'unknown';
  }

  /** The spellings by which a value is found in untrusted text, which may hide it. */
  #loosely(text: string, spellings: readonly Sought[]): readonly Sought[] {
    const seen = visible(text);
    const loose = seen === text ? spellings : seek(spellingsOf(looseForm(text)), this.#seed);
    const read = browserReading(seen);
    return read === undefined
      ? loose
      : [...loose, ...seek(spellingsOf(looseForm(read)), this.#seed)];
  }

  /** Whether the user wrote a text that contains this spelling. */
  userWrote(spelling: Spelling, steps: Steps): boolean {
    return confirms(this.#user, seek([spelling], this.#seed), steps);
  }

  /**
   * The first place that vouches for a value, and the first one that contains it only as a part.
   * What a call may have repeated is not found in its output.
   */
  #seen(
    shelf: Shelf<OutputPart>,
    spellings: readonly Sought[],
    loose: readonly Sought[],
    steps: Steps,
  ): Seen {
    let seen: SeenAt | undefined;
    let part: SeenAt | undefined;
    let isComplete = true;
    const isTrusted = shelf === this.#trusted;
    let asked: Echoes | undefined;
    let isEcho: boolean | undefined = false;
    for (const spelling of spellings) {
      isComplete =
        shelf.find(spelling, steps, (block, range) => {
          const { onlyWhole, echoes } = block.about;
          if (echoes !== asked) {
            asked = echoes;
            isEcho = echoes === undefined ? false : echoes.holds(loose, steps);
          }
          if (isEcho === true) return false;
          if (isTrusted) steps.left -= cutOutSteps;
          const isPart =
            (onlyWhole && !isWholeLeaf(block.text, range)) ||
            (isTrusted && isCutOut(block.text, range));
          if (isPart ? part !== undefined : isTrusted && isEcho === undefined) return false;
          if (isPart) part = seenAt(block, range.start);
          else seen = seenAt(block, range.start);
          return !isPart;
        }) && isComplete;
      if (seen !== undefined) break;
    }
    return { seen, part, isComplete };
  }

  /** Stops early, so that no text is read in vain. */
  #hasRoom(chars: number): boolean {
    if (this.#chars + chars <= this.#maxChars) return true;
    this.#isFull = true;
    return false;
  }

  #takes(chars: number): boolean {
    if (!this.#hasRoom(chars)) return false;
    this.#chars += chars;
    return true;
  }
}

/** Makes the record of one session. @throws MisuseError `invalid_option`. */
export function createOriginRecord(options?: OriginRecordOptions): OriginRecord {
  return new OriginRecord(options);
}

function randomSeed(): number {
  return globalThis.crypto.getRandomValues(new Uint32Array(1))[0] as number;
}
