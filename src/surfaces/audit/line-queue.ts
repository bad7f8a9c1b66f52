/** The lines that wait to be written: bounded, in order, and tried again until they are written. */
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

interface Waiting extends QueuedLine {
  readonly head: AuditHead;
  readonly told: ((error: unknown) => void) | undefined;
}

/** Handles accepted lines. */
export interface LineQueue {
  /** Whether there is room for a line. */
  hasRoom(chars: number): boolean;
  /**
   * @param told Called without an error once the line is written, or with an error if that failed.
   */
  add(line: QueuedLine, head: AuditHead, told?: (error: unknown) => void): void;
  /** The position of the last line that was written. */
  head(): AuditHead;
  /** Resolves once all lines are written and safe; rejects if they cannot be. */
  flush(): Promise<void>;
  /** Flushes, and stops writing. */
  close(): Promise<void>;
}

export interface QueueOptions {
  readonly writer: LineWriter;
  readonly head: AuditHead;
  readonly fsync: 'always' | 'batch';
  /** Called when writing begins to fail, and not again until it has worked. */
  readonly failed: (error: unknown) => void;
}

/**
 * Longer than 60 lines, since its short functions share the lines that wait and the state of the
 * writer.
 */
export function createLineQueue({ writer, head: from, fsync, failed }: QueueOptions): LineQueue {
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
  };
  /** Writes until nothing waits, or something fails. Returns what failed. */
  const pump = async (): Promise<{ readonly error: unknown } | undefined> => {
    // Lines of one turn are written together.
    await undefined;
    try {
      while (waiting.length > 0) await writeSome();
      failing = false;
      pauseMs = pausesMs.first;
      if (unsafe) syncing ??= unref(setTimeout(() => void run(true), syncAfterMs));
      return undefined;
    } catch (error) {
      return fail(error);
    }
  };
  const fail = (error: unknown): { readonly error: unknown } => {
    if (!failing) failed(error);
    failing = true;
    if (!closed) pause ??= unref(setTimeout(() => void run(false), pauseMs));
    pauseMs = Math.min(pauseMs * 2, pausesMs.longest);
    return { error };
  };
  /** Runs once at a time. @param safe Whether to sync at the end. */
  const run = (safe: boolean): Promise<{ readonly error: unknown } | undefined> => {
    clearTimeout(pause);
    pause = undefined;
    const before = pumping;
    const now = (async () => {
      await before;
      const fault = await pump();
      if (fault !== undefined || !safe) return fault;
      try {
        await sync();
        return undefined;
      } catch (error) {
        return fail(error);
      }
    })().finally(() => {
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
    hasRoom: (more) => waiting.length < maxQueuedLines && chars + more <= maxQueuedChars,
    add(line, place, told) {
      const { text, rotates } = line;
      waiting.push({ text, rotates, head: place, told });
      chars += text.length;
      // During an outage, only a call that waits for its line starts an attempt at once.
      if (pumping === undefined && (pause === undefined || told !== undefined)) void run(false);
    },
    head: () => head,
    flush,
    async close() {
      closed = true;
      try {
        await flush();
      } finally {
        clearTimeout(pause);
        clearTimeout(syncing);
        await writer.close();
      }
    },
  };
}

function unref(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  timer.unref();
  return timer;
}
