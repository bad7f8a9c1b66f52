/** Whether two paths lead to the same file, whatever they look like. */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** As many links as systems follow. */
const maxLinks = 40;

/**
 * Where a path leads once its links are followed. Nothing needs to be there: the rest of the path
 * is kept as it is.
 */
export function placeOf(path: string, links = maxLinks): string {
  const given = resolve(path);
  try {
    return realpathSync(given);
  } catch {
    const above = dirname(given);
    if (above === given) return given;
    const place = join(placeOf(above, links), basename(given));
    const target = links > 0 ? linkAt(place) : undefined;
    return target === undefined ? place : placeOf(resolve(dirname(place), target), links - 1);
  }
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether two paths lead to one file, also by hard links, or to one place for a new file. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [idOf(one), idOf(other)];
  return a !== undefined && b !== undefined ? a === b : isSamePlace(placeOf(one), placeOf(other));
}

/** Some file systems do not distinguish capital letters, or ways to write an accent. */
function isSamePlace(one: string, other: string): boolean {
  return folded(one) === folded(other);
}

export function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** The device and the number of the file; undefined if there is none. */
function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
