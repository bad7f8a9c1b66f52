/**
 * Makes events from the entries of a log. An entry names what happened; the documents hold the
 * data.
 */
import type { JsonObject, JsonValue, ToolResult } from '../../../core.ts';
import { nextTurn } from '../../../values/limits/stretches.ts';
import { unkeptResult } from '../calls/lost-result.ts';
import {
  type CallDocument,
  keys,
  type LogRecord,
  type RequestDocument,
  type SessionDocument,
  type Side,
  type ToolsDocument,
  type ToolsRecord,
} from '../ports/documents.ts';
import { documentsOf, type KeptStore } from '../ports/kept-store.ts';
import { readTools } from '../tools/tools-document.ts';
import type { StreamEvent } from './ports.ts';
import { describeUpdate } from './tool-updates.ts';

/** An entry of a log. */
export interface LogRead {
  readonly id: number;
  readonly record: LogRecord;
}

/** Where the data of events is looked up. */
export interface EventLookup {
  readonly store: KeptStore;
  readonly code: string;
  /** The side whose log is read. */
  readonly side: Side;
  /**
   * Gets the data of a `tool-request`; undefined when there is nothing to deliver.
   * @param isNew whether the call was made a moment ago, while this reader listened, so that its
   * caller still waits
   */
  deliver(id: string, attempt: number, isNew: () => boolean): Promise<JsonObject | undefined>;
  /**
   * The tools as they were last read. They are kept while the entries of one read become events.
   */
  tools: ToolsDocument | undefined;
}

/**
 * Makes the event for a change of tools; undefined when the session is gone.
 * @param upTo the id of the last entry that the change covers
 */
export async function updateEvent(
  lookup: EventLookup,
  id: number,
  record: ToolsRecord,
  upTo = id,
): Promise<StreamEvent | undefined> {
  const { store, code, side } = lookup;
  const [session] = await documentsOf(store, code, [keys.session]);
  if (session === undefined) return undefined;
  const { toolsRevision } = JSON.parse(session.value) as SessionDocument;
  // Connections that read the same entries share the data. It must show the tools as they were
  // after the last of these entries, or later.
  const key = `${code} ${side} ${upTo} ${toolsRevision} ${JSON.stringify(record)}`;
  const data = await updateData(store, key, record, async () => {
    // The tools are kept between events. Otherwise each of several changes in a row would read all
    // definitions again.
    if (lookup.tools === undefined || lookup.tools.revision < toolsRevision)
      lookup.tools = (await readTools(store, code))?.document;
    return describeUpdate(code, record, lookup.tools);
  });
  return { id, event: 'tool-availability-update', data };
}

/** Makes the event for an entry; undefined when the entry is obsolete. */
export async function eventOf(
  lookup: EventLookup,
  { id, record }: LogRead,
  isNew: () => boolean,
): Promise<StreamEvent | undefined> {
  if (record.kind === 'tools') return updateEvent(lookup, id, record);
  if (record.kind === 'call') {
    const data = await lookup.deliver(record.id, record.attempt, isNew);
    return data && { id, event: 'tool-request', data };
  }
  if (record.kind === 'cancel')
    return { id, event: 'tool-cancel', data: { requestId: record.id, reason: record.reason } };
  if (record.kind === 'approval') {
    const { approvalId, id: requestId, title, message, risk } = record;
    return {
      id,
      event: 'approval-required',
      data: { approvalId, requestId, title, ...(message && { message }), ...(risk && { risk }) },
    };
  }
  const [stored] = await documentsOf(lookup.store, lookup.code, [keys.request(record.id)]);
  const document = stored && (JSON.parse(stored.value) as RequestDocument);
  const result = document && resultOf(record.id, document);
  return (
    result && {
      id,
      event: 'tool-result',
      data: { requestId: record.id, result: result as unknown as JsonValue },
    }
  );
}

/**
 * Gets the result of a request. If it is no longer kept, an agent that waits for it must still
 * learn that its call is done.
 */
function resultOf(id: string, { result, status, tool }: RequestDocument): ToolResult | undefined {
  return result ?? (status === 'done' ? unkeptResult(id, tool, 0) : undefined);
}

/**
 * Removes entries of calls that are no longer open. The calls are looked up together.
 * @param claimed calls that are known to be open
 */
export async function withoutDoneCalls(
  { store, code }: EventLookup,
  reads: readonly LogRead[],
  claimed: ReadonlyMap<string, unknown>,
): Promise<readonly LogRead[]> {
  const calls = reads.filter(({ record }) => record.kind === 'call' && !claimed.has(record.id));
  if (calls.length < 2) return reads;
  const stored = await documentsOf(
    store,
    code,
    calls.map(({ record }) => keys.call((record as { id: string }).id)),
  );
  const done = new Set(calls.filter((_, index) => isDone(stored[index]?.value)));
  return reads.filter((read) => !done.has(read));
}

function isDone(value: string | undefined): boolean {
  return value === undefined || (JSON.parse(value) as CallDocument).state !== 'open';
}

// Makes the data of large changes of tools. A thousand agents may listen to a session, and a change
// may take a megabyte. So its data is made once for all of them, and each turn of the event loop
// sends it to one of them.

/** A change with more definitions than this is large. */
const manyTools = 50;
/** How many changes a node keeps, and for how many milliseconds. */
const maxKept = 8;
const keptMs = 1_000;

/** The changes of one node. */
interface Shared {
  /** The oldest change comes first. */
  readonly kept: Map<string, Promise<JsonObject>>;
  /** Resolves at the turn of the last connection that waits for one. */
  turn: Promise<void>;
}

const nodes = new WeakMap<KeptStore, Shared>();

/** Whether a change may carry many definitions. */
function mayBeLarge({ added, modified, all }: ToolsRecord): boolean {
  return all === true || added.length + modified.length > manyTools;
}

/** Whether the data of a change carries many definitions. */
function isLarge({ updates }: JsonObject): boolean {
  const { added, modified } = updates as { readonly [kind: string]: readonly unknown[] };
  return (added?.length ?? 0) + (modified?.length ?? 0) > manyTools;
}

/**
 * Gets the data of a change.
 * @param key the same for connections that can be sent the same data
 * @param make makes the data from the current tools
 */
async function updateData(
  store: KeptStore,
  key: string,
  record: ToolsRecord,
  make: () => Promise<JsonObject>,
): Promise<JsonObject> {
  if (!mayBeLarge(record)) return make();
  let shared = nodes.get(store);
  if (shared === undefined) {
    shared = { kept: new Map(), turn: Promise.resolve() };
    nodes.set(store, shared);
  }
  const { kept } = shared;
  let data = kept.get(key);
  if (data === undefined) {
    data = make();
    keep(kept, key, data);
  }
  const given = await data;
  if (!isLarge(given)) return given;
  shared.turn = shared.turn.then(nextTurn);
  await shared.turn;
  return given;
}

/** Keeps a change for a moment, or until it turns out to be small. */
function keep(kept: Shared['kept'], key: string, data: Promise<JsonObject>): void {
  kept.set(key, data);
  const forget = (): void => {
    if (kept.get(key) === data) kept.delete(key);
  };
  data.then(
    (given) => {
      if (!isLarge(given)) forget();
    },
    () => forget(),
  );
  setTimeout(forget, keptMs).unref?.();
  for (const [oldest] of kept) {
    if (kept.size <= maxKept) break;
    kept.delete(oldest);
  }
}
