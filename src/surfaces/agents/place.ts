/** The folders in which an agent works, and the meaning of a path in its input. */
import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** The folders that decide what a path means. All are absolute. */
export interface Place {
  /** Where the agent is now; relative paths start here. */
  readonly cwd: string;
  /** The project that it works on. */
  readonly project: string;
  /** The user's home; `~`. */
  readonly home: string;
}

/** Longest path, in characters, that a system opens. */
export const longestPath = 4_096;

/** What rules can read of a path: `file_path@inside`, `file_path@path`, `file_path@name`. */
export interface PathFacts {
  /**
   * Whether it is the project's folder or below it, as written and after resolving symbolic links.
   */
  readonly inside: boolean;
  /** The absolute paths that it may mean: as written, and after resolving symbolic links. */
  readonly path: readonly string[];
  /** The last part of it. */
  readonly name: string;
}

/** The meaning of a path. The path need not exist. */
export function pathFacts(text: string, place: Place): PathFacts {
  const written = resolve(place.cwd, withoutTilde(text, place.home));
  const real = realPath(written);
  const project = realPath(place.project);
  return {
    inside: real !== undefined && project !== undefined && isBelow(real, project),
    path: real === undefined || real === written ? [written] : [written, real],
    name: basename(real ?? written),
  };
}

function withoutTilde(text: string, home: string): string {
  return text === '~' || text.startsWith('~/') ? join(home, text.slice(1)) : text;
}

/** Whether a path is the folder, or below it. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Most parts at the end of a path that may be missing. */
const maxParts = 64;

/** Resolves the symbolic links of the part that exists. Undefined if that is not possible. */
function realPath(path: string): string | undefined {
  let missing = '';
  for (let at = path, left = maxParts; left > 0; left--) {
    try {
      return join(realpathSync(at), missing);
    } catch {
      const above = dirname(at);
      if (above === at || isLink(at)) return undefined;
      missing = join(basename(at), missing);
      at = above;
    }
  }
  return undefined;
}

/** A link that leads nowhere. Writing to it would create a file at an unknown place. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    // Below a file there are no links.
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR';
  }
}
