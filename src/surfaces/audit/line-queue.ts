/** The lines that wait to be written: bounded, in order, and tried again until they are written. */
import { currentScope, inScope } from '../../values/limits/async-scope.ts';
import { nextTurn } from '../../values/limits/stretches.ts';
import type { AuditHead } from './line.ts';
import type { LineWriter, QueuedLine } from './writers.ts';

/** Most lines that wait. */
const maxQueuedLines = 10_000;
/** Most characters that wait. */
const maxQueuedChars = 16 * 1_048_576;
/** With `fsync: "batch"`, written lines are made safe after this time. */
const syncAfterMs = 1_000;
/** The first and the longest pause after a failure. */
const pausesMs = { first: 100, longest: 10_000 };
/** Most lines of one write. */
const batchLines = 1_000;
/** If nothing is written for so long, calls no longer wait for room. */
const turnMs = 1_000;
/** If nothing is written for so long, that is reported like a failure. */
const slowMs = 10_000;

interface Waiting extends QueuedLine {
  readonly head: AuditHead;
  readonly told: ((error: unknown) => void) | undefined;
}

/** Handles accepted lines. */
export interface LineQueue {
  isEmpty(): boolean;
  /** Whether there is room for a line. */
  hasRoom(chars: number): boolean;
  /**
   * If more than half of the room is taken: resolves once there is room for this call. Calls are
   * let in one after another. Undefined otherwise, and while nothing can be written.
   */
  moreRoom(): Promise<void> | undefined;
  /**
   * @param told Called without an error once the line is written, or with an error if that failed.
   */
  add(line: QueuedLine, head: AuditHead, told?: (error: unknown) => void): void;
  /** The position of the last line that was written. */
  head(): AuditHead;
  /** Why the last attempt to write has failed. Undefined if it has not. */
  fault(): Error | undefined;
  /** Resolves once all lines are written and safe; rejects if they cannot be. */
  flush(): Promise<void>;
  /** Flushes, and stops writing. */
  close(): Promise<void>;
  /** Writes what it can at once, because the process ends. */
  writeNow(): void;
  /** Gives up the lines that wait. Returns how many there were. */
  abandon(): number;
}

export interface QueueOptions {
  readonly writer: LineWriter;
  readonly head: AuditHead;
  readonly fsync: 'always' | 'batch';
  /** Called when writing begins to fail, and not again until it has worked. */
  readonly failed: (error: unknown) => void;
  /** Called after lines were written, so that there is room again. It may add a line. */
  readonly emptied: () => void;
}

/**
 * Longer than 60 lines, since its short functions share the lines that wait and the state of the
 * writer.
 */
