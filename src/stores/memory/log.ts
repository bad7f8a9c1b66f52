/** One log in memory. */
import type { Store } from '../../api/store.ts';

/** The entries of a log. They are plain data, because there are many logs. */
export interface Log {
  /** The id of the newest entry. */
  last: number;
  /** The entries, after `start` unused places. */
  values: string[];
  start: number;
}

/** Characters that an entry takes in addition to its value. */
const entryChars = 20;

/** How many characters entries take. */
export function charsOfEntries(values: readonly string[]): number {
  return values.reduce((sum, { length }) => sum + entryChars + length, 0);
}

/** The entries that one more would drop. @param keep how many of the newest entries stay */
export function droppedBy({ values, start }: Log, keep: number): string[] {
  return values.slice(start, start + Math.max(0, values.length - start + 1 - keep));
}

/** Adds an entry. @param dropped how many of the oldest it drops */
export function appendEntry(log: Log, value: string, dropped: number): void {
  log.values.push(value);
  log.last += 1;
  log.values.fill('', log.start, log.start + dropped);
  log.start += dropped;
  // Unused places are removed once there are more of them than entries, so that each entry is moved
  // about once.
  if (log.start * 2 > log.values.length) {
    log.values = log.values.slice(log.start);
    log.start = 0;
  }
}

/** Takes the newest entry away again and puts back those that it dropped. */
export function undoAppend(log: Log, dropped: readonly string[]): void {
  log.values = [...dropped, ...log.values.slice(log.start, -1)];
  log.start = 0;
  log.last -= 1;
}

/** Reads the oldest entries after an id, and the ids of the first and the last entry. */
export function readEntries(log: Log | undefined, after: number, limit: number): Store.Page {
  if (log === undefined) return { entries: [], first: 0, last: 0 };
  const { last, values, start } = log;
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
