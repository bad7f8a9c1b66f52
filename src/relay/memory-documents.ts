/** The documents of one session in memory. */
import type { SharedString, SharedStrings } from './memory-strings.ts';
import type { StoredValue } from './store.ts';

interface Kept extends StoredValue {
  readonly shared: SharedString | undefined;
}

/** A session's documents. Plain data, as there are many sessions. */
export interface Documents {
  readonly kept: Map<string, Kept>;
  /** The highest version of any document that was deleted. What comes after goes on from there: no version comes twice, and nothing is kept of deleted ones. */
  floor: number;
}

export function noDocuments(): Documents {
  return { kept: new Map(), floor: 0 };
}

export function getDocument({ kept }: Documents, key: string): StoredValue | undefined {
  const found = kept.get(key);
  return found && { value: found.value, version: found.version };
}

/** The new version; undefined where `version` is not the present one. */
export function setDocument(documents: Documents, strings: SharedStrings, key: string, value: string, version?: number): number | undefined {
  const before = documents.kept.get(key);
  if (version !== undefined && version !== (before?.version ?? 0)) return undefined;
  // Taken before the old one is given back: the same value again stays the same string.
  const shared = strings.take(value);
  const next = (before?.version ?? documents.floor) + 1;
  documents.kept.set(key, { value: shared?.value ?? value, version: next, shared });
  if (before?.shared !== undefined) strings.give(before.shared);
  return next;
}

export function deleteDocument(documents: Documents, strings: SharedStrings, key: string, version?: number): boolean {
  const found = documents.kept.get(key);
  if (found === undefined || (version !== undefined && version !== found.version)) return false;
  documents.kept.delete(key);
  documents.floor = Math.max(documents.floor, found.version);
  if (found.shared !== undefined) strings.give(found.shared);
  return true;
}

/** Gives back what the documents share with other sessions. */
export function endDocuments({ kept }: Documents, strings: SharedStrings): void {
  for (const { shared } of kept.values()) if (shared !== undefined) strings.give(shared);
}
