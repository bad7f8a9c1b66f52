/** The calls of tasks that run in this process. */
import type { ToolResult } from '../../../core.ts';
import type { OpenCall } from './open-call.ts';
import type { Serving } from './serving.ts';
import { broken, endedBy, isOver, lost, waitsFor } from './task-ends.ts';
import { signMs, type TaskRecord, type TaskRecords } from './task-records.ts';

/** Those calls. */
export interface TaskRuns {
  /** Looks after a call until it has ended or waits for a person. Its session stays open. */
  add(hash: string, run: TaskRun): void;
  /** Whether it runs here. */
  has(hash: string): boolean;
  /** Ends all of them. Their tasks fail. */
  close(): Promise<void>;
}

/** A call of a task. */
export interface TaskRun {
  readonly call: OpenCall;
  readonly serving: Serving;
  /** Whether the client's user can be asked for approval. */
  readonly asks: boolean;
  /** Whether the call was started by the answer to its approval. */
  readonly isResumed: boolean;
}

interface Running extends TaskRun {
  readonly hash: string;
  readonly timer: ReturnType<typeof setInterval>;
  release(): void;
  looking: Promise<void> | undefined;
  /** Something has happened since the last look began. */
  again: boolean;
}

/** Refusals of an answer after which its question is still open. */
const openReasons: ReadonlySet<unknown> = new Set(['store_unavailable', 'four_eyes']);
const openCodes: ReadonlySet<unknown> = new Set(['session_closed', 'duplicate_call_id']);

/** Longer than 60 lines, since its functions share the calls that run. */
export function createTaskRuns(records: TaskRecords, report: (error: unknown) => void): TaskRuns {
  const running = new Map<string, Running>();
  let stopListening: Promise<() => void> | undefined;
  const listen = (): void => {
    stopListening ??= records.listen((hash) => {
      if (hash === undefined) for (const run of running.values()) look(run);
      else {
        const run = running.get(hash);
        if (run !== undefined) look(run);
      }
    });
    // The calls are looked after all the same, only later.
    stopListening.catch((error: unknown) => {
      stopListening = undefined;
      report(error);
    });
  };
  const forget = (run: Running): void => {
    if (!running.delete(run.hash)) return;
    clearInterval(run.timer);
    run.call.listen(undefined);
    run.call.end();
    run.release();
    if (running.size > 0) return;
    void stopListening?.then((stop) => stop()).catch(report);
    stopListening = undefined;
  };
  const look = (run: Running): void => {
    run.again = true;
    run.looking ??= (async () => {
      while (run.again && running.has(run.hash)) {
        run.again = false;
        if (await step(records, run)) forget(run);
      }
    })()
      // The next sign of life tries again.
      .catch(report)
      .finally(() => {
        run.looking = undefined;
      });
  };
  return {
    add(hash, one) {
      const timer = setInterval(() => {
        records.sign(hash).catch(report);
        const run = running.get(hash);
        if (run !== undefined) look(run);
      }, signMs);
      const release = one.serving.kept?.hold() ?? (() => {});
      const run: Running = { ...one, hash, timer, release, looking: undefined, again: false };
      running.set(hash, run);
      listen();
      one.call.detach();
      one.call.listen(() => look(run));
      look(run);
    },
    has: (hash) => running.has(hash),
    async close() {
      await Promise.all(
        [...running.values()].map(async (run) => {
          forget(run);
          await records
            .change(run.hash, ({ record }) => (isOver(record) ? undefined : lost(record)))
            .catch(report);
        }),
      );
    },
  };
}

/** Takes what others have written, and writes what has happened. True if the run is over. */
async function step(records: TaskRecords, run: Running): Promise<boolean> {
  const { call, hash } = run;
  const found = await records.read(hash);
  // It was cancelled, or is older than it may get.
  if (found === undefined || isOver(found.record)) return true;
  call.answer(found.record.answers);
  const wanted = wantedOf(run, found.record);
  if (wanted === undefined) return false;
  const written = await records.change(hash, ({ version }) =>
    version === found.version ? wanted : undefined,
  );
  // Somebody else has written meanwhile.
  if (written === undefined) run.again = true;
  return written !== undefined && written.runs !== true;
}

/** What the task should be; undefined if it is that already. */
function wantedOf(run: Running, record: TaskRecord): TaskRecord | undefined {
  const { call, serving } = run;
  const now = { ...record, updatedAt: Date.now(), answers: undefined };
  if (call.fault !== undefined) return broken(record);
  const { result } = call;
  if (result !== undefined) {
    const waits = waitsAgain(run, record, result);
    return waits === undefined ? endedBy(serving, record, result) : { ...now, ...waits };
  }
  const questions = call.questions();
  const keys = Object.keys(questions);
  const before = Object.keys(record.questions ?? {});
  const isSame = keys.length === before.length && keys.every((key) => before.includes(key));
  if (isSame && record.answers === undefined) return undefined;
  return keys.length === 0
    ? { ...now, status: 'working', message: undefined, questions: undefined }
    : { ...now, status: 'input_required', message: undefined, questions };
}

/** How the task waits for a person now; undefined if its call has ended. */
function waitsAgain(
  { serving, asks, isResumed }: Running,
  record: TaskRecord,
  result: ToolResult,
): Partial<TaskRecord> | undefined {
  if (result.success) return undefined;
  const { approval: before, createdAt } = record;
  const { error, approval, metadata } = result;
  if (error.code === 'approval_pending' && approval?.token !== undefined) {
    const waits = waitsFor(serving, approval, asks, record);
    return { ...waits, ttlMs: waits.ttlMs + Date.now() - createdAt };
  }
  if (!isResumed || before === undefined || metadata.status !== 'rejected') return undefined;
  // The answer of somebody else was first, so that one counts.
  const { key: _key, ...asked } = before;
  const waiting = { runs: undefined, status: 'working', approval: asked } as const;
  if (error.reason === 'token_used') return { ...waiting, message: undefined };
  return openReasons.has(error.reason) || openCodes.has(error.code)
    ? { ...waiting, message: error.message }
    : undefined;
}
