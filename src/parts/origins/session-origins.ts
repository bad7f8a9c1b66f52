/** What one session remembers of the texts that its model has seen. */

import type { FoundOrigin, JudgedOrigin, KnownContainers, Origin } from '../../api/origins.ts';
import type { JsonPrimitive, JsonValue } from '../../values/json/index.ts';
import { timersEndWithRequests } from '../../values/limits/own-timers.ts';
import { inNextTurn, nextTurn } from '../../values/limits/stretches.ts';
import { judgeInput, knownContainer } from './judge.ts';
import { createOriginRecord, type OriginRecord, type OutputFacts } from './record.ts';
import type { InputRoles } from './roles.ts';
import { finish, type Slices } from './slices.ts';
import type { Steps } from './text.ts';

/** Most steps that the lookups of containers may take for one call. */
const containerSteps = 400_000;
/** Characters of text that are read and indexed at once. An output of a megabyte has this many. */
const maxAtOnce = 2_200_000;
/** Characters that are read in each later turn, which takes a few milliseconds. */
const maxInTurn = 400_000;

export class SessionOrigins {
  readonly #maxChars: number | undefined;
  /**
   * The model saw outputs before the session began to remember. A value that is not found may come
   * from one of them, so it counts as untrusted.
   */
  readonly #isLate: boolean;
  /** Created when there is something to remember. */
  #record: OriginRecord | undefined;
  #isFreed = false;
  /** Texts that are too long to be remembered at once, and all texts after them. */
  readonly #waiting: Slices[] = [];
  /** Some texts wait. */
  #isBehind = false;
  /** Resolves when nothing waits. */
  #settled: Promise<void> | undefined;
  #settle = (): void => {};
  readonly #texts = new Set<string>();
  /**
   * Grows with what is remembered, because a value that was judged before may now have another
   * origin.
   */
  version = 0;

  constructor(maxChars: number | undefined, isLate: boolean) {
    this.#maxChars = maxChars;
    this.#isLate = isLate;
  }

  /**
   * Surfaces report the whole conversation again at each turn, so a text is remembered only once.
   */
  said(text: string, origin: 'user' | 'trusted'): void {
    const key = `${origin} ${text}`;
    if (this.#texts.has(key)) return;
    const record = this.#changed();
    if (record === undefined) return;
    this.#texts.add(key);
    this.#remember(this.#saying(record, text, origin, key));
  }

  output(value: JsonValue, facts: OutputFacts): void {
    const record = this.#changed();
    if (record !== undefined) this.#remember(record.outputting(value, facts));
  }

  /** Resolves when all texts can be found; undefined if they can be found now. */
  get settled(): Promise<void> | undefined {
    if (!this.#isBehind) return undefined;
    // The request in which the work began may be gone, and its turns with it.
    if (timersEndWithRequests()) return this.#catchUpHere();
    this.#settled ??= new Promise((resolve) => {
      this.#settle = resolve;
    });
    return this.#settled;
  }

  /** Remembers the waiting texts, however long that takes. */
  catchUp(): void {
    for (const slices of this.#waiting.splice(0)) finish(slices);
    this.#caughtUp();
  }

  approved(value: JsonPrimitive, by: string): void {
    this.#changed()?.approved(value, by);
  }

  /** The values that an input acts upon, each with its origin. */
  judge(input: JsonValue, roles: InputRoles): JudgedOrigin[] {
    const judged = judgeInput(this.#known(), input, roles);
    return this.#isLate || this.#isBehind
      ? judged.map((one) => ({ ...one, ...this.#cautious(one) }))
      : judged;
  }

  /**
   * The same, including values that containers make known. Judging once and looking at the rest
   * again costs less than judging for each rule.
   */
  within(judged: readonly JudgedOrigin[], containers: KnownContainers): readonly JudgedOrigin[] {
    const steps: Steps = { left: containerSteps };
    return judged.map((one) => {
      const { value, origin } = one;
      if (origin === 'user' || origin === 'trusted' || typeof value !== 'string') return one;
      const found = knownContainer(this.#known(), value, containers, steps);
      if (found === undefined || steps.left < 0) return one;
      const { path, role } = one;
      return { path, value, role, ...found };
    });
  }

  /** Where one value came from. @param steps what the lookup may cost */
  originOf(value: JsonPrimitive, steps: Steps): FoundOrigin {
    return this.#cautious(this.#known().originOf(value, steps));
  }

  /** The origin of a value that cannot be searched for. */
  get unsearched(): Origin {
    return this.#cautious({ origin: this.#known().unsearched }).origin;
  }

  /** Forgets everything. Nothing is remembered from then on. */
  free(): void {
    this.#record = undefined;
    this.#isFreed = true;
    this.#texts.clear();
    this.#waiting.length = 0;
    this.#caughtUp();
  }

  *#saying(record: OriginRecord, text: string, origin: 'user' | 'trusted', key: string): Slices {
    const before = record.chars;
    yield* record.saying(text, origin);
    // Text that did not fit into the record is not kept here either.
    if (record.chars === before) this.#texts.delete(key);
  }

  #remember(slices: Slices): void {
    this.#waiting.push(slices);
    if (this.#waiting.length > 1) return;
    this.#work(maxAtOnce);
    if (this.#waiting.length === 0) return;
    this.#isBehind = true;
    inNextTurn(this.#goOn);
  }

  readonly #goOn = (): void => {
    this.#workInTurn();
    if (this.#isBehind) inNextTurn(this.#goOn);
  };

  async #catchUpHere(): Promise<void> {
    while (this.#isBehind) {
      await nextTurn();
      this.#workInTurn();
    }
  }

  #workInTurn(): void {
    if (!this.#isBehind) return;
    this.#work(maxInTurn);
    if (this.#waiting.length === 0) this.#caughtUp();
  }

  /** Reads waiting texts, up to about this many characters. */
  #work(most: number): void {
    for (let left = most; left > 0; ) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const { done, value } = first.next();
      if (done === true) this.#waiting.shift();
      else left -= value;
    }
  }

  #caughtUp(): void {
    this.version++;
    this.#isBehind = false;
    this.#settled = undefined;
    this.#settle();
  }

  #cautious<F extends FoundOrigin>(found: F): F {
    const mayBeSeen = this.#isLate || this.#isBehind;
    return mayBeSeen && found.origin === 'unknown' ? { ...found, origin: 'untrusted' } : found;
  }

  #known(): OriginRecord {
    this.#record ??= createOriginRecord({ maxChars: this.#maxChars });
    return this.#record;
  }

  #changed(): OriginRecord | undefined {
    if (this.#isFreed) return undefined;
    this.version++;
    return this.#known();
  }
}
