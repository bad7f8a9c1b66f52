/** Reads a side's log from where a client stands, and makes events of what the entries name. */
import type { JsonObject, JsonValue } from '../../index.ts';
import {
  type CallDocument,
  keys,
  type LogRecord,
  logKeep,
  type RequestDocument,
  type SessionDocument,
  type Side,
  type ToolsDocument,
  type ToolsRecord,
} from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { readTools } from '../tools/tools-document.ts';
import type { StreamEvent } from './ports.ts';
import { describeUpdate, foldUpdates } from './tool-updates.ts';

/** A place in a log, moved by reading. One reads at a time. */
export interface LogReader {
  /**
   * The events after the place, until there are no more. Each is made only when the one before was
   * taken, and the place moves behind an event only when the next one is asked for: what was
   * refused, or could not be read, comes again.
   */
  next(): AsyncGenerator<StreamEvent, void>;
  /** Wakes may have been lost: what is read next may have been there for longer than it seems. */
  markStale(): void;
  /**
   * Writes down how far the side was told, for whoever connects next without a place of its own. It
   * never goes back. @param upTo the id of the last event taken; by default the place
   */
  remember(upTo?: number): Promise<void>;
}

/** Who reads. */
export interface LogReading {
  readonly store: RelayStore;
  readonly code: string;
  readonly side: Side;
  /** The last event that the client has; undefined: what the side was not told yet. */
  readonly after: number | undefined;
  /** Milliseconds between two reads within which an entry is known to be new. */
  readonly newWithinMs: number;
  /**
   * The data of a `tool-request`; undefined where there is nothing to deliver.
   * @param isNew whether it was asked for while this reader listened, and a moment ago: whoever
   * waits for it is still there
   */
  deliver(id: string, attempt: number, isNew: () => boolean): Promise<JsonObject | undefined>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Most changes of tools that are told one by one to a client that comes. */
const mostUpdates = 100;
/**
 * Milliseconds from the beginning of a read within which what it found is new. What takes longer
 * has waited for a store that was away, and the caller may have given up meanwhile.
 */
const momentMs = 500;
/** Others may write down their place at the same time. */
const mostTries = 3;

interface Read {
  readonly id: number;
  readonly record: LogRecord;
}

/** Stands at the client's place. */
export async function openLogReader({
  store,
  code,
  side,
  after,
  newWithinMs,
  deliver,
  now,
}: LogReading): Promise<LogReader> {
  const cursor = keys.cursor(side);
  const readCursor = async (): Promise<{ readonly place: number; readonly version: number }> => {
    const [stored] = await store.get(code, [cursor]);
    return stored === undefined
      ? { place: 0, version: 0 }
      : { place: Number(stored.value), version: stored.version };
  };
  const { place: told } = await readCursor();
  let remembered = told;
  // Without a place of its own, an application gets every call that is still open, and what else it
  // was not told.
  const isFresh = after === undefined;
  let place = after ?? (side === 'application' ? 0 : told);
  /** Changes of tools up to here are known to the client. */
  let known = isFresh ? told : 0;
  let catchingUp = true;
  let readAt = Number.NEGATIVE_INFINITY;
  let doubted = false;
  /** As last read, while events are made of it. */
  let tools: ToolsDocument | undefined;

  const update = async (id: number, record: ToolsRecord): Promise<StreamEvent | undefined> => {
    const [session] = await store.get(code, [keys.session]);
    if (session === undefined) return undefined;
    const { toolsRevision } = JSON.parse(session.value) as SessionDocument;
    // Of many changes that are told one after the other, each would read all definitions again.
    if (tools === undefined || tools.revision < toolsRevision)
      tools = (await readTools(store, code))?.document;
    return { id, event: 'tool-availability-update', data: describeUpdate(code, record, tools) };
  };
  const eventOf = async (
    { id, record }: Read,
    isNew: () => boolean,
  ): Promise<StreamEvent | undefined> => {
    if (record.kind === 'tools') return id <= known ? undefined : update(id, record);
    if (record.kind === 'call') {
      const data = await deliver(record.id, record.attempt, isNew);
      return data && { id, event: 'tool-request', data };
    }
    if (record.kind === 'cancel')
      return isFresh && catchingUp
        ? undefined
        : { id, event: 'tool-cancel', data: { requestId: record.id, reason: record.reason } };
    if (record.kind === 'approval') {
      const { approvalId, id: requestId, title, message, risk } = record;
      return {
        id,
        event: 'approval-required',
        data: { approvalId, requestId, title, ...(message && { message }), ...(risk && { risk }) },
      };
    }
    const [stored] = await store.get(code, [keys.request(record.id)]);
    const { result } = stored === undefined ? {} : (JSON.parse(stored.value) as RequestDocument);
    return (
      result && {
        id,
        event: 'tool-result',
        data: { requestId: record.id, result: result as unknown as JsonValue },
      }
    );
  };
  /** Calls that have an answer by now are not looked at one by one. */
  const openOnly = async (reads: readonly Read[]): Promise<readonly Read[]> => {
    const calls = reads.filter(({ record }) => record.kind === 'call');
    if (calls.length < 2) return reads;
    const stored = await store.get(
      code,
      calls.map(({ record }) => keys.call((record as { id: string }).id)),
    );
    const done = new Set(calls.filter((_, index) => isDone(stored[index]?.value)));
    return reads.filter((read) => !done.has(read));
  };
  const remember: LogReader['remember'] = async (upTo = place) => {
    for (let tries = 0; upTo > remembered && tries < mostTries; tries++) {
      const there = await readCursor();
      if (
        there.place >= upTo ||
        (await store.set(code, cursor, String(upTo), there.version)) !== undefined
      )
        remembered = upTo;
    }
  };

  return {
    async *next() {
      for (;;) {
        const time = performance.now();
        const wasDoubted = doubted;
        doubted = false;
        const { entries, first, last } = await store.read(code, side, place, logKeep);
        const cameWhileListening =
          !catchingUp && !wasDoubted && !doubted && time - readAt <= newWithinMs;
        const isNew = (): boolean => cameWhileListening && performance.now() - time <= momentMs;
        let tells = false;
        // A place in no log of this session, or one whose followers are gone: everything is told
        // anew.
        const from = Math.max(place, isFresh ? told : 0);
        if (from > last || first > from + 1) {
          const id = from > last ? last : first - 1;
          const event = await update(id, {
            kind: 'tools',
            added: [],
            removed: [],
            modified: [],
            reason: 'resync',
            at: now(),
            all: true,
          });
          // The session is gone.
          if (event === undefined) return;
          yield event;
          place = id;
          known = last;
        }
        const reads = entries.map(
          ({ id, value }): Read => ({ id, record: JSON.parse(value) as LogRecord }),
        );
        const updates = reads.filter(({ id, record }) => record.kind === 'tools' && id > known);
        // Told while nobody listened: too many are told as one, in the place of the first.
        const folds = catchingUp && updates.length > mostUpdates;
        for (const read of await openOnly(reads)) {
          const isFold = folds && read === updates[0];
          const event = isFold
            ? await update(read.id, foldUpdates(updates.map(({ record }) => record as ToolsRecord)))
            : await eventOf(read, isNew);
          if (event !== undefined) yield event;
          place = read.id;
          if (isFold) known = updates.at(-1)?.id ?? known;
          tells ||= event?.event === 'tool-availability-update';
        }
        place = entries.at(-1)?.id ?? place;
        catchingUp = false;
        readAt = time;
        tools = undefined;
        // A change of tools is told once to whoever has no place of its own.
        // Where it cannot be written, it is told twice.
        if (tells) await remember().catch(() => {});
        if (entries.length < logKeep) return;
      }
    },
    markStale() {
      doubted = true;
    },
    remember,
  };
}

function isDone(value: string | undefined): boolean {
  return value === undefined || (JSON.parse(value) as CallDocument).state !== 'open';
}
