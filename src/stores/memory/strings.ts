/**
 * Keeps one copy of a large string that several sessions use, such as the tools of one application,
 * for as long as one of them uses it.
 */
import { createHash } from 'node:crypto';

/** A string that documents of sessions may share. */
export interface SharedString {
  readonly value: string;
  readonly key: string;
  /** How many documents use the string. */
  count: number;
}

/**
 * Lengths of shared strings, in characters. Sharing shorter strings saves too little; longer ones,
 * such as files that a call returns, are rarely equal and cost time.
 */
const shortest = 1_024;
const longest = 1_048_576;
/**
 * V8 hashes strings above about this length by their length alone. Many strings of the same length
 * would make a map slow, so their keys are digests.
 */
const longestKey = 8_192;

/** The shared strings of a store. */
export class SharedStrings {
  readonly #held = new Map<string, SharedString>();

  /** The copy of a string, which nobody may hold yet; undefined for a string that is not shared. */
  find(value: string): SharedString | undefined {
    if (value.length < shortest || value.length > longest) return undefined;
    const key =
      value.length <= longestKey ? value : createHash('sha256').update(value).digest('base64');
    return this.#held.get(key) ?? { value, key, count: 0 };
  }

  /** Begins one document's use of a copy. */
  hold(shared: SharedString | undefined): void {
    if (shared !== undefined && shared.count++ === 0) this.#held.set(shared.key, shared);
  }

  /** Ends one document's use of a copy. @returns how many characters become free */
  release(shared: SharedString | undefined): number {
    if (shared === undefined || --shared.count > 0) return 0;
    this.#held.delete(shared.key);
    return shared.value.length;
  }

  get size(): number {
    return this.#held.size;
  }
}
