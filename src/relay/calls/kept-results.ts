/** Bounds the bytes of the results that a session keeps. The oldest results go first. */
import { keys, logKeep, type RequestDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { busy } from './session-document.ts';

/** A result that was stored, as the JSON of its request. */
export interface StoredResult {
  readonly id: string;
  readonly bytes: number;
  /** The id of its entry in the agent's log. */
  readonly entry: number;
}

/**
 * Bytes from which a result counts. Smaller ones are bounded by their number, and to count them
 * would make every call slower.
 */
export const countedBytes = 16_384;
/** More than one, since several calls may end at the same time. */
const mostTries = 20;

/** In the list: id, bytes and entry. */
type Kept = readonly [id: string, bytes: number, entry: number];

/**
 * Counts a result, and removes the oldest ones while all of them have more than `mostBytes`. Their
 * requests stay, as done. The newest result is kept in any case.
 * @throws RelayError 503 `busy`
 */
export async function countResult(
  store: Pick<RelayStore, 'get' | 'set'>,
  code: string,
  { id, bytes, entry }: StoredResult,
  mostBytes: number,
): Promise<void> {
  if (bytes < countedBytes) return;
  for (let tries = 0; tries < mostTries; tries++) {
    const [stored] = await store.get(code, [keys.keptResults]);
    const before = stored === undefined ? [] : (JSON.parse(stored.value) as readonly Kept[]);
    // A result without an entry in the log was removed with it.
    const all: readonly Kept[] = [...before, [id, bytes, entry] as const]
      .filter(([, , at]) => at > entry - logKeep)
      .sort(([, , one], [, , other]) => one - other);
    let sum = 0;
    const from = all.findLastIndex(([, size]) => {
      sum += size;
      return sum > mostBytes;
    });
    const left = all.slice(Math.min(from + 1, all.length - 1));
    for (const [old] of all.slice(0, all.length - left.length))
      await removeResult(store, code, old);
    const version = stored?.version ?? 0;
    if ((await store.set(code, keys.keptResults, JSON.stringify(left), version)) !== undefined)
      return;
  }
  throw busy();
}

async function removeResult(
  store: Pick<RelayStore, 'get' | 'set'>,
  code: string,
  id: string,
): Promise<void> {
  const [stored] = await store.get(code, [keys.request(id)]);
  if (stored === undefined) return;
  const { result, ...rest } = JSON.parse(stored.value) as RequestDocument;
  if (result === undefined || rest.status !== 'done') return;
  await store.set(code, keys.request(id), JSON.stringify(rest), stored.version);
}
