/**
 * Finds the places of a word in all remembered texts. A word here is an *atom*: a run of letters
 * and digits. Addresses, numbers and names consist of several atoms. A search asks for the rarest
 * atom and compares the text around each place.
 */
import { classOf, ideograph, letter } from './text.ts';

/** One atom of a text that is looked up. */
export interface Atom {
  /** Where it begins in its text. */
  readonly at: number;
  readonly hash: number;
}

/**
 * Fields of a slot: the hash, the last place (plus one; 0 if the slot is empty), and the number of
 * places.
 */
const slotFields = 3;
const smallest = 16;

/**
 * A hash table in typed arrays: adding a megabyte of text must cost milliseconds. Atoms are
 * distinguished only by their hash. Two atoms with the same hash share a list of places, and
 * comparing the text separates them. The seed is secret, so that no one can write a text that
 * collides. The places of an atom are a ring: the last one points to the first.
 */
export class AtomIndex {
  readonly #seed: number;
  #slots = new Int32Array(smallest * slotFields);
  #mask = smallest - 1;
  #used = 0;
  #places = new Int32Array(smallest);
  #next = new Int32Array(smallest);
  #size = 0;

  /** @param seed A 32-bit integer, positive or negative. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Adds the atoms in a part of a text that begins at `base` in the space of all texts. An atom
   * ends where the part ends.
   */
  add(text: string, base: number, from: number, to: number): void {
    const seed = this.#seed;
    let hash = seed;
    let start = -1;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === letter) {
        if (start === -1) {
          start = at;
          hash = seed;
        }
        hash = step(hash, code);
        continue;
      }
      if (start !== -1) {
        this.#insert(finish(hash), base + start);
        start = -1;
      }
      if (kind === ideograph) this.#insert(finish(step(seed, code)), base + at);
    }
    if (start !== -1) this.#insert(finish(hash), base + start);
  }

  /** How many places an atom has. */
  count(hash: number): number {
    return this.#slots[this.#slotOf(hash) + 2] as number;
  }

  /** The first entry of an atom; -1 if it has no place. */
  first(hash: number): number {
    const last = (this.#slots[this.#slotOf(hash) + 1] as number) - 1;
    return last === -1 ? -1 : (this.#next[last] as number);
  }

  /** The entry after this one. After the last one comes the first. */
  after(entry: number): number {
    return this.#next[entry] as number;
  }

  /** The place of an entry. */
  placeOf(entry: number): number {
    return this.#places[entry] as number;
  }

  #slotOf(hash: number): number {
    const slots = this.#slots;
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    for (;;) {
      const at = slot * slotFields;
      if (slots[at + 1] === 0 || slots[at] === hash) return at;
      slot = (slot + 1) & this.#mask;
    }
  }

  #insert(hash: number, place: number): void {
    const entry = this.#size++;
    if (entry === this.#places.length) this.#growPlaces(entry + 1);
    const at = this.#slotOf(hash);
    const slots = this.#slots;
    const next = this.#next;
    const last = (slots[at + 1] as number) - 1;
    this.#places[entry] = place;
    if (last === -1) {
      slots[at] = hash;
      next[entry] = entry;
      this.#used++;
    } else {
      next[entry] = next[last] as number;
      next[last] = entry;
    }
    slots[at + 1] = entry + 1;
    slots[at + 2] = (slots[at + 2] as number) + 1;
    if (this.#used * 3 > (this.#mask + 1) * 2) this.#growSlots(this.#used * 2);
  }

  /** Makes room for a text of this length at once, instead of step by step. */
  makeRoom(chars: number): void {
    const places = this.#size + (chars >> 2);
    if (places > this.#places.length) this.#growPlaces(places);
    this.#growSlots(this.#used + (chars >> 4));
  }

  #growPlaces(least: number): void {
    let length = this.#places.length;
    while (length < least) length *= 2;
    const places = new Int32Array(length);
    places.set(this.#places);
    this.#places = places;
    const next = new Int32Array(length);
    next.set(this.#next);
    this.#next = next;
  }

  /** At most two thirds of the slots are used. */
  #growSlots(least: number): void {
    let slots = this.#mask + 1;
    while (least * 3 > slots * 2) slots *= 2;
    if (slots === this.#mask + 1) return;
    const old = this.#slots;
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots * slotFields);
    for (let from = 0; from < old.length; from += slotFields) {
      if (old[from + 1] === 0) continue;
      const at = this.#slotOf(old[from] as number);
      this.#slots[at] = old[from] as number;
      this.#slots[at + 1] = old[from + 1] as number;
      this.#slots[at + 2] = old[from + 2] as number;
    }
  }
}

function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01_00_01_93) ^ (hash >>> 23);
}

function finish(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45_d9_f3_b5);
  return mixed ^ (mixed >>> 13);
}

/** The first `most` atoms of a text that is looked up in indexes with this seed. */
export function atomsOf(text: string, seed: number, most: number): Atom[] {
  const atoms: Atom[] = [];
  let hash = seed;
  let start = -1;
  for (let at = 0; at <= text.length && atoms.length < most; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 32;
    const kind = classOf(code);
    if (kind === letter) {
      if (start === -1) {
        start = at;
        hash = seed;
      }
      hash = step(hash, code);
      continue;
    }
    if (start !== -1) atoms.push({ at: start, hash: finish(hash) });
    start = -1;
    if (kind === ideograph) atoms.push({ at, hash: finish(step(seed, code)) });
  }
  return atoms;
}

/** All beginnings of an atom, the longest first. */
export function beginningsOf(atom: string, seed: number): Atom[] {
  const beginnings: Atom[] = [];
  let hash = seed;
  for (let at = 0; at < atom.length; at++) {
    hash = step(hash, atom.charCodeAt(at));
    beginnings.push({ at: 0, hash: finish(hash) });
  }
  return beginnings.reverse();
}
