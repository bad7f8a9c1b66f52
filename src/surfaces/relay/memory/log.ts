/** One log of a session in memory. */

import type { Appended, LogPage } from '../ports/stored.ts';
import type { SizeBudget } from './size-budget.ts';

/** The entries of a log. They are plain data, because there are many logs. */
export interface Log {
  /** The id of the newest entry. */
  last: number;
  /** The entries, after `start` unused places. */
  values: string[];
  start: number;
}

export function emptyLog(): Log {
  return { last: 0, values: [], start: 0 };
}

/** Characters that an entry takes in addition to its value. */
export const entryChars = 20;
const charsOf = (values: readonly string[]): number =>
  values.reduce((sum, { length }) => sum + entryChars + length, 0);

/**
 * Adds an entry to a log.
 * @param keep how many of the newest entries stay
 * @throws Error when the store is full; nothing changes then
 */
export function appendEntry(log: Log, budget: SizeBudget, value: string, keep: number): Appended {
  const over = Math.max(0, log.values.length - log.start + 1 - keep);
  const end = log.start + over;
  budget.check(charsOf([value]) - charsOf(log.values.slice(log.start, end)));
  log.values.push(value);
  log.last += 1;
  const dropped = log.values.slice(log.start, end);
  budget.add(charsOf([value]) - charsOf(dropped));
  log.values.fill('', log.start, end);
  log.start = end;
  // Unused places are removed once there are more of them than entries, so that each entry is moved
  // about once.
  if (log.start * 2 > log.values.length) {
    log.values = log.values.slice(log.start);
    log.start = 0;
  }
  return { id: log.last, dropped };
}

/** Releases the characters of a log in the budget. */
export function endLog({ values, start }: Log, budget: SizeBudget): void {
  budget.add(-charsOf(values.slice(start)));
}

/** Reads the oldest entries after an id, and the ids of the first and the last entry. */
export function readEntries({ last, values, start }: Log, after: number, limit: number): LogPage {
  const oldest = last - (values.length - start) + 1;
  const from = Math.max(after + 1, oldest);
  const begin = start + from - oldest;
  return {
    entries: values
      .slice(begin, begin + limit)
      .map((value, index) => ({ id: from + index, value })),
    first: oldest > last ? 0 : oldest,
    last,
  };
}
