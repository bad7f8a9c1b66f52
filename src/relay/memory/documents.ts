/** The documents of one session in memory. */

import type { StoredValue } from '../ports/store.ts';
import type { SizeBudget } from './size-budget.ts';
import type { SharedString, SharedStrings } from './strings.ts';

interface Kept extends StoredValue {
  readonly shared: SharedString | undefined;
}

/** A session's documents. Plain data, as there are many sessions. */
export interface Documents {
  readonly kept: Map<string, Kept>;
  /**
   * The highest version of any document that was deleted. What comes after goes on from there: no
   * version comes twice, and nothing is kept of deleted ones.
   */
  floor: number;
}

export function noDocuments(): Documents {
  return { kept: new Map(), floor: 0 };
}

export function getDocument({ kept }: Documents, key: string): StoredValue | undefined {
  const found = kept.get(key);
  return found && { value: found.value, version: found.version };
}

/** Where documents are: what they share with others, and the room that they take. */
export interface Place {
  readonly strings: SharedStrings;
  readonly budget: SizeBudget;
}

/** Characters that a document takes beside those of its key and its value. */
const entryChars = 100;
const charsOf = (key: string, { value, shared }: Pick<Kept, 'value' | 'shared'>): number =>
  entryChars + key.length + (shared === undefined ? value.length : 0);

/**
 * The new version; undefined where `version` is not the present one. @throws Error where there is
 * no room; nothing has changed then
 */
export function setDocument(
  documents: Documents,
  { strings, budget: room }: Place,
  key: string,
  value: string,
  version?: number,
): number | undefined {
  const before = documents.kept.get(key);
  if (version !== undefined && version !== (before?.version ?? 0)) return undefined;
  // Taken before the old one is given back: the same value again stays the same string.
  const usedBefore = room.used;
  const shared = strings.take(value);
  const more = charsOf(key, { value, shared }) - (before === undefined ? 0 : charsOf(key, before));
  const freed = before?.shared === undefined ? 0 : strings.freed(before.shared);
  try {
    room.check(room.used - usedBefore + more - freed, usedBefore);
  } catch (error) {
    if (shared !== undefined) strings.give(shared);
    throw error;
  }
  room.add(more);
  const next = (before?.version ?? documents.floor) + 1;
  documents.kept.set(key, { value: shared?.value ?? value, version: next, shared });
  if (before?.shared !== undefined) strings.give(before.shared);
  return next;
}

export function deleteDocument(
  documents: Documents,
  { strings, budget: room }: Place,
  key: string,
  version?: number,
): boolean {
  const found = documents.kept.get(key);
  if (found === undefined || (version !== undefined && version !== found.version)) return false;
  documents.kept.delete(key);
  documents.floor = Math.max(documents.floor, found.version);
  room.add(-charsOf(key, found));
  if (found.shared !== undefined) strings.give(found.shared);
  return true;
}

/** Gives back what the documents share with other sessions, and their room. */
export function endDocuments({ kept }: Documents, { strings, budget: room }: Place): void {
  for (const [key, document] of kept) {
    room.add(-charsOf(key, document));
    if (document.shared !== undefined) strings.give(document.shared);
  }
}
