/** What the commands on audit logs read: the logs, and the key. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { siblingsOf } from '../surfaces/audit/sibling-logs.ts';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure } from './fault.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { shownPath } from './shown-path.ts';

/** The paths, each log once. */
export function distinct(paths: readonly string[], cwd: string): readonly string[] {
  return [...new Map(paths.map((path) => [resolve(cwd, path), path])).values()];
}

/** Names the logs that other processes wrote beside those that are read. */
export function noteSiblings(paths: readonly string[], cwd: string, screen: Screen): void {
  const given = new Set(paths.map((path) => resolve(cwd, path)));
  const others = [...given].flatMap(siblingsOf).filter((path) => !given.has(path));
  if (others.length === 0) return;
  const names = [...new Set(others)].map((path) => `\`${printable(shownPath(path, cwd))}\``);
  screen.note(`Not read: ${names.join(', ')}, which other processes wrote. Give them as well.`);
}

/** The key in a file, without a line break at its end; undefined if no file is given. */
export async function readKey(file: string | undefined, io: CliIo): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const bytes = await readFile(resolve(io.cwd, file)).catch((error: unknown) => {
    throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
  });
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return bytes.subarray(0, end);
}

/** Why a log cannot be read, as one line. */
export function unreadable(file: string, error: unknown): Error {
  const { code } = error as { code?: unknown };
  const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : messageOf(error);
  return failure(`Cannot read \`${file}\`: ${why.replace(/\.$/, '')}.`);
}
