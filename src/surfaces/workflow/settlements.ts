/**
 * The progress of a batch, without copying the batch whenever a call ends. All states of one batch
 * share a log of the settled calls, and each state knows how many entries of the log are its own.
 * The `calls` of a state are built when first read.
 */
import type { ToolResult } from '../../api/result.ts';
import type { BatchCall, BatchState } from './workflow-state.ts';

/**
 * What the states of one batch share. It only grows, so that earlier states do not change.
 */
interface History {
  /** The calls when the batch began, or when it was read from outside. */
  readonly began: readonly BatchCall[];
  /** For each call that had no result then, its index in `began` and its group. */
  readonly waited: ReadonlyMap<string, { readonly place: number; readonly group: number }>;
  /** Calls with their results, in the order of settlement. */
  readonly log: BatchCall[];
  /** For each id, the index in `log`. */
  readonly settledAt: Map<string, number>;
}

/** The progress of one state. The first `settled` entries of the log are its own. */
interface Progress {
  readonly history: History;
  readonly settled: number;
  /** How many calls of the running group have no result yet. */
  readonly open: number;
}

const progressOf = new WeakMap<BatchState, Progress>();

/** A new batch: no group runs yet, and only refused calls have results. */
export function beginBatch(batch: Omit<BatchState, 'group'>): BatchState {
  return made(batch, -1, { history: historyOf(batch), settled: 0, open: 0 });
}

/**
 * The batch at its next group with a call to run, and the calls of that group. Undefined if there
 * is none.
 */
export function nextGroup(
  batch: BatchState,
): { readonly batch: BatchState; readonly calls: readonly BatchCall[] } | undefined {
  const progress = progressIn(batch);
  for (let group = batch.group + 1; group < batch.groups.length; group++) {
    const calls = waiting(progress, batch.groups[group] ?? []);
    if (calls.length > 0)
      return { batch: made(batch, group, { ...progress, open: calls.length }), calls };
  }
  return undefined;
}

/** The batch with one more result. Undefined if no call with this id waits for one. */
export function withResult(
  batch: BatchState,
  callId: string,
  result: ToolResult,
): BatchState | undefined {
  const progress = progressIn(batch);
  const { settled, open } = progress;
  if (!isOpen(progress, callId)) return undefined;
  // If the host already continued from this state, that continuation has its own log.
  const history = progress.history.log.length === settled ? progress.history : branch(progress);
  const { place, group } = history.waited.get(callId) as { place: number; group: number };
  history.settledAt.set(callId, settled);
  history.log.push(Object.freeze({ ...(history.began[place] as BatchCall), result }));
  return made(batch, batch.group, {
    history,
    settled: settled + 1,
    open: group === batch.group ? open - 1 : open,
  });
}

/** How many calls of the running group have no result yet. */
export function openCalls(batch: BatchState): number {
  return progressIn(batch).open;
}

function made(
  { id, groups, planHash }: Omit<BatchState, 'group'>,
  group: number,
  progress: Progress,
): BatchState {
  let calls: readonly BatchCall[] | undefined;
  const batch: BatchState = Object.freeze({
    id,
    groups,
    group,
    get calls() {
      calls ??= callsOf(progress);
      return calls;
    },
    planHash,
  });
  progressOf.set(batch, progress);
  return batch;
}

function callsOf({ history: { began, waited, log }, settled }: Progress): readonly BatchCall[] {
  if (settled === 0) return began;
  // Spread, because methods of frozen arrays are about fifty times slower in current engines, and a
  // batch may have thousands of calls.
  const calls = [...began];
  for (let index = 0; index < settled; index++) {
    const call = log[index] as BatchCall;
    calls[waited.get(call.id)?.place as number] = call;
  }
  return Object.freeze(calls);
}

/**
 * The progress of a batch. One from elsewhere, such as from stored JSON, has its progress in its
 * calls.
 */
function progressIn(batch: BatchState): Progress {
  const known = progressOf.get(batch);
  if (known !== undefined) return known;
  const begun: Progress = { history: historyOf(batch), settled: 0, open: 0 };
  const progress = { ...begun, open: waiting(begun, batch.groups[batch.group] ?? []).length };
  progressOf.set(batch, progress);
  return progress;
}

function historyOf({ groups, calls }: Omit<BatchState, 'group'>): History {
  const groupOf = new Map<string, number>();
  for (const [group, ids] of groups.entries()) for (const id of ids) groupOf.set(id, group);
  const waited = new Map<string, { place: number; group: number }>();
  for (const [place, { id, accepted, result }] of calls.entries())
    if (accepted && result === null) waited.set(id, { place, group: groupOf.get(id) as number });
  return { began: calls, waited, log: [], settledAt: new Map() };
}

function branch({ history, settled }: Progress): History {
  const log = history.log.slice(0, settled);
  return { ...history, log, settledAt: new Map(log.map(({ id }, index) => [id, index])) };
}

function isOpen({ history: { waited, settledAt }, settled }: Progress, id: string): boolean {
  return waited.has(id) && !((settledAt.get(id) ?? settled) < settled);
}

function waiting(progress: Progress, ids: readonly string[]): BatchCall[] {
  const { began, waited } = progress.history;
  return ids
    .filter((id) => isOpen(progress, id))
    .map((id) => began[waited.get(id)?.place as number] as BatchCall);
}
