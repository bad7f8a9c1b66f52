/** The paths that a command line may mean, and the folders from which it reads them. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { longestPath, type PathFacts, type Place, pathFacts } from '../place.ts';
import { most, tooMany } from './shell-facts.ts';

/** Most folders of which every combination is considered. */
const maxFolders = 16;
/** Most parts of a word that may be paths of their own. */
const maxPieces = 256;

export class LinePlaces {
  readonly paths = new Set<string>();
  readonly outside = new Set<string>();
  readonly writesOutside = new Set<string>();
  /**
   * The folders in which the line may be when it reads a path. It may have changed the folder
   * before.
   */
  readonly folders: Place[];
  readonly #unclear: (why: string) => void;
  /** Where the line is if every change of the folder has worked. */
  #last: Place;
  #lookups = 0;

  constructor(place: Place, unclear: (why: string) => void) {
    this.folders = [place];
    this.#last = place;
    this.#unclear = unclear;
  }

  /** Words from here on may be relative to this folder. Whether they are is unknown. */
  move(words: readonly string[]): void {
    const operands = words.filter((word) => !/^-[LPe@]+$/.test(word));
    const folder = operands[0] ?? '~';
    if (folder === '-' || /^[-+]\d/.test(folder)) return this.#unclear('a folder from before');
    // zsh replaces the one by the other in the name of the folder.
    if (operands.length > 1) this.#unclear('a folder whose name is changed');
    if (this.folders.length >= most['changes of the folder'])
      throw tooMany('changes of the folder');
    const known = new Set(this.folders.map(({ cwd }) => cwd));
    const add = (from: Place, limit: number): string | undefined => {
      const found = this.#lookUp(folder, from)?.path ?? [];
      for (const cwd of found) {
        if (known.has(cwd)) continue;
        known.add(cwd);
        if (this.folders.length < limit) this.folders.push({ ...from, cwd });
        else this.#unclear('too many changes of the folder');
      }
      return found[0];
    };
    const before = this.folders.slice(0, maxFolders);
    const cwd = add(this.#last, most['changes of the folder']);
    for (const place of before) add(place, maxFolders);
    if (cwd !== undefined) this.#last = { ...this.#last, cwd };
  }

  /** Undefined if no system opens a path of this length. */
  #lookUp(text: string, place: Place): PathFacts | undefined {
    if (text.length > longestPath) {
      if (!/\s/.test(text)) this.#unclear('a path that is too long');
      return undefined;
    }
    if (++this.#lookups > most.paths) throw tooMany('paths');
    return pathFacts(text, place);
  }

  /** Whether there is something of this name in one of the folders. */
  exists(path: string): boolean {
    return this.folders.some(({ cwd }) => existsSync(resolve(cwd, path)));
  }

  /** Whether git would use a bare repository in one of the folders. */
  get hasBare(): boolean {
    return this.folders.some(isBare);
  }

  /** A file that the line writes. */
  written(word: string): void {
    if (this.folders.some((place) => this.#lookUp(word, place)?.inside !== true))
      this.writesOutside.add(word);
  }

  /** A word may be a path as a whole, or after `=`, `@` or `:`. */
  word(word: string): void {
    if (word.includes('\n') || word === '') return;
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) && !/^file:/i.test(word);
    const texts = new Set([word, ...word.split(/[=@:,]/).filter((text) => text !== '')]);
    if (/^-[A-Za-z]./.test(word)) texts.add(word.slice(2));
    if (texts.size > maxPieces) this.#unclear('a word with too many parts');
    for (const text of [...texts].slice(0, maxPieces))
      for (const place of this.folders) {
        const facts = this.#lookUp(text, place);
        if (facts === undefined) continue;
        const { path, inside } = facts;
        for (const one of path) this.paths.add(one);
        const isPath = /^(?:[/~]|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(text) || path.length > 1;
        if (isPath && !inside && !isUrl && !/^\/dev\/(?:null|stdin|stdout|stderr|tty)$/.test(text))
          this.outside.add(text);
      }
  }
}

/** Most parent folders that are checked, as in git. */
const maxAbove = 64;

/**
 * Whether git, started there, would use a bare repository: a folder with `HEAD`, `objects` and
 * `refs`. Anyone who may write files there may write its configuration, which names programs. A
 * repository may even contain such a folder.
 */
function isBare({ cwd }: Place): boolean {
  for (let at = cwd, left = maxAbove; left > 0; left--) {
    if (existsSync(join(at, '.git'))) return false;
    if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(at, name)))) return true;
    const above = dirname(at);
    if (above === at) return false;
    at = above;
  }
  return false;
}