export function createLineQueue(options: QueueOptions): LineQueue {
  const { writer, head: from, fsync, failed, emptied } = options;
  const scope = currentScope();
  const waiting: Waiting[] = [];
  let chars = 0;
  let head = from;
  let failing = false;
  let pauseMs = pausesMs.first;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let syncing: ReturnType<typeof setTimeout> | undefined;
  let unsafe = false;
  let closed = false;
  let pumping: Promise<unknown> | undefined;
  /** Calls that wait for room, in order. */
  const callers: (() => void)[] = [];
  let patience: ReturnType<typeof setTimeout> | undefined;
  let lettingIn = false;
  /** Calls have waited for room in vain. */
  let stuck = false;

  const isCrowded = (): boolean =>
    waiting.length > maxQueuedLines / 2 || chars > maxQueuedChars / 2;
  const letIn = (most: number): void => {
    clearTimeout(patience);
    patience = undefined;
    for (const go of callers.splice(0, most)) go();
    if (callers.length > 0) waitForTurn();
  };
  const waitForTurn = (): void => {
    const timer = setTimeout(async () => {
      // If this process itself was busy for so long, one more turn of the event loop shows what has
      // been written.
      await nextTurn();
      if (patience === timer) giveUp();
    }, turnMs);
    patience = timer;
  };
  const giveUp = (): void => {
    stuck = true;
    letIn(Number.POSITIVE_INFINITY);
  };
  /** A call that was let in may take long to add its lines, or may add none. */
  const letMoreIn = async (): Promise<void> => {
    if (lettingIn) return;
    for (lettingIn = true; waiting.length === 0 && callers.length > 0; ) {
      await nextTurn();
      if (!isCrowded()) letIn(batchLines);
    }
    lettingIn = false;
  };
  const sync = async (): Promise<void> => {
    clearTimeout(syncing);
    syncing = undefined;
    if (!unsafe) return;
    await writer.sync();
    unsafe = false;
  };
  const writeSome = async (): Promise<void> => {
    const batch = waiting.slice(0, batchLines);
    let written = 0;
    try {
      written = await writer.write(batch);
      unsafe = true;
      if (fsync === 'always') await sync();
    } catch (thrown) {
      // Without an error, a line would count as written. A sink may throw anything.
      const error = thrown ?? new Error('It failed, and gave no error.');
      // Lines that were written but are not safe are not written twice.
      take(written, error);
      for (const { told } of batch.slice(written)) told?.(error);
      throw error;
    }
    take(written, undefined);
  };
  const take = (count: number, error: unknown): void => {
    for (const line of waiting.splice(0, count)) {
      chars -= line.text.length;
      head = line.head;
      line.told?.(error);
    }
    if (count === 0) return;
    stuck = false;
    // No more than were written: calls that were let in before may not have added a line yet.
    if (callers.length > 0) letIn(isCrowded() ? 0 : count);
    if (waiting.length === 0) void letMoreIn();
    emptied();
  };
  /** Writes until nothing waits, or something fails. Returns what failed. */
  const pump = async (): Promise<{ readonly error: unknown } | undefined> => {
    // Lines of one turn are written together.
    await undefined;
    let writes = 0;
    const slow = unref(
      setTimeout(async () => {
        const before = writes;
        await nextTurn();
        if (writes !== before) return;
        if (!failing) failed(new Error(`Nothing was written for ${slowMs / 1_000} s.`));
        failing = true;
      }, slowMs),
    );
    try {
      for (; waiting.length > 0; slow.refresh(), writes++) await writeSome();
      failing = false;
      pauseMs = pausesMs.first;
      if (unsafe) syncing ??= unref(setTimeout(() => void run(true), syncAfterMs));
      return undefined;
    } catch (error) {
      return fail(error);
    } finally {
      clearTimeout(slow);
    }
  };
  const fail = (error: unknown): { readonly error: unknown } => {
    if (!failing) failed(error);
    failing = true;
    letIn(Number.POSITIVE_INFINITY);
    if (!closed) pause ??= unref(setTimeout(() => void run(false), pauseMs));
    pauseMs = Math.min(pauseMs * 2, pausesMs.longest);
    return { error };
  };
  /** Runs once at a time. @param safe Whether to sync at the end. */
  const run = (safe: boolean): Promise<{ readonly error: unknown } | undefined> => {
    clearTimeout(pause);
    pause = undefined;
    const before = pumping;
    const work = async (): Promise<{ readonly error: unknown } | undefined> => {
      await before;
      const fault = await pump();
      if (fault !== undefined || !safe) return fault;
      try {
        await sync();
        return undefined;
      } catch (error) {
        return fail(error);
      }
    };
    // The lines of several calls are written together, so the sink runs where the log was made.
    const now = inScope(scope, work).finally(() => {
      if (pumping !== now) return;
      pumping = undefined;
      // A line that arrived after the last check, such as during a sync, has not started its own
      // run.
      if (waiting.length > 0 && pause === undefined && !closed) void run(false);
    });
    pumping = now;
    return now;
  };
  const flush = async (): Promise<void> => {
    const fault = await run(true);
    if (fault !== undefined) throw fault.error;
  };
  return {
    isEmpty: () => waiting.length === 0,
    hasRoom: (more) => waiting.length < maxQueuedLines && chars + more <= maxQueuedChars,
    moreRoom() {
      if (stuck || failing || closed) return undefined;
      if (callers.length === 0 && !isCrowded()) return undefined;
      if (callers.length === 0) waitForTurn();
      return new Promise((resolve) => callers.push(resolve));
    },
    add(line, place, told) {
      const { text, rotates } = line;
      waiting.push({ text, rotates, head: place, told });
      chars += text.length;
      // During an outage, only a call that waits for its line starts an attempt at once.
      if (pumping === undefined && (pause === undefined || told !== undefined)) void run(false);
    },
    head: () => head,
    fault: () => (failing ? new Error('The audit log cannot be written.') : undefined),
    flush,
    async close() {
      closed = true;
      letIn(Number.POSITIVE_INFINITY);
      try {
        await flush();
      } finally {
        clearTimeout(pause);
        clearTimeout(syncing);
        await writer.close();
      }
    },
    writeNow() {
      try {
        for (let written = 1; written > 0 && waiting.length > 0; take(written, undefined))
          written = writer.writeNow(waiting);
      } catch (error) {
        failed(error);
      }
    },
    abandon() {
      chars = 0;
      return waiting.splice(0).length;
    },
  };
}

function unref(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  timer.unref();
  return timer;
}
