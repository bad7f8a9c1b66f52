/** The documents of one session in memory. */

import type { StoredValue } from '../ports/stored.ts';
import type { SizeBudget } from './size-budget.ts';
import type { SharedString, SharedStrings } from './strings.ts';

interface Kept extends StoredValue {
  readonly shared: SharedString | undefined;
}

/** A session's documents. They are plain data, because there are many sessions. */
export interface Documents {
  readonly kept: Map<string, Kept>;
  /**
   * The highest version of any deleted document. New documents continue from it, so that no version
   * is used twice even though deleted documents are not kept.
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

/** The equal strings and the size budget that the documents of all sessions share. */
export interface Place {
  readonly strings: SharedStrings;
  readonly budget: SizeBudget;
}

/** Characters that a document takes in addition to its key and its value. */
const entryChars = 100;
const charsOf = (key: string, { value, shared }: Pick<Kept, 'value' | 'shared'>): number =>
  entryChars + key.length + (shared === undefined ? value.length : 0);

/** The most characters that a write adds to those of the document that it replaces. */
export function roomFor({ kept }: Documents, key: string, value: string): number {
  const before = kept.get(key);
  return (
    charsOf(key, { value, shared: undefined }) - (before === undefined ? 0 : charsOf(key, before))
  );
}

/**
 * Writes a document.
 * @returns the new version; undefined when `version` is not the current one
 * @throws Error when the store is full; nothing changes then
 */
export function setDocument(
  documents: Documents,
  { strings, budget }: Place,
  key: string,
  value: string,
  version?: number,
): number | undefined {
  const before = documents.kept.get(key);
  if (version !== undefined && version !== (before?.version ?? 0)) return undefined;
  // The new string is taken before the old one is given back, so that an equal value keeps its
  // string.
  const usedBefore = budget.used;
  const shared = strings.take(value);
  const more = charsOf(key, { value, shared }) - (before === undefined ? 0 : charsOf(key, before));
  const freed = before?.shared === undefined ? 0 : strings.freed(before.shared);
  try {
    budget.check(budget.used - usedBefore + more - freed, usedBefore);
  } catch (error) {
    if (shared !== undefined) strings.give(shared);
    throw error;
  }
  budget.add(more);
  const next = (before?.version ?? documents.floor) + 1;
  documents.kept.set(key, { value: shared?.value ?? value, version: next, shared });
  if (before?.shared !== undefined) strings.give(before.shared);
  return next;
}

export function deleteDocument(
  documents: Documents,
  { strings, budget }: Place,
  key: string,
  version?: number,
): boolean {
  const found = documents.kept.get(key);
  if (found === undefined || (version !== undefined && version !== found.version)) return false;
  documents.kept.delete(key);
  documents.floor = Math.max(documents.floor, found.version);
  budget.add(-charsOf(key, found));
  if (found.shared !== undefined) strings.give(found.shared);
  return true;
}

/** Releases the shared strings of the documents, and their characters in the budget. */
export function endDocuments({ kept }: Documents, { strings, budget }: Place): void {
  for (const [key, document] of kept) {
    budget.add(-charsOf(key, document));
    if (document.shared !== undefined) strings.give(document.shared);
  }
}
