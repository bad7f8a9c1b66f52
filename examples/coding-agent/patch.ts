// The patch format of host.fs.apply_patch. Nothing here touches a file.
import { pathParts } from '../tools/files/path.ts';
import { placesOf } from './find.ts';
import { Refused } from './refused.ts';

/** One file of a patch. */
export type Section =
  | { readonly kind: 'Add'; readonly path: string; readonly content: string }
  | { readonly kind: 'Delete'; readonly path: string }
  | { readonly kind: 'Update'; readonly path: string; readonly hunks: readonly Hunk[] };

/**
 * Lines that are there (`old`), what takes their place (`new`), and the text of the @@ line: a line
 * to look beyond.
 */
export interface Hunk {
  readonly beyond: string;
  readonly old: readonly string[];
  readonly new: readonly string[];
}

const HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
// Each hunk looks through the rest of its file.
const MAX_HUNKS = 200;

/** @throws Refused naming the line */
export function parsePatch(patch: string): Section[] {
  const lines = patch.trim().split(/\r?\n/);
  if (lines[0] !== '*** Begin Patch' || lines.at(-1) !== '*** End Patch')
    throw new Refused(
      'invalid_patch',
      'a patch starts with *** Begin Patch and ends with *** End Patch',
    );
  const sections = new Map<string, Section>();
  for (let at = 1; at < lines.length - 1; ) {
    const [, kind, path] = HEADER.exec(lines[at] as string) ?? [];
    if (kind === undefined || path === undefined) throw outOfPlace(at);
    const file = pathParts(path).join('/');
    if (sections.has(file)) throw new Refused('invalid_patch', `${path} has two sections`);
    const first = at + 1;
    do at += 1;
    while (at < lines.length - 1 && !HEADER.test(lines[at] as string));
    const body = lines.slice(first, at);
    if (kind === 'Update') sections.set(file, { kind, path, hunks: readHunks(body, first) });
    else if (kind === 'Add') sections.set(file, { kind, path, content: readAdded(body, first) });
    else if (body.length > 0) throw outOfPlace(first);
    else sections.set(file, { kind: 'Delete', path });
  }
  for (const file of sections.keys()) {
    for (let slash = file.indexOf('/'); slash > 0; slash = file.indexOf('/', slash + 1)) {
      const above = file.slice(0, slash);
      if (sections.has(above))
        throw new Refused(
          'invalid_patch',
          `${file} is below ${above}, which is a file of the patch`,
        );
    }
  }
  if (sections.size === 0) throw new Refused('invalid_patch', 'the patch has no section');
  return [...sections.values()];
}

function readAdded(lines: readonly string[], first: number): string {
  const wrong = lines.findIndex((line) => !line.startsWith('+'));
  if (wrong >= 0) throw outOfPlace(first + wrong);
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}

function readHunks(lines: readonly string[], first: number): Hunk[] {
  const hunks: { beyond: string; old: string[]; new: string[] }[] = [];
  for (const [index, line] of lines.entries()) {
    const hunk = hunks.at(-1);
    if (/^@@( |$)/.test(line)) hunks.push({ beyond: line.slice(2).trim(), old: [], new: [] });
    // Models leave the space of an empty line away.
    else if (hunk === undefined || !/^([ +-]|$)/.test(line)) throw outOfPlace(first + index);
    else {
      if (!line.startsWith('+')) hunk.old.push(line.slice(1));
      if (!line.startsWith('-')) hunk.new.push(line.slice(1));
    }
  }
  if (hunks.length === 0 || hunks.length > MAX_HUNKS)
    throw new Refused('invalid_patch', `an update has 1 to ${MAX_HUNKS} hunks`);
  return hunks;
}

function outOfPlace(index: number): Refused {
  return new Refused('invalid_patch', `line ${index + 1} of the patch is out of place`);
}

/**
 * The text with the hunks applied, one below the other. Each must fit in one place and no other.
 * @throws Refused
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): string {
  let rest = text.split('\n');
  const done: string[][] = [];
  for (const [index, { beyond, old, new: fresh }] of hunks.entries()) {
    const start = beyond === '' ? 0 : rest.findIndex((line) => line.trim() === beyond) + 1;
    if (start === 0 && beyond !== '')
      throw new Refused('patch_does_not_fit', `hunk ${index + 1}: no line reads ${beyond}`);
    const places = placesOf(rest.slice(start), old);
    if (places.length !== 1)
      throw new Refused(
        'patch_does_not_fit',
        `hunk ${index + 1} fits ` +
          `${places.length === 0 ? 'nowhere' : 'more than one place: give more lines that stay'}`,
      );
    const at = start + (places[0] as number);
    done.push(rest.slice(0, at), [...fresh]);
    rest = rest.slice(at + old.length);
  }
  return [...done.flat(), ...rest].join('\n');
}
