/**
 * The words of an input in a fixed number of bits. An output that is kept elsewhere is kept with
 * them, so that what the output repeats can still be recognised.
 */
import type { JsonValue } from '../../values/json/index.ts';
import { atomsOf, beginningsOf } from './atom-index.ts';
import { inputTexts } from './json-texts.ts';
import type { Spelling } from './match.ts';

import { looseForm } from './text.ts';

/** 4 096 bits: few enough for any store, and enough for some hundred words. */
const size = 512;
/** Bits that are set for a word. */
const bitsEach = 4;
/** A longer input would fill the filter. */
const maxChars = 65_536;
/** Words of a value that are compared. */
const maxAtoms = 32;
/** Known to everyone. If two words have the same hash, a value only counts as repeated. */
const seed = 0;

/**
 * A Bloom filter of words. It may take a value for a part of the input that is none, never the
 * reverse. The more words it has, the more often it errs.
 */
export class EchoFilter {
  readonly #bits = new Uint8Array(size);

  /** The filter of an input; undefined stands for an input that cannot be read. */
  static of(input: JsonValue | undefined): EchoFilter {
    const filter = new EchoFilter();
    const texts = input === undefined ? undefined : inputTexts(input);
    const chars = texts?.leaves.reduce((sum, leaf) => sum + leaf.length, 0) ?? 0;
    if (texts?.isComplete !== true || chars > maxChars) filter.#bits.fill(0xff);
    else
      for (const leaf of texts.leaves)
        for (const { hash } of atomsOf(looseForm(leaf), seed, Number.POSITIVE_INFINITY))
          filter.#add(hash);
    return filter;
  }

  /** Reads what {@link toString} has written; undefined for anything else. */
  static read(text: unknown): EchoFilter | undefined {
    if (typeof text !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
    const bits = Buffer.from(text, 'base64');
    if (bits.length !== size) return undefined;
    const filter = new EchoFilter();
    filter.#bits.set(bits);
    return filter;
  }

  toString(): string {
    return Buffer.from(this.#bits).toString('base64');
  }

  /** Adds the words of another filter. */
  join(other: EchoFilter): void {
    for (let at = 0; at < size; at++) (this.#bits[at] as number) |= other.#bits[at] as number;
  }

  /** Whether a value in one of these spellings, each in loose form, may be a part of the input. */
  mayHold(spellings: readonly Spelling[]): boolean {
    return spellings.some(({ text, kind }) =>
      kind === 'digits'
        ? this.#mayJoin(text)
        : atomsOf(text, seed, maxAtoms).every(({ hash }) => this.#has(hash)),
    );
  }

  /** Whether a number may be in the input in groups. */
  #mayJoin(digits: string): boolean {
    const isReached = [true];
    for (let at = 0; at < digits.length; at++) {
      if (isReached[at] !== true) continue;
      const groups = beginningsOf(digits.slice(at), seed);
      for (const [index, { hash }] of groups.entries())
        if (this.#has(hash)) isReached[digits.length - index] = true;
    }
    return isReached[digits.length] === true;
  }

  #add(hash: number): void {
    for (let bit = 0; bit < bitsEach; bit++) {
      const at = placeOf(hash, bit);
      (this.#bits[at >> 3] as number) |= 1 << (at & 7);
    }
  }

  #has(hash: number): boolean {
    for (let bit = 0; bit < bitsEach; bit++) {
      const at = placeOf(hash, bit);
      if (((this.#bits[at >> 3] as number) & (1 << (at & 7))) === 0) return false;
    }
    return true;
  }
}

function placeOf(hash: number, bit: number): number {
  return (hash + bit * ((hash >>> 12) | 1)) & (size * 8 - 1);
}
