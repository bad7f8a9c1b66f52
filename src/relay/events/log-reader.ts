/** Reads a side's log from the place that a client has reached, as events. */
import { keys, type LogRecord, logKeep, type Side, type ToolsRecord } from '../ports/documents.ts';
import type { LogEntry, RelayStore } from '../ports/store.ts';
import {
  type EventLookup,
  eventOf,
  type LogRead,
  updateEvent,
  withoutDoneCalls,
} from './log-events.ts';
import type { StreamEvent } from './ports.ts';
import { foldUpdates } from './tool-updates.ts';

/** A place in a log, moved by reading. Only one reads at a time. */
export interface LogReader {
  /**
   * The events after the place, until there are no more. Each is made only when the one before was
   * taken, and the place moves past an event only when the next one is asked for. So an event that
   * was not taken, or could not be read, comes again.
   */
  next(): AsyncGenerator<StreamEvent, void>;
  /** Wakes may have been lost, so entries that are read next may be older than they seem. */
  markStale(): void;
  /**
   * Writes down how far the side has read, for a later client without a place of its own. This never
   * goes back. @param upTo the id of the last event taken; by default the place
   */
  remember(upTo?: number): Promise<void>;
}

/** Who reads, and from where. */
export interface LogReading {
  readonly store: RelayStore;
  readonly code: string;
  readonly side: Side;
  /** The last event that the client has; undefined: begin with what the side has not read yet. */
  readonly after: number | undefined;
  /** Milliseconds between two readings within which an entry is known to be new. */
  readonly newWithinMs: number;
  readonly deliver: EventLookup['deliver'];
  /** Epoch milliseconds. */
  now(): number;
}

/** Most changes of tools that a client gets one by one when it connects. */
const mostUpdates = 100;
/**
 * Milliseconds from the start of a read within which what it found is new. A read that takes longer
 * waited for a store that was away, and the caller may have given up meanwhile.
 */
const momentMs = 500;
/** Other connections may write down their place at the same time. */
const mostTries = 3;

/** How far a reader is. */
interface Progress {
  readonly reading: LogReading;
  readonly lookup: EventLookup;
  /** The place that was written down when the reader opened. */
  readonly told: number;
  /** The client has no place of its own. */
  readonly isFresh: boolean;
  place: number;
  /** The client knows the changes of tools up to this entry. */
  known: number;
  /** The last place that is known to be written down. */
  remembered: number;
  /** Nothing was read to the end yet. */
  catchingUp: boolean;
  /** When it was last read, on the clock of `performance.now()`. */
  readAt: number;
  stale: boolean;
}

/** Opens a reader at the client's place. */
export async function openLogReader(reading: LogReading): Promise<LogReader> {
  const { store, code, side, after, deliver } = reading;
  const { place: told } = await readCursor(reading);
  const isFresh = after === undefined;
  const progress: Progress = {
    reading,
    lookup: { store, code, deliver, tools: undefined },
    told,
    isFresh,
    // An application without a place of its own gets every call that is still open, and everything
    // else that the side has not read.
    place: after ?? (side === 'application' ? 0 : told),
    known: isFresh ? told : 0,
    remembered: told,
    catchingUp: true,
    readAt: Number.NEGATIVE_INFINITY,
    stale: false,
  };
  return {
    next: () => readAll(progress),
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
    const { entries, first, last } = await store.read(code, side, progress.place, logKeep);
    const cameWhileListening =
      !progress.catchingUp && !wasStale && !progress.stale && time - progress.readAt <= newWithinMs;
    const isNew = (): boolean => cameWhileListening && performance.now() - time <= momentMs;
    const resync = resyncFrom(progress, first, last);
    if (resync !== undefined) {
      const event = await updateEvent(progress.lookup, resync, everythingNow(progress));
      // The session is gone.
      if (event === undefined) return;
      yield event;
      progress.place = resync;
      progress.known = last;
    }
    const tells = yield* readEntries(progress, entries, isNew);
    progress.place = entries.at(-1)?.id ?? progress.place;
    progress.catchingUp = false;
    progress.readAt = time;
    progress.lookup.tools = undefined;
    // A client without a place of its own gets a change of tools once. If the place cannot be
    // written down, it gets the change twice.
    if (tells) await remember(progress).catch(() => {});
    if (entries.length < logKeep) return;
  }
}

/**
 * The entry after which to go on when a client's place is in no log of this session, or when the
 * entries after it were dropped. The client then gets all tools again. Else undefined.
 */
function resyncFrom(
  { place, isFresh, told }: Progress,
  first: number,
  last: number,
): number | undefined {
  const from = Math.max(place, isFresh ? told : 0);
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

/** @returns whether a change of tools was among the events */
async function* readEntries(
  progress: Progress,
  entries: readonly LogEntry[],
  isNew: () => boolean,
): AsyncGenerator<StreamEvent, boolean> {
  const { lookup, catchingUp } = progress;
  const reads = entries.map(
    ({ id, value }): LogRead => ({ id, record: JSON.parse(value) as LogRecord }),
  );
  const updates = reads.filter(({ id, record }) => record.kind === 'tools' && id > progress.known);
  // Too many changes that came while nobody listened become one event, in place of the first.
  const folds = catchingUp && updates.length > mostUpdates;
  let tells = false;
  for (const read of await withoutDoneCalls(lookup, reads)) {
    const isFold = folds && read === updates[0];
    const event = isFold
      ? await updateEvent(
          lookup,
          read.id,
          foldUpdates(updates.map(({ record }) => record as ToolsRecord)),
        )
      : isSkipped(progress, read)
        ? undefined
        : await eventOf(lookup, read, isNew);
    if (event !== undefined) yield event;
    progress.place = read.id;
    if (isFold) progress.known = updates.at(-1)?.id ?? progress.known;
    tells ||= event?.event === 'tool-availability-update';
  }
  return tells;
}

/** True for a change that the client knows, and for the end of a call that it never got. */
function isSkipped({ known, isFresh, catchingUp }: Progress, { id, record }: LogRead): boolean {
  if (record.kind === 'tools') return id <= known;
  return record.kind === 'cancel' && isFresh && catchingUp;
}

async function remember(progress: Progress, upTo = progress.place): Promise<void> {
  const { store, code, side } = progress.reading;
  for (let tries = 0; upTo > progress.remembered && tries < mostTries; tries++) {
    const there = await readCursor(progress.reading);
    if (
      there.place >= upTo ||
      (await store.set(code, keys.cursor(side), String(upTo), there.version)) !== undefined
    )
      progress.remembered = upTo;
  }
}

async function readCursor({
  store,
  code,
  side,
}: LogReading): Promise<{ readonly place: number; readonly version: number }> {
  const [stored] = await store.get(code, [keys.cursor(side)]);
  return stored === undefined
    ? { place: 0, version: 0 }
    : { place: Number(stored.value), version: stored.version };
}
