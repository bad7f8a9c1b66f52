/** The files of a log: `path` is the newest, `path.1` the previous one, and so on. */
import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The numbers of the older files, from the newest, `1`, to the oldest. */
export function olderNumbers(path: string): readonly number[] {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
}

/** The file of this number. */
export function olderFile(path: string, number: number): string {
  return join(dirname(path), `${basename(path)}.${number}`);
}

/**
 * Moves each file to the next number, and `path` to `path.1`. Begins with the oldest, so that none
 * is ever overwritten; a gap that a crash left is filled.
 */
export function shiftFiles(path: string): void {
  const numbers = olderNumbers(path);
  let free = 1;
  while (numbers[free - 1] === free) free++;
  for (let number = free - 1; number >= 1; number--)
    renameSync(olderFile(path, number), olderFile(path, number + 1));
  renameSync(path, olderFile(path, 1));
}
