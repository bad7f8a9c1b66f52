/** What the words of a command line stand for, as far as it is known before it runs. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Redirection, SyntaxNode, Word, WordPart } from 'unbash';
import type { Place } from '../place.ts';
import { isBlind, isFilter, type Listing, listedBy } from './listing.ts';
import { onlyLooks } from './looking-programs.ts';
import { isPlainVariable } from './variables.ts';
import { type KnownWord, type Piece, readWord, readWords, type Scope } from './words.ts';

// The files that a pattern such as `src/*.ts` stands for now.

/** Most files that a pattern may stand for, and most entries of folders that are looked at. */
const maxFound = 200;
const maxEntries = 5_000;
/** Most parts of a pattern. Each is compared with each name in a folder. */
const maxPieces = 256;

/**
 * The names that a shell would insert, which begin as the pattern does. Undefined if there are too
 * many. More may be found than the shell inserts, never less.
 */
function expandGlob(pattern: readonly Piece[], cwd: string): readonly string[] | undefined {
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

export class LineWords {
  /** Variables of loops that are read now. */
  readonly variables = new Map<string, string>();
  /** Variables that the line may set. */
  readonly set = new Set<string>();
  /** Whether files may have changed since the line began. */
  hasChanged = false;
  readonly #used = new Set<string>();
  readonly #scope: Scope;
  readonly #folders: readonly Place[];

  /** @param folders Those in which the line may be, as they become known */
  constructor(home: string, folders: readonly Place[]) {
    this.#scope = {
      home,
      variables: this.variables,
      uses: (name) => this.#used.add(name),
    };
    this.#folders = folders;
  }

  /** Variables whose value was used, although the line may set them. */
  get uncertain(): readonly string[] {
    return [...this.#used].filter((name) => this.set.has(name));
  }

  read(word: Word): KnownWord {
    return readWord(word, this.#scope);
  }

  /**
   * The texts that a word stands for, with the files that a pattern stands for now.
   * @param before The program and its words before it. If it shows nothing of what is in files, it
   * does not matter if they have changed
   */
  textsOf(word: Word, before: readonly string[] = []): readonly string[] | undefined {
    const texts: string[] = [];
    for (const { value, open, pattern } of readWords(word, this.#scope)) {
      if (open !== undefined) return undefined;
      if (pattern === undefined) texts.push(value);
      else {
        if (this.hasChanged && !isBlindOf(before)) return undefined;
        const found = new Set<string>();
        for (const { cwd } of this.#folders) {
          const names = expandGlob(pattern, cwd);
          if (names === undefined) return undefined;
          for (const name of names) found.add(name);
        }
        texts.push(...(found.size === 0 ? [value] : found));
      }
    }
    return texts;
  }

  /** Whether a word to print is made of texts, and variables that the line sets or all may see. */
  isPrintable(program: string, { parts = [] }: Word): boolean {
    if (program !== 'echo' && program !== 'printf') return false;
    const isOwn = (part: WordPart): boolean => {
      if (part.type === 'DoubleQuoted') return part.parts.every(isOwn);
      if (part.type === 'SimpleExpansion') return this.#isPlain(part.text.slice(1));
      if (part.type !== 'ParameterExpansion') return /^(?:Literal|SingleQuoted)$/.test(part.type);
      return (
        part.prefix === undefined &&
        part.operation === undefined &&
        this.#isPlain(part.parameter) &&
        /^(?:[@*]|\d+)?$/.test(part.index?.text ?? '')
      );
    };
    return parts.every(isOwn);
  }

  #isPlain(name: string): boolean {
    return this.set.has(name) || isPlainVariable(name) || /^[?#$!]$/.test(name);
  }

  /** Whether it has a part that could be another one when the line runs. */
  isLoose(word: Word): boolean {
    return this.read(word).pattern !== undefined || /\$\{?[?#$!]/.test(word.text);
  }

  /** The commands of a pipeline that get a list of files as their input. */
  listings({ commands }: Extract<SyntaxNode, { type: 'Pipeline' }>): Map<Command, Listing> {
    const found = new Map<Command, Listing>();
    let listing: Listing | undefined;
    for (const [at, command] of commands.entries()) {
      if (command.type !== 'Command') break;
      const { name, args, redirects } = command;
      if (name === undefined || redirects.some(({ operator }) => operator.startsWith('<'))) break;
      if (listing !== undefined) found.set(command, listing);
      const words: string[] = [];
      for (const arg of [name, ...args]) {
        const texts = arg.type === 'Word' ? this.textsOf(arg, ['ls']) : undefined;
        if (texts === undefined) return found;
        words.push(...texts);
      }
      if (at === 0) listing = listedBy(words);
      else if (!isFilter(words)) listing = undefined;
      // Nothing is known of the commands after it.
      if (listing === undefined) break;
    }
    return found;
  }

  /** The text of a here-document or a here-string. Undefined if it is known only at run time. */
  inputOf(redirects: readonly Redirection[]): string | undefined {
    const last = redirects.findLast((one) => one.type !== 'Redirect' || one.operator === '<');
    if (last?.type === 'HereString' && last.target !== undefined) {
      const { value, open } = this.read(last.target);
      return open === undefined ? value : undefined;
    }
    if (last?.type !== 'HereDoc') return undefined;
    const isFixed = last.delimiter?.quoted === true || !/[$`\\]/.test(last.body.text);
    return isFixed ? last.body.text : undefined;
  }
}

/** Most words before a pattern, each of which would be looked at again for each pattern. */
const maxBefore = 100;

function isBlindOf([program, ...words]: readonly string[]): boolean {
  return program !== undefined && words.length <= maxBefore && isBlind(program, words);
}

/** Words such as `<(sort x)` of a program that only looks: it reads what the command prints. */
export function printedFor([program = '', ...words]: readonly string[], args: Command['args']) {
  if (!onlyLooks(program, words)) return [];
  return args.filter((arg): arg is Word => {
    const [part, ...more] = arg.type === 'Word' ? (arg.parts ?? []) : [];
    return part?.type === 'ProcessSubstitution' && more.length === 0 && part.text.startsWith('<(');
  });
}
