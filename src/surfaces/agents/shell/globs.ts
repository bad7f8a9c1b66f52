/** The files that a pattern such as `src/*.ts` stands for now. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Piece } from './words.ts';

/** Most files that a pattern may stand for, and most entries of folders that are looked at. */
const maxFound = 200;
const maxEntries = 5_000;
/** Most parts of a pattern. Each is compared with each name in a folder. */
const maxPieces = 256;

/**
 * The names that a shell would insert, which begin as the pattern does. Undefined if there are too
 * many. More may be found than the shell inserts, never less.
 */
export function expandGlob(pattern: readonly Piece[], cwd: string): readonly string[] | undefined {
  if (pattern.length > maxPieces) return undefined;
  const segments = segmentsOf(pattern);
  const [first] = segments;
  let found: readonly string[] = [''];
  let left = maxEntries;
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const next = new Set<string>();
    for (const base of found) {
      const add = (name: string): string => base + name + (isLast ? '' : '/');
      if (segment.every((piece) => typeof piece === 'string')) {
        // The beginning of an absolute path is empty.
        next.add(segment === first && segment.join('') === '' ? '/' : add(segment.join('')));
        continue;
      }
      if (segment.length === 1 && isDeep(segment[0]) && !isLast) {
        const below = foldersBelow(join(cwd, ''), base, left);
        if (below === undefined) return undefined;
        left -= below.length;
        for (const folder of below) next.add(folder);
        continue;
      }
      const names = namesIn(base.startsWith('/') ? base : join(cwd, base));
      left -= names.length;
      if (left < 0) return undefined;
      for (const name of names) if (matches(segment, name)) next.add(add(name));
    }
    if (next.size > maxEntries) return undefined;
    found = [...next];
  }
  const real = found.filter((name) => existsSync(name.startsWith('/') ? name : join(cwd, name)));
  return real.length > maxFound ? undefined : real;
}

function isDeep(piece: Piece | undefined): boolean {
  return typeof piece === 'object' && piece.glob === '**';
}

/** The pattern's parts between slashes. */
function segmentsOf(pattern: readonly Piece[]): readonly (readonly Piece[])[] {
  const segments: Piece[][] = [[]];
  for (const piece of pattern) {
    if (typeof piece !== 'string') segments.at(-1)?.push(piece);
    else
      for (const [index, text] of piece.split('/').entries()) {
        if (index > 0) segments.push([]);
        if (text !== '') segments.at(-1)?.push(text);
      }
  }
  return segments;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The folder and all folders below it, with a slash at the end. zsh goes into them for `**`. */
function foldersBelow(cwd: string, base: string, most: number): readonly string[] | undefined {
  const found: string[] = [base];
  for (let at = 0; at < found.length; at++) {
    const folder = found[at] as string;
    let entries: readonly { name: string; isDirectory(): boolean }[];
    try {
      entries = readdirSync(folder.startsWith('/') ? folder : join(cwd, folder), {
        withFileTypes: true,
      });
    } catch {
      continue;
    }
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith('.')) found.push(`${folder}${entry.name}/`);
    if (found.length > most) return undefined;
  }
  return found;
}

/** Whether a name fits. A name that begins with a dot fits only a pattern that does. */
function matches(pieces: readonly Piece[], name: string): boolean {
  const [first] = pieces;
  if (name.startsWith('.') && !(typeof first === 'string' && first.startsWith('.'))) return false;
  // The places in the name where the pattern may be, after each of its pieces.
  let places = new Set([0]);
  for (const piece of pieces) {
    const next = new Set<number>();
    for (const at of places)
      if (typeof piece === 'string') {
        if (name.startsWith(piece, at)) next.add(at + piece.length);
      } else if (piece.glob === '?') {
        if (at < name.length) next.add(at + ((name.codePointAt(at) as number) > 0xffff ? 2 : 1));
      } else break;
    if (typeof piece === 'object' && piece.glob !== '?')
      for (let at = Math.min(...places); at <= name.length; at++) next.add(at);
    if (next.size === 0) return false;
    places = next;
  }
  return places.has(name.length);
}
