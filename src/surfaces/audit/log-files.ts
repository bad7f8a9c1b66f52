/** The files of a log: `path` is the newest, `path.1` the previous one, and so on. */
import { closeSync, openSync, readdirSync, readSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { folded, isSameFile, placeOf } from '../../values/files/same-file.ts';

/** How a line begins. */
const lineStart = /^\{"type":"(?:call|start|recovered|dropped)","at":/;

/** What follows the name of the newest file in the names of a log's other files. */
const otherFile = /^\.(?:[1-9]\d{0,8}|lock|lock\.turn|key|head|checkpoint)$/;

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

/** Whether a path leads to a file of this log, or to the place of one that it may have later. */
export function isFileOf(log: string, path: string): boolean {
  const place = folded(placeOf(path));
  // The other files are beside the path that its writer was given, which may be a link.
  return [log, placeOf(log)].some((newest) => {
    const start = folded(join(placeOf(dirname(newest)), basename(newest)));
    return (
      (place.startsWith(start) && otherFile.test(place.slice(start.length))) ||
      othersOf(newest).some((file) => isSameFile(file, path))
    );
  });
}

/** The files of a log that there are, besides the newest. */
function othersOf(log: string): readonly string[] {
  const name = basename(log);
  try {
    return readdirSync(dirname(log))
      .filter((file) => file.startsWith(name) && otherFile.test(file.slice(name.length)))
      .map((file) => join(dirname(log), file));
  } catch {
    return [];
  }
}

/** The log that a path leads to, or to one of whose other files; undefined if there is none. */
export function logAt(path: string): string | undefined {
  const place = placeOf(path);
  return isLog(place) ? place : logBeside(place);
}

/** The log of which a path is not the newest file; undefined if there is none. */
export function logBeside(path: string): string | undefined {
  const place = placeOf(path);
  for (let dot = place.lastIndexOf('.'); dot > 0; dot = place.lastIndexOf('.', dot - 1))
    if (otherFile.test(place.slice(dot).toLowerCase()) && isLog(place.slice(0, dot)))
      return place.slice(0, dot);
  return undefined;
}

/** Whether a file begins with a line of a log. */
function isLog(path: string): boolean {
  try {
    // To open a pipe would wait for somebody who writes.
    if (!statSync(path).isFile()) return false;
    const fd = openSync(path, 'r');
    try {
      const start = Buffer.alloc(64);
      return lineStart.test(start.toString('latin1', 0, readSync(fd, start, 0, 64, 0)));
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

// The logs beside a log: `audit-2.jsonl`, `audit-3.jsonl`, …. Processes write them that found
// `audit.jsonl` in use. Each is a whole log of its own.

/** Most logs side by side, and so most processes that record with one path. */
export const maxSiblings = 100;

/** The path of the log of this number, from 2. The log itself has the number 1. */
export function siblingOf(path: string, number: number): string {
  if (number === 1) return path;
  const end = extname(path);
  return `${path.slice(0, path.length - end.length)}-${number}${end}`;
}

/** The logs beside a log that exist, in the order of their numbers. */
export function siblingsOf(path: string): readonly string[] {
  let names: ReadonlySet<string>;
  try {
    names = new Set(readdirSync(dirname(path)));
  } catch {
    return [];
  }
  return Array.from({ length: maxSiblings - 1 }, (_, at) => siblingOf(basename(path), at + 2))
    .filter((name) => names.has(name))
    .map((name) => join(dirname(path), name))
    .filter((file) => logAt(file) !== undefined);
}
