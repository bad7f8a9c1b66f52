/** One space in memory: its documents, the lists that they are in, its logs and its counters. */
import type { Store } from '../../api/store.ts';
import type { Account } from './account.ts';
import type { Log } from './log.ts';
import type { Timed } from './queue.ts';
import type { SharedString } from './strings.ts';

/** A document. It is replaced, never changed. */
export interface Kept {
  readonly key: string;
  readonly value: string;
  /** The value, if other sessions may have the same one. */
  readonly shared: SharedString | undefined;
  readonly version: number;
  /** When it goes, by the wall clock or by the one that only goes on; infinite without an end. */
  readonly end: number;
  readonly byWall: boolean;
  /** Epoch milliseconds for the order of lists; null without an end. */
  readonly expiresAt: number | null;
  readonly lists: readonly string[];
}

/** A window in which uses are counted. */
export interface Window {
  /** By the clock that only goes on. */
  readonly end: number;
  used: number;
}

/** A sum and where it is. */
export interface Held {
  readonly account: Account;
  readonly space: Space;
  readonly key: string;
  /** Whether an object owns it, with which it is forgotten. */
  readonly owned: boolean;
}

/** What ends by itself. */
export type Ending = { readonly space: Space } & (
  | { readonly document: Kept }
  | { readonly window: Window; readonly key: string }
  | { readonly session: true }
);

/** A space. It is plain data, because there are many sessions. */
export interface Space {
  readonly name: string;
  readonly isShared: boolean;
  /** When the session ends, in epoch milliseconds. */
  end: number;
  timed: Timed<Ending> | undefined;
  readonly documents: Map<string, Kept>;
  /** The ends of the documents that have one. */
  readonly ends: Map<string, Timed<Ending>>;
  readonly lists: Map<string, Kept[]>;
  readonly logs: Map<string, Log>;
  readonly windows: Map<string, Window>;
  readonly sums: Map<string, Held>;
}

export function newSpace(name: string, isShared: boolean, end: number): Space {
  return {
    name,
    isShared,
    end,
    timed: undefined,
    documents: new Map(),
    ends: new Map(),
    lists: new Map(),
    logs: new Map(),
    windows: new Map(),
    sums: new Map(),
  };
}

/** Characters that a document takes, without a value that is shared. */
export function charsOf({ key, value, shared, lists }: Kept): number {
  let chars = 100 + key.length + (shared === undefined ? value.length : 0);
  for (const list of lists) chars += 20 + list.length;
  return chars;
}

/** Puts a document into its lists. */
export function enlist({ lists }: Space, document: Kept): void {
  for (const name of document.lists) {
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [document]);
    else list.splice(placeIn(list, document), 0, document);
  }
}

/** Takes a document out of its lists. */
export function delist({ lists }: Space, document: Kept): void {
  for (const name of document.lists) {
    const list = lists.get(name) as Kept[];
    if (list.length === 1) lists.delete(name);
    else list.splice(placeIn(list, document), 1);
  }
}

/** How many documents of a list come before a place. */
function placeIn(list: readonly Kept[], place: Pick<Kept, 'expiresAt' | 'key'>): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(list[middle] as Kept, place)) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Place = Pick<Kept, 'expiresAt' | 'key'>;

function isBefore(one: Place, other: Place): boolean {
  const [end, otherEnd] = [one.expiresAt ?? Infinity, other.expiresAt ?? Infinity];
  return end === otherEnd ? isBelow(one.key, other.key) : end < otherEnd;
}

/**
 * Whether a text's UTF-8 bytes come before those of another. That is the order of UTF-16 units,
 * except that surrogates come last.
 */
function isBelow(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const [unit, otherUnit] = [one.charCodeAt(index), other.charCodeAt(index)];
    if (unit !== otherUnit) return rank(unit) < rank(otherUnit);
  }
  return one.length < other.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** A document for the caller. @param remainingMs infinite without an end */
export function shown({ value, version }: Kept, remainingMs: number): Store.Document {
  return { value, version, remainingMs: remainingMs === Infinity ? undefined : remainingMs };
}

/** Why an operation does not fit. */
export class Misfit {
  readonly gone: boolean;
  readonly retryAfterMs: number;
  readonly found: Store.Document | undefined;
  constructor(gone: boolean, retryAfterMs = 0, found?: Store.Document) {
    this.gone = gone;
    this.retryAfterMs = retryAfterMs;
    this.found = found;
  }
}

/** Reads the documents of a list that are not over at these times of the two clocks. */
export function listed(
  { lists }: Space,
  { list, after, limit, bytes }: Store.List,
  wall: number,
  time: number,
): readonly Store.Listed[] {
  const all = lists.get(list) ?? [];
  const found: Store.Listed[] = [];
  let index = after === undefined ? 0 : placeIn(all, after);
  const first = all[index];
  if (after !== undefined && first?.key === after.key && first.expiresAt === after.expiresAt)
    index += 1;
  for (; index < all.length && found.length < limit; index++) {
    const document = all[index] as Kept;
    const left = document.end - (document.byWall ? wall : time);
    if (left <= 0) continue;
    const { key, expiresAt } = document;
    const { value, version, remainingMs } = shown(document, left);
    // A UTF-16 unit has at least one byte.
    const part = bytes === undefined ? value : value.slice(0, bytes);
    found.push({ key, expiresAt, value: part, version, remainingMs });
  }
  return found;
}
