/**
 * Keeps one copy of a large string that several sessions use, such as the tools of one application,
 * for as long as one of them uses it.
 */
import { createHash } from 'node:crypto';
import type { SizeBudget } from './size-budget.ts';

/** A string that may be shared. */
export interface SharedString {
  readonly value: string;
  readonly key: string;
  /** How many documents use the string. */
  count: number;
}

/** Shared strings. */
export interface SharedStrings {
  /**
   * Gets the shared copy of a string for one more document; undefined for a string that is not
   * shared.
   */
  take(value: string): SharedString | undefined;
  /** Ends one document's use of a copy. */
  give(shared: SharedString): void;
  /** Characters that become free when one document gives the copy back. */
  freed(shared: SharedString): number;
  /** The number of shared strings. */
  size(): number;
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

/** Makes the shared strings of a store. @param budget counts the copies */
export function sharedStrings(budget: SizeBudget): SharedStrings {
  const strings = new Map<string, SharedString>();
  return {
    take(value) {
      if (value.length < shortest || value.length > longest) return undefined;
      const key =
        value.length <= longestKey ? value : createHash('sha256').update(value).digest('base64');
      const known = strings.get(key);
      if (known === undefined) {
        budget.add(value.length);
        const shared: SharedString = { value, key, count: 1 };
        strings.set(key, shared);
        return shared;
      }
      // Strings that differ only in lone surrogates have the same digest.
      if (known.value !== value) return undefined;
      known.count += 1;
      return known;
    },
    give(shared) {
      shared.count -= 1;
      if (shared.count > 0) return;
      strings.delete(shared.key);
      budget.add(-shared.value.length);
    },
    freed: ({ count, value }) => (count === 1 ? value.length : 0),
    size: () => strings.size,
  };
}
