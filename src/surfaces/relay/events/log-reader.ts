/** Reads a side's log as events, from the place that a client has reached. */
import type { Store } from '../../../extend.ts';
import { momentMs, type Offer, type Taken } from '../calls/call-delivery.ts';
import { findCall } from '../calls/call-documents.ts';
import { keys, type LogRecord, logKeep, type Side, type ToolsRecord } from '../ports/documents.ts';
import { documentsOf, type KeptStore, writeDocument } from '../ports/kept-store.ts';
import {
  type EventLookup,
  eventOf,
  type LogRead,
  updateEvent,
  withoutDoneCalls,
} from './log-events.ts';
import type { StreamEvent } from './ports.ts';
import { foldUpdates } from './tool-updates.ts';

/** A place in a log that moves as events are read. Reads must not overlap. */
export interface LogReader {
  /**
   * Yields the events after the place until the end of the log. Each event is made only after the
   * previous one was taken, and the place moves past an event only when the next one is requested.
   * So an event that was not taken, or could not be read, is delivered again.
   */
  next(): AsyncGenerator<StreamEvent, void>;
  /** Notes a new call that a message has offered, so that the next read takes it in one step. */
  offer(offer: Offer): void;
  /** Notes that wake-ups may have been lost. The next entries may then be older than they seem. */
  markStale(): void;
  /**
   * Stores how far the side has read, for a later client without a place of its own. The stored
   * place never moves back.
   * @param upTo the id of the last event taken; by default the place
   */
  remember(upTo?: number): Promise<void>;
}

