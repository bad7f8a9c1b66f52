/** The logs that a command on audit logs reads. */
import { resolve } from 'node:path';
import { siblingsOf } from '../surfaces/audit/sibling-logs.ts';
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
