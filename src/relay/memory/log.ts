/** One log of a session in memory. */

import type { LogEntry } from '../ports/store.ts';
import type { SizeBudget } from './size-budget.ts';

/** Plain data, as there are many. */
export interface Log {
  /** The id of the newest entry. */
  last: number;
  /** The entries, after `start` places that were given up. */
  values: string[];
  start: number;
}

export function emptyLog(): Log {
  return { last: 0, values: [], start: 0 };
}

/** Characters that an entry takes beside its own. */
const entryChars = 20;
const charsOf = (values: readonly string[]): number =>
  values.reduce((sum, { length }) => sum + entryChars + length, 0);

/**
 * @param keep how many entries stay, at most @throws Error where there is no room; nothing has
 * changed then
 */
export function appendEntry(
  log: Log,
  budget: SizeBudget,
  value: string,
  keep: number,
): { readonly id: number; readonly dropped: readonly string[] } {
  const over = Math.max(0, log.values.length - log.start + 1 - keep);
  const end = log.start + over;
  budget.check(charsOf([value]) - charsOf(log.values.slice(log.start, end)));
  log.values.push(value);
  log.last += 1;
  const dropped = log.values.slice(log.start, end);
  budget.add(charsOf([value]) - charsOf(dropped));
  log.values.fill('', log.start, end);
  log.start = end;
  // The places go once they are more than the entries, so that each entry is moved once or so.
  if (log.start * 2 > log.values.length) {
    log.values = log.values.slice(log.start);
    log.start = 0;
  }
  return { id: log.last, dropped };
}

/** Gives its room back. */
export function endLog({ values, start }: Log, room: SizeBudget): void {
  room.add(-charsOf(values.slice(start)));
}

/** The oldest entries after an id. */
export function readEntries(
  { last, values, start }: Log,
  after: number,
  limit: number,
): { readonly entries: readonly LogEntry[]; readonly first: number; readonly last: number } {
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
