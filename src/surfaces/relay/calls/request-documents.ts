/**
 * The documents of agents' requests. Only the node that has the current version of a document can
 * write it, so a node that was wrongly considered dead overwrites nothing.
 */
import type { ToolResult } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { keys, type LogRecord, logKeep, type RequestDocument } from '../ports/documents.ts';
import { documentsOf, writeDocument } from '../ports/kept-store.ts';
import { sessionNotFound } from '../relay-error.ts';
import { applyAndWake, type Change } from './apply-and-wake.ts';
import { gather } from './dropped.ts';
import { countedBytes, createResultCounts, type ResultCounts } from './kept-results.ts';
import { checkUse, countedFirst, type Use } from './usage.ts';

/** A document, and the version that the next write has to name. */
export interface FoundRequest {
  readonly document: RequestDocument;
  readonly version: number;
}

/** A request that was stored. */
export interface StoredRequest {
  readonly version: number;
  /**
   * Resolves when a later look at the request is scheduled. Rejects when the store does; the look
   * is then scheduled later.
   */
  readonly scheduled: Promise<void>;
}

/** Reads and writes the documents of requests. */
export interface RequestDocuments {
  /**
   * Stores a request and schedules a later look at it.
   * @param use counted first, in the same step
   * @throws the refusal of the use, and 404 for an unknown session
   * @returns undefined if the id is already in use
   */
  create(
    code: string,
    id: string,
    document: RequestDocument,
    dueMs: number,
    use: Use | undefined,
  ): Promise<StoredRequest | undefined>;
  find(code: string, id: string): Promise<FoundRequest | undefined>;
  /**
   * Writes a document.
   * @returns the new version; undefined if another node has taken over the request
   */
  write(
    code: string,
    id: string,
    document: RequestDocument,
    version: number,
  ): Promise<number | undefined>;
  /**
   * Stores the result and announces it in the agent's log.
   * @param ending the operation that ends the request's call in the same step, if one is enough
   * @returns false if another node has taken over the request; otherwise whether the call has ended
   */
  finish(
    code: string,
    id: string,
    found: FoundRequest,
    result: ToolResult,
    ending: Store.Operation | undefined,
  ): Promise<false | { readonly callEnded: boolean }>;
  /** Removes the scheduled looks at a request, some time later. */
  release(code: string, id: string): void;
  /**
   * Removes the looks that {@link release} has left, and schedules those that could not be
   * scheduled before.
   */
  flush(): Promise<void>;
}

/** Reads a request from a stored value. */
export function requestIn(stored: Store.Document | undefined): FoundRequest | undefined {
  return (
    stored && { document: JSON.parse(stored.value) as RequestDocument, version: stored.version }
  );
}

/** The most items that a store schedules or removes in one step. */
const atOnce = 1_000;

/** The state of the documents of a node. */
interface Kept extends Change {
  readonly results: ResultCounts;
  /** Scheduled looks that are no longer needed. */
  readonly done: Store.Item[];
  /** Looks that could not be scheduled yet. */
  readonly missing: Set<Store.Item>;
  /** Requests whose entries were dropped from the log, by the code of their session. */
  readonly dropped: Map<string, string[]>;
}

/**
 * Makes the documents of requests. Each method rejects when the store does.
 * @param mostBytes the most bytes of the results of a session
 */
export function createRequestDocuments(change: Change, maxBytes: number): RequestDocuments {
  const { store } = change.settings;
  const results = createResultCounts(store, maxBytes);
  const kept: Kept = { ...change, results, done: [], missing: new Set(), dropped: new Map() };
  return {
    create: (code, id, document, dueMs, use) => create(kept, code, id, document, dueMs, use),
    find: async (code, id) => requestIn((await documentsOf(store, code, [keys.request(id)]))[0]),
    write: (code, id, document, version) =>
      writeDocument(store, code, keys.request(id), JSON.stringify(document), version),
    finish: (code, id, found, result, ending) => finish(kept, code, id, found, result, ending),
    release: (code, id) => void kept.done.push({ owner: code, key: id }),
    async flush() {
      const done = kept.done.splice(0, atOnce);
      const missing = [...kept.missing].slice(0, atOnce);
      if (done.length + missing.length === 0) return;
      try {
        await store.schedule(missing, 0, done);
      } catch (error) {
        kept.done.push(...done);
        throw error;
      }
      for (const item of missing) kept.missing.delete(item);
    },
  };
}

