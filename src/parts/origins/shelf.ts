/** Texts of one origin, and the search in them. */
import { type Atom, AtomIndex, atomsOf, beginningsOf } from './atom-index.ts';
import { matchAt, type Range, type Spelling } from './match.ts';
import { type Slices, sliceEnd } from './slices.ts';
import { classOf, letter, type Steps } from './text.ts';

/** Texts that were remembered together: one statement, or the fields of one output. */
export interface Block<T> {
  /** In normal form; its leaves are separated by `leafEnd`. */
  readonly text: string;
  readonly about: T;
}

/** A spelling with its atoms, for all shelves with the same seed. */
export interface Sought extends Spelling {
  /** For a number whose grouping is unknown: all its beginnings, the longest first. */
  readonly atoms: readonly Atom[];
}

/** Prepares spellings for {@link Shelf.find}. */
export function seek(spellings: readonly Spelling[], seed: number): Sought[] {
  return spellings.map(({ text, kind }) => ({
    text,
    kind,
    atoms: kind === 'digits' ? beginningsOf(text, seed) : atomsOf(text, seed, maxAtoms),
  }));
}

/** Steps for looking at one place. */
const candidateSteps = 8;
/** How many atoms of a value are counted to find a rare one. */
const maxAtoms = 32;
/** Most places of the first group of a number. */
const maxBeginnings = 2_000;

function isInWord(text: string, at: number): boolean {
  return classOf(text.charCodeAt(at - 1)) === letter && classOf(text.charCodeAt(at)) === letter;
}

/** Called for each match. Returns whether the search has found enough. */
export type Visit<T> = (block: Block<T>, range: Range) => boolean;

/** Remembers texts, and finds values in them. */
export class Shelf<T> {
  readonly #index: AtomIndex;
  readonly #blocks: Block<T>[] = [];
  readonly #bases: number[] = [];
  #size = 0;

  constructor(seed: number) {
    this.#index = new AtomIndex(seed);
  }

  get blocks(): readonly Block<T>[] {
    return this.#blocks;
  }

  /** Adds a text. Text that is not indexed yet is not found. */
  *adding(text: string, about: T): Slices {
    const base = this.#size;
    this.#blocks.push({ text, about });
    this.#bases.push(base);
    // One more, so that no two texts are adjacent.
    this.#size += text.length + 1;
    this.#index.makeRoom(text.length);
    for (let from = 0; from < text.length; ) {
      let to = sliceEnd(text, from);
      // A word that is cut into several is not found.
      while (to < text.length && isInWord(text, to)) to++;
      this.#index.add(text, base, from, to);
      yield to - from;
      from = to;
    }
  }

  /**
   * Visits the places where a spelling occurs, in the order in which they were remembered, until
   * the visitor has enough. Returns false if the steps did not suffice to look at all of them.
   */
  find(sought: Sought, steps: Steps, visit: Visit<T>): boolean {
    if (this.#size === 0) return true;
    if (sought.kind === 'digits') return this.#findDigits(sought, steps, maxBeginnings, visit);
    if (sought.kind === 'spread')
      return this.#findDigits(sought, steps, Number.POSITIVE_INFINITY, visit);
    const atom = this.#rarest(sought.atoms, steps);
    return atom === undefined || this.#visit(atom, sought, steps, visit);
  }

  /**
   * The grouping in the text is unknown, so its first group may be any beginning of the number. A
   * beginning that occurs more often than `most` is left out, so the search is not complete.
   */
  #findDigits(sought: Sought, steps: Steps, most: number, visit: Visit<T>): boolean {
    let isEnough = false;
    let isComplete = true;
    const note: Visit<T> = (block, range) => {
      isEnough = visit(block, range);
      return isEnough;
    };
    for (const atom of sought.atoms) {
      steps.left--;
      const count = this.#index.count(atom.hash);
      if (count > most) isComplete = false;
      if (count === 0 || count > most) continue;
      if (!this.#visit(atom, sought, steps, note)) return false;
      if (isEnough) return true;
    }
    return isComplete;
  }

  /** The atom of a value that has the fewest places; undefined if one of them has none. */
  #rarest(atoms: readonly Atom[], steps: Steps): Atom | undefined {
    let rarest: Atom | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const atom of atoms) {
      steps.left--;
      const count = this.#index.count(atom.hash);
      if (count === 0) return undefined;
      if (count >= fewest) continue;
      rarest = atom;
      fewest = count;
    }
    return rarest;
  }

  #visit(atom: Atom, spelling: Spelling, steps: Steps, visit: Visit<T>): boolean {
    const first = this.#index.first(atom.hash);
    let entry = first;
    do {
      steps.left -= candidateSteps;
      if (steps.left < 0) return false;
      const place = this.#index.placeOf(entry);
      const at = this.#blockAt(place);
      const block = this.#blocks[at] as Block<T>;
      const range = matchAt(
        block.text,
        place - (this.#bases[at] as number),
        spelling,
        atom.at,
        steps,
      );
      if (range !== undefined && visit(block, range)) return true;
      entry = this.#index.after(entry);
    } while (entry !== first);
    return true;
  }

  /** The index of the block that contains a place. */
  #blockAt(place: number): number {
    const bases = this.#bases;
    let low = 0;
    let high = bases.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((bases[middle] as number) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
