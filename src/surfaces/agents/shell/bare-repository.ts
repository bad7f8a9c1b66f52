/** Whether a folder is one that git takes for a repository although it is not called `.git`. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from '../place.ts';

/** Most folders above that are looked at, as git does. */
const mostAbove = 64;

/**
 * Whether git, started there, would use a repository that lies in plain sight: a folder with
 * `HEAD`, `objects` and `refs`. Anyone who may write files there may write its configuration, which
 * names programs. A repository may even bring such a folder along.
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
