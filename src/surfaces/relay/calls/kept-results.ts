/** Limits the bytes of the results that a session keeps. The oldest results are removed first. */
import { keys, logKeep, type RequestDocument } from '../ports/documents.ts';
import { documentsOf, type KeptStore, writeDocument } from '../ports/kept-store.ts';
import { busy } from './session-document.ts';

/** A result that was stored, as the JSON of its request. */
export interface StoredResult {
  readonly id: string;
  readonly bytes: number;
  /** The id of its entry in the agent's log. */
  readonly entry: number;
}

/**
 * The size in bytes from which a result counts. Smaller results are limited by their number, and
 * counting them would make every call slower.
 */
export const countedBytes = 16_384;
/** The most tries to store the list. Calls may end on other nodes at the same time. */
const maxTries = 20;

/** A result in the stored list. */
type Kept = readonly [id: string, bytes: number, entry: number];

/** Counts the results of sessions. */
export interface ResultCounts {
  /**
   * Counts a result, and removes the oldest ones while the results of the session have more bytes
   * than it may keep. Their requests stay and are done. The newest result is always kept.
   * @throws RelayError 503 `busy`
   */
  count(code: string, result: StoredResult): Promise<void>;
}

/**
 * Makes the counts of a node. Results of a session that come at the same time are counted together.
 * If they were counted one by one, their writes would make each other fail.
 * @param mostBytes the most bytes of the results of a session
 */
export function createResultCounts(
  store: Pick<KeptStore, 'apply'>,
  maxBytes: number,
): ResultCounts {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Batch>();
  const run = (code: string, results: readonly StoredResult[]): Promise<void> => {
    waiting.delete(code);
    const counting = countResults(store, code, results, maxBytes).finally(() => {
      if (running.get(code) === counting) running.delete(code);
    });
    running.set(code, counting);
    return counting;
  };
  return {
    async count(code, result) {
      if (result.bytes < countedBytes) return;
      const known = waiting.get(code);
      known?.results.push(result);
      if (known !== undefined) return known.counted;
      const results = [result];
      const before = running.get(code)?.catch(() => {});
      const counted =
        before === undefined ? run(code, results) : before.then(() => run(code, results));
      if (before !== undefined) waiting.set(code, { results, counted });
      return counted;
    },
  };
}

/** Results that are counted together next. */
interface Batch {
  readonly results: StoredResult[];
  readonly counted: Promise<void>;
}

async function countResults(
  store: Pick<KeptStore, 'apply'>,
  code: string,
  results: readonly StoredResult[],
  maxBytes: number,
): Promise<void> {
  const added = results.map(({ id, bytes, entry }): Kept => [id, bytes, entry]);
  const newest = Math.max(...results.map(({ entry }) => entry));
  for (let tries = 0; tries < maxTries; tries++) {
    const [stored] = await documentsOf(store, code, [keys.keptResults]);
    const before = stored === undefined ? [] : (JSON.parse(stored.value) as readonly Kept[]);
    // A result without an entry in the log was removed with it.
    const all: readonly Kept[] = [...before, ...added]
      .filter(([, , at]) => at > newest - logKeep)
      .sort(([, , one], [, , other]) => one - other);
    let sum = 0;
    const from = all.findLastIndex(([, size]) => {
      sum += size;
      return sum > maxBytes;
    });
    const left = all.slice(Math.min(from + 1, all.length - 1));
    for (const [old] of all.slice(0, all.length - left.length))
      await removeResult(store, code, old);
    const version = stored?.version ?? 0;
    const value = JSON.stringify(left);
    if ((await writeDocument(store, code, keys.keptResults, value, version)) !== undefined) return;
  }
  throw busy();
}

async function removeResult(
  store: Pick<KeptStore, 'apply'>,
  code: string,
  id: string,
): Promise<void> {
  const [stored] = await documentsOf(store, code, [keys.request(id)]);
  if (stored === undefined) return;
  const { result, ...rest } = JSON.parse(stored.value) as RequestDocument;
  if (result === undefined || rest.status !== 'done') return;
  await writeDocument(store, code, keys.request(id), JSON.stringify(rest), stored.version);
}
