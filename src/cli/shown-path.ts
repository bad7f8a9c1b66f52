/** Paths as a person would type them. */
import { relative } from 'node:path';

/** Relative to `cwd` where it lies below, else as it is. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') ? path : near;
}
