/** Paths as a user would type them. */
import { relative } from 'node:path';

/** Relative to `cwd` if it is inside, otherwise unchanged. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') ? path : near;
}
