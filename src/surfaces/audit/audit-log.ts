/** A running log: links the lines, begins new files, and counts the lines that are lost. */
import { type Emitter, MisuseError, type ToolEvents } from '../../core.ts';
import { type CallObserver, type CallRecord, type Observing, observeCalls } from '../../extend.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { type ArgumentsOf, type AuditHead, callLine, type NewMembers } from './line.ts';
import { createLineQueue } from './line-queue.ts';
import type { Chain } from './next-line.ts';
import type { LineWriter } from './writers.ts';

/** A log of calls. */
export interface AuditLog {
  /**
   * Records the calls of a session, or of a registry and all its sessions, from now on. A call that
   * is recorded through both gets one line. The returned function stops that.
   * @throws MisuseError `closed`, or `invalid_option` for anything else.
   */
  attach(target: { readonly events: Emitter<ToolEvents> }): () => void;
  /**
   * The last line that was written. Store it elsewhere to notice later whether lines were cut off.
   */
  head(): AuditHead;
  /**
   * How many lines were lost. The log says so in a `dropped` line, unless it could not be written
   * any more.
   */
  readonly dropped: number;
  /** Writes all waiting lines safely. Rejects with the reason if they cannot be written. */
  flush(): Promise<void>;
  /**
   * Flushes, and lets another process write the log. Idempotent. Calls that still run have no line,
   * so they count as `dropped`. Rejects, but closes, if waiting lines cannot be written, or not
   * within 10 seconds. If a log is `required`, calls are refused from then on, unless it was
   * detached.
   */
  close(): Promise<void>;
}

/** What a log needs. */
export interface LogParts {
  readonly writer: LineWriter;
  readonly chain: Chain;
  /** The last line that an earlier process has written. */
  readonly from: AuditHead;
  /** Releases the lock. */
  readonly release: () => void;
  readonly argumentsOf: ArgumentsOf;
  readonly required: boolean;
  readonly fsync: 'always' | 'batch';
}

/** How long closing waits for the waiting lines. */
const closeMs = 10_000;
/** More characters than a `dropped` line has. */
const shortLine = 1_000;

type Told = (error: unknown) => void;

/** Longer than 60 lines, since its short functions share the queue and the count of lost lines. */
export function startLog(parts: LogParts): AuditLog {
  const { writer, chain, argumentsOf, required } = parts;
  const attached = new Set<Observing>();
  const report = (error: unknown, message: string): void => {
    const each = new Map([...attached].map((one) => [one.registry, one]));
    for (const one of each.values()) one.report(error, message);
  };
  const losses = { all: 0, notWritten: 0, since: 0, at: 0 };
  let closing: Promise<void> | undefined;
  let isOver = false;

  /** Adds a line. False if there is no room for it. */
  const add = (members: NewMembers, at: number, told?: Told): boolean => {
    const next = chain.next(members, at);
    if (!queue.hasRoom(next.text.length)) return false;
    queue.add(next, chain.take(next), told);
    return true;
  };
  /** Adds the line about lost lines, if there are any and it has room. */
  const logLosses = (): void => {
    const { notWritten: count, since, at } = losses;
    if (count === 0 || !queue.hasRoom(shortLine)) return;
    if (add({ type: 'dropped', at, count, since }, at)) losses.notWritten = 0;
  };
  const queue = createLineQueue({
    writer,
    head: parts.from,
    fsync: parts.fsync,
    failed: (error) => report(error, 'the audit log cannot be written'),
    // While it is being closed, calls that go on would keep it busy.
    emptied: () => {
      if (closing === undefined) logLosses();
    },
  });
  const lose = (at: number, count: number, why: unknown): void => {
    if (losses.notWritten === 0) {
      losses.since = at;
      report(why, 'the audit log loses lines');
    }
    losses.at = at;
    losses.all += count;
    losses.notWritten += count;
  };
  const record = (told: CallRecord, written?: Told): boolean => {
    const { at } = told;
    let why: unknown;
    try {
      logLosses();
      if (losses.notWritten === 0 && add(callLine(told, argumentsOf), at, written)) return true;
    } catch (error) {
      why = error;
    }
    lose(at, 1, why ?? new Error('Too many lines wait to be written.'));
    if (queue.isEmpty()) logLosses();
    return false;
  };
  const observer: CallObserver = {
    moreRoom: () => queue.moreRoom(),
    starting: required
      ? (told) =>
          new Promise((resolve, reject) => {
            const done: Told = (error) => (error === undefined ? resolve() : reject(error));
            if (closing !== undefined) reject(closed());
            else if (!record(told, done)) reject(new Error('Too many lines wait to be written.'));
          })
      : undefined,
    refuses: () => (required ? (closing === undefined ? queue.fault() : closed()) : undefined),
    ended: (told) => {
      if (closing === undefined) record(told);
      else if (!isOver) lose(told.at, 1, new Error('A call ended while the log was being closed.'));
    },
  };
  /**
   * Counts the calls that still run, so that the log says that their lines are missing. In a
   * required log, their start says so.
   */
  const loseRunning = (): void => {
    const calls = new Map([...attached].flatMap((one) => [...one.running()]));
    const missing = [...calls.values()].filter((hasStart) => !(required && hasStart)).length;
    const at = Math.max(...[...attached].map((one) => one.now()));
    if (missing > 0) lose(at, missing, new Error('It was closed while calls were running.'));
    logLosses();
    isOver = true;
  };
  /** Counts what can no longer be written, and ends the log. */
  const end = (): void => {
    isOver = true;
    const count = queue.abandon();
    losses.all += count;
    if (count + losses.notWritten > 0)
      report(new Error('It ended before all lines were written.'), 'the audit log loses lines');
    losses.notWritten = 0;
    parts.release();
  };
  const stopWaiting = atProcessEnd(() => {
    logLosses();
    queue.writeNow();
    end();
  });
  const finish = async (): Promise<void> => {
    try {
      logLosses();
      await queue.flush();
      if (!isOver) loseRunning();
    } finally {
      await queue.close();
    }
  };
  return Object.freeze({
    attach(target) {
      if (closing !== undefined)
        throw new MisuseError('closed', 'Cannot attach an audit log that is closed.');
      const observing = observeCalls('attach', target, observer);
      attached.add(observing);
      return () => {
        attached.delete(observing);
        observing.stop();
      };
    },
    head: () => writer.head?.() ?? queue.head(),
    get dropped() {
      return losses.all;
    },
    flush() {
      logLosses();
      return closing ?? queue.flush();
    },
    close() {
      closing ??= withDeadline(finish(), closeMs, () => {
        throw new Error(`The audit log could not be written within ${closeMs / 1_000} s.`);
      }).finally(() => {
        stopWaiting();
        end();
        // A required log continues to refuse calls.
        if (!required) for (const one of attached) one.stop();
      });
      return closing;
    },
  } satisfies AuditLog);
}

function closed(): Error {
  return new Error('The audit log is closed.');
}

/** Work for the end of the process, if that comes before a log is closed. */
const works = new Set<() => void>();

function runAll(): void {
  for (const work of works) work();
}

/**
 * Does something when the process ends by itself or by `process.exit`. It cannot wait for anything.
 * The returned function cancels that.
 */
function atProcessEnd(work: () => void): () => void {
  // One listener for all logs, because Node warns of many.
  if (works.size === 0) process.on('exit', runAll);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) process.off('exit', runAll);
  };
}
