/**
 * Keeps one copy of large strings that many sessions have alike, such as the tools of one
 * application, for as long as anybody has them.
 */
import { createHash } from 'node:crypto';
import type { SizeBudget } from './size-budget.ts';

/** A string that may be shared. */
export interface SharedString {
  readonly value: string;
  readonly key: string;
  /** How many have it. */
  count: number;
}

/** Shared strings. */
export interface SharedStrings {
  /**
   * The one copy of a string, for one more who has it; undefined for a string that is kept as it
   * is.
   */
  take(value: string): SharedString | undefined;
  /** One who had it has it no more. */
  give(shared: SharedString): void;
  /** Characters that are free once this one is given back. */
  freed(shared: SharedString): number;
  /** How many strings there are. */
  size(): number;
}

/**
 * In characters. Shorter ones are not worth it; longer ones, such as files that a call gives, are
 * hardly ever alike and cost time.
 */
const shortest = 1_024;
const longest = 1_048_576;
/**
 * The engine tells longer strings than about this apart by their length alone. Many of one length
 * would make a map slow, so those go by a digest.
 */
const longestKey = 8_192;

/** @param budget what the copies are counted in */
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
      // Lone surrogates are one to the digest.
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
