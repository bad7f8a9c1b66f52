/**
 * The logs beside a log: `audit-2.jsonl`, `audit-3.jsonl`, …. Processes write them that found
 * `audit.jsonl` in use. Each is a whole log of its own.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { logAt } from './log-files.ts';

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