/** The client that reads, and its starting place. */
export interface LogReading {
  readonly store: KeptStore;
  readonly code: string;
  readonly side: Side;
  /**
   * The id of the last event that the client has. If undefined, the reader starts with the entries
   * that the side has not read yet.
   */
  readonly after: number | undefined;
  /**
   * If two reads are at most this many milliseconds apart, the entries of the second are known to
   * be new.
   */
  readonly newWithinMs: number;
  readonly deliver: EventLookup['deliver'];
  /**
   * Reads the log after a place and claims the offered calls, in one step. Resolves to undefined if
   * the step was refused. Absent if the side takes no calls.
   */
  readonly take?:
    | ((offers: readonly Offer[], after: number) => Promise<Taken | undefined>)
    | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** The most changes of tools that a client gets one by one when it connects. */
const maxUpdates = 100;
/**
 * The most offers that wait for the next read. Further offers are not lost, since the log has all
 * calls.
 */
const maxOffers = 16;
/** The most tries to store the place. Other connections may store theirs at the same time. */
const maxTries = 3;

/** The state of a reader. */
interface Progress {
  readonly reading: LogReading;
  readonly lookup: EventLookup;
  /** The place that was stored when the reader opened. */
  readonly storedPlace: number;
  /** Whether the client has no place of its own. */
  readonly isFresh: boolean;
  place: number;
  /** The client knows the changes of tools up to this entry. */
  known: number;
  /** The last place that is known to be stored. */
  remembered: number;
  /** True until the first read is complete. */
  catchingUp: boolean;
  /** When the log was last read, on the clock of `performance.now()`. */
  readAt: number;
  stale: boolean;
  offers: Offer[];
}

/** Opens a reader at the client's place. */
export async function openLogReader(reading: LogReading): Promise<LogReader> {
  const { store, code, side, after, deliver } = reading;
  const { place: storedPlace } = await readCursor(reading);
  const isFresh = after === undefined;
  const progress: Progress = {
    reading,
    lookup: { store, code, side, deliver, tools: undefined },
    storedPlace,
    isFresh,
    // An application without a place of its own gets every call that is still open, and everything
    // else that the side has not read.
    place: after ?? (side === 'application' ? 0 : storedPlace),
    known: isFresh ? storedPlace : 0,
    remembered: storedPlace,
    catchingUp: true,
    readAt: Number.NEGATIVE_INFINITY,
    stale: false,
    offers: [],
  };
  return {
    next: () => readAll(progress),
    offer(offer) {
      if (progress.offers.length < maxOffers) progress.offers.push(offer);
    },
    markStale() {
      progress.stale = true;
    },
    remember: (upTo) => remember(progress, upTo),
  };
}

async function* readAll(progress: Progress): AsyncGenerator<StreamEvent, void> {
  const { store, code, side, newWithinMs } = progress.reading;
  for (;;) {
    const time = performance.now();
    const wasStale = progress.stale;
    progress.stale = false;
    const offers = progress.offers.splice(0);
    const taken =
      offers.length > 0 ? await progress.reading.take?.(offers, progress.place) : undefined;
    const { entries, first, last } =
      taken?.page ?? (await readLog(store, code, side, progress.place));
    const cameWhileListening =
      !progress.catchingUp && !wasStale && !progress.stale && time - progress.readAt <= newWithinMs;
    const isRecent = (): boolean => performance.now() - time <= momentMs;
    const isNew = (): boolean => cameWhileListening && isRecent();
    const resync = resyncFrom(progress, first, last);
    if (resync !== undefined) {
      const event = await updateEvent(progress.lookup, resync, everythingNow(progress), last);
      // The session is gone.
      if (event === undefined) return;
      yield event;
      progress.place = resync;
      progress.known = last;
    }
    const toolsChanged = yield* readEntries(progress, entries, {
      isNew,
      isRecent,
      claimed: taken?.claimed ?? noneClaimed,
    });
    progress.place = entries.at(-1)?.id ?? progress.place;
    progress.catchingUp = false;
    progress.readAt = time;
    progress.lookup.tools = undefined;
    // A client without a place of its own gets a change of tools once. If the place cannot be
    // stored, it gets the change twice.
    if (toolsChanged) await remember(progress).catch(() => {});
    if (entries.length < logKeep) return;
  }
}

/**
 * Finds the entry after which to continue if a client's place is not in this session's log, or if
 * the entries after it were dropped. The client then gets all tools again. Otherwise undefined.
 */
function resyncFrom(
  { place, isFresh, storedPlace }: Progress,
  first: number,
  last: number,
): number | undefined {
  const from = Math.max(place, isFresh ? storedPlace : 0);
  if (from > last) return last;
  return first > from + 1 ? first - 1 : undefined;
}

function everythingNow({ reading }: Progress): ToolsRecord {
  return {
    kind: 'tools',
    added: [],
    removed: [],
    modified: [],
    reason: 'resync',
    at: reading.now(),
    all: true,
  };
}

/** What is known about the calls of one read. */
interface ReadCalls {
  readonly isNew: () => boolean;
  /** Whether the log was read a moment ago. */
  readonly isRecent: () => boolean;
  readonly claimed: Taken['claimed'];
}
const noneClaimed: Taken['claimed'] = new Map();

/** Yields the events of entries. @returns whether a change of tools was among them */
async function* readEntries(
  progress: Progress,
  entries: readonly Store.Entry[],
  calls: ReadCalls,
): AsyncGenerator<StreamEvent, boolean> {
  const { lookup, catchingUp } = progress;
  const reads = entries.map(
    ({ id, value }): LogRead => ({ id, record: JSON.parse(value) as LogRecord }),
  );
  const updates = reads.filter(({ id, record }) => record.kind === 'tools' && id > progress.known);
  // If too many changes happened while the client did not listen, they become one event in the
  // place of the first.
  const folds = catchingUp && updates.length > maxUpdates;
  let toolsChanged = false;
  for (const read of await withoutDoneCalls(lookup, reads, calls.claimed)) {
    const isFold = folds && read === updates[0];
    const event = isFold
      ? await updateEvent(
          lookup,
          read.id,
          foldUpdates(updates.map(({ record }) => record as ToolsRecord)),
          updates.at(-1)?.id,
        )
      : isSkipped(progress, read)
        ? undefined
        : await eventOfRead(progress, read, calls);
    if (event !== undefined) yield event;
    progress.place = read.id;
    if (isFold) progress.known = updates.at(-1)?.id ?? progress.known;
    toolsChanged ||= event?.event === 'tool-availability-update';
  }
  return toolsChanged;
}

/**
 * Makes the event of an entry. A call that this client has already claimed needs no further
 * delivery. But if the client has been slow to read since then, the caller may have given up, so
 * the call is read again.
 */
async function eventOfRead(
  progress: Progress,
  read: LogRead,
  { isNew, isRecent, claimed }: ReadCalls,
): Promise<StreamEvent | undefined> {
  const { id, record } = read;
  const data = record.kind === 'call' && record.attempt === 1 ? claimed.get(record.id) : undefined;
  if (record.kind !== 'call' || data === undefined) return eventOf(progress.lookup, read, isNew);
  if (!isRecent() && !(await isStillOwed(progress, record.id))) return undefined;
  return { id, event: 'tool-request', data };
}

/**
 * Whether a call that this client has claimed is still open and was not delivered to another one.
 */
async function isStillOwed({ reading }: Progress, id: string): Promise<boolean> {
  const { store, code, now } = reading;
  const document = (await findCall(store, code, id))?.document;
  return document?.state === 'open' && document.attempt === 1 && document.deadline > now();
}

/**
 * True for a change that the client already knows, and for the end of a call that it never
 * received.
 */
function isSkipped({ known, isFresh, catchingUp }: Progress, { id, record }: LogRead): boolean {
  if (record.kind === 'tools') return id <= known;
  return record.kind === 'cancel' && isFresh && catchingUp;
}

async function readLog(
  store: KeptStore,
  code: string,
  log: Side,
  after: number,
): Promise<Store.Page> {
  const read = { op: 'read', log, after, limit: logKeep } as const;
  const { results } = await store.apply({ session: code }, [read]);
  return results?.[0] ?? { entries: [], first: 0, last: 0 };
}

async function remember(progress: Progress, upTo = progress.place): Promise<void> {
  const { store, code, side } = progress.reading;
  for (let tries = 0; upTo > progress.remembered && tries < maxTries; tries++) {
    const there = await readCursor(progress.reading);
    if (
      there.place >= upTo ||
      (await writeDocument(store, code, keys.cursor(side), String(upTo), there.version)) !==
        undefined
    )
      progress.remembered = upTo;
  }
}

async function readCursor({
  store,
  code,
  side,
}: LogReading): Promise<{ readonly place: number; readonly version: number }> {
  const [stored] = await documentsOf(store, code, [keys.cursor(side)]);
  return stored === undefined
    ? { place: 0, version: 0 }
    : { place: Number(stored.value), version: stored.version };
}
