/** Whether git would treat a folder as a repository although it is not called `.git`. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from '../place.ts';

/** Most parent folders that are checked, as in git. */
const mostAbove = 64;

/**
 * Whether git, started there, would use a bare repository: a folder with `HEAD`, `objects` and
 * `refs`. Anyone who may write files there may write its configuration, which names programs. A
 * repository may even contain such a folder.
 */
export function isBare({ cwd }: Place): boolean {
  for (let at = cwd, left = mostAbove; left > 0; left--) {
    if (existsSync(join(at, '.git'))) return false;
    if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(at, name)))) return true;
    const above = dirname(at);
    if (above === at) return false;
    at = above;
  }
  return false;
}