async function create(
  kept: Kept,
  code: string,
  id: string,
  document: RequestDocument,
  dueMs: number,
  use: Use | undefined,
): Promise<StoredRequest | undefined> {
  const { store } = kept.settings;
  const ops: readonly Store.Operation[] = [
    ...countedFirst(use),
    { op: 'set', key: keys.request(id), value: JSON.stringify(document), version: 0 },
  ];
  const applied = await store.apply({ session: code }, ops);
  if (applied.results !== undefined)
    return {
      version: applied.results.at(-1) as number,
      scheduled: schedule(kept, { owner: code, key: id }, dueMs),
    };
  if (applied.gone) throw sessionNotFound();
  checkUse(use, applied);
  // The id is in use, so nothing was counted. Repeating the same request counts too.
  const counted = use && (await store.apply({ session: code }, [use.op]));
  if (counted !== undefined && counted.results === undefined) checkUse(use, counted);
  return undefined;
}

/**
 * Schedules a look at a request. This is sent to the store before all later operations of the
 * request, so that only the answer to the agent waits for it. If the node dies before that, no
 * agent has an answer yet. An agent that asks again has the request taken over.
 */
function schedule(kept: Kept, item: Store.Item, dueMs: number): Promise<void> {
  const done = kept.done.splice(0, atOnce);
  const scheduled = kept.settings.store.schedule([item], dueMs, done);
  scheduled.catch(() => {
    kept.missing.add(item);
    kept.done.push(...done);
  });
  return scheduled;
}

async function finish(
  kept: Kept,
  code: string,
  id: string,
  { document, version }: FoundRequest,
  result: ToolResult,
  ending: Store.Operation | undefined,
): Promise<false | { readonly callEnded: boolean }> {
  const { args: _args, node: _node, ...rest } = document;
  const text = JSON.stringify({ ...rest, status: 'done', result } satisfies RequestDocument);
  const record: LogRecord = { kind: 'result', id };
  const ops = [
    { op: 'set', key: keys.request(id), value: text, version },
    { op: 'append', log: 'agent', value: JSON.stringify(record), keep: logKeep },
    ...(ending === undefined ? [] : [ending]),
  ] as const satisfies readonly Store.Operation[];
  const applied = await applyAndWake(kept, code, ops, [
    { wake: `request:${id}` },
    { wake: 'log:agent' },
  ]);
  if (applied.results === undefined)
    // If the call has changed, it is ended in a step of its own.
    return applied.refused === 2
      ? finish(kept, code, id, { document, version }, result, undefined)
      : false;
  kept.done.push({ owner: code, key: id });
  removeDropped(kept, code, applied.results[1].dropped);
  if (text.length * 3 >= countedBytes) {
    const counted = { id, bytes: Buffer.byteLength(text), entry: applied.results[1].id };
    await kept.results.count(code, counted).catch(() => {});
  }
  return { callEnded: ending !== undefined };
}

/**
 * Removes requests whose entries were dropped from the log, because a result is kept as long as its
 * entry.
 */
function removeDropped(
  { settings: { store }, dropped }: Kept,
  code: string,
  values: readonly string[],
): void {
  const ids = gather(dropped, code, values, 'result');
  if (ids === undefined) return;
  // Requests that cannot be removed now are removed with the session.
  store
    .apply(
      { session: code },
      ids.map((old): Store.Operation => ({ op: 'delete', key: keys.request(old) })),
    )
    .catch(() => {});
}
