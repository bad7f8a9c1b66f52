/**
 * The documents of agents' requests. Only the node that has the current version of a document can
 * write it, so a node that was wrongly considered dead overwrites nothing.
 */
import type { ToolResult } from '../../../core.ts';
import { keys, type LogRecord, logKeep, type RequestDocument } from '../ports/documents.ts';
import type { DueItem } from '../ports/store.ts';
import type { StoreOp } from '../ports/store-ops.ts';
import type { StoredValue } from '../ports/stored.ts';
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
    ending: StoreOp | undefined,
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
export function requestIn(stored: StoredValue | undefined): FoundRequest | undefined {
  return (
    stored && { document: JSON.parse(stored.value) as RequestDocument, version: stored.version }
  );
}

/** The state of the documents of a node. */
interface Kept extends Change {
  readonly results: ResultCounts;
  /** Scheduled looks that are no longer needed. */
  readonly done: DueItem[];
  /** Looks that could not be scheduled yet. */
  readonly missing: Set<DueItem>;
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
    find: async (code, id) => requestIn((await store.get(code, [keys.request(id)]))[0]),
    write: (code, id, document, version) =>
      store.set(code, keys.request(id), JSON.stringify(document), version),
    finish: (code, id, found, result, ending) => finish(kept, code, id, found, result, ending),
    release: (code, id) => void kept.done.push({ session: code, key: id }),
    async flush() {
      for (const item of kept.missing) {
        await store.schedule(item.session, item.key, 0);
        kept.missing.delete(item);
      }
      await unscheduleDone(kept);
    },
  };
}

/** Items that cannot be removed now are kept. The one that failed comes last next time. */
async function unscheduleDone({ settings: { store }, done }: Kept): Promise<void> {
  const items = done.splice(0);
  for (let item = items.shift(); item !== undefined; item = items.shift())
    try {
      await store.unschedule(item.session, item.key);
    } catch (error) {
      done.push(...items, item);
      throw error;
    }
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
  const ops: readonly StoreOp[] = [
    ...countedFirst(use),
    { op: 'set', key: keys.request(id), value: JSON.stringify(document), version: 0 },
  ];
  const applied = await store.apply(code, ops);
  if (applied.results !== undefined)
    return {
      version: applied.results.at(-1) as number,
      scheduled: schedule(kept, { session: code, key: id }, dueMs),
    };
  if (applied.gone) throw sessionNotFound();
  checkUse(use, applied);
  // The id is in use, so nothing was counted. Repeating the same request counts too.
  const counted = use && (await store.apply(code, [use.op]));
  if (counted !== undefined && counted.results === undefined) checkUse(use, counted);
  return undefined;
}

/**
 * Schedules a look at a request. This is sent to the store before all later operations of the
 * request, so that only the answer to the agent waits for it. If the node dies before that, no
 * agent has an answer yet. An agent that asks again has the request taken over.
 */
function schedule(kept: Kept, item: DueItem, dueMs: number): Promise<void> {
  const done = kept.done.splice(0);
  const scheduled = kept.settings.store.schedule(item.session, item.key, dueMs, done);
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
  ending: StoreOp | undefined,
): Promise<false | { readonly callEnded: boolean }> {
  const { args: _args, node: _node, ...rest } = document;
  const text = JSON.stringify({ ...rest, status: 'done', result } satisfies RequestDocument);
  const record: LogRecord = { kind: 'result', id };
  const ops = [
    { op: 'set', key: keys.request(id), value: text, version },
    { op: 'append', log: 'agent', value: JSON.stringify(record), keep: logKeep },
    ...(ending === undefined ? [] : [ending]),
  ] as const satisfies readonly StoreOp[];
  const applied = await applyAndWake(kept, code, ops, [
    { wake: `request:${id}` },
    { wake: 'log:agent' },
  ]);
  if (applied.results === undefined)
    // If the call has changed, it is ended in a step of its own.
    return applied.refused === 2
      ? finish(kept, code, id, { document, version }, result, undefined)
      : false;
  kept.done.push({ session: code, key: id });
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
      code,
      ids.map((old): StoreOp => ({ op: 'delete', key: keys.request(old) })),
    )
    .catch(() => {});
}
