/**
 * How far a batch has come, without a copy of the batch for every call that ends. All states of one
 * batch share a log of the calls that were settled; each of them knows how many entries of the log
 * are its own. `calls` of a state is put together when it is first read.
 */
import type { ToolResult } from '../result.ts';
import type { BatchCall, BatchState } from './workflow-state.ts';

/**
 * What the states of one batch share. It is only ever added to, so that an earlier state stays as
 * it was.
 */
interface History {
  /** The calls as the batch began, or as it was read from outside. */
  readonly began: readonly BatchCall[];
  /** The calls that waited for a result then, by id: the place in `began`, and the group. */
  readonly waited: ReadonlyMap<string, { readonly place: number; readonly group: number }>;
  /** Calls with their results, in the order in which they were settled. */
  readonly log: BatchCall[];
  /** By id: the place in `log`. */
  readonly settledAt: Map<string, number>;
}

/** How far one state has come: the first `settled` entries of the log are its own. */
interface Progress {
  readonly history: History;
  readonly settled: number;
  /** How many calls of the group that runs have no result yet. */
  readonly open: number;
}

const progressOf = new WeakMap<BatchState, Progress>();

/** A batch as it begins: no group runs, and nothing is settled but what was refused. */
export function beginBatch(batch: Omit<BatchState, 'group'>): BatchState {
  return made(batch, -1, { history: historyOf(batch), settled: 0, open: 0 });
}

/**
 * The batch with the next group that has anything to run, and that group's calls. Undefined where
 * there is none.
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

/** The batch with one more result. Undefined where no call of this id waits for one. */
export function withResult(
  batch: BatchState,
  callId: string,
  result: ToolResult,
): BatchState | undefined {
  const progress = progressIn(batch);
  const { settled, open } = progress;
  if (!isOpen(progress, callId)) return undefined;
  // Where somebody went on from this state before, what came of that is no part of what comes now.
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

/** How many calls of the group that runs have no result yet. */
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
  // Spread: the methods of a frozen array are fifty times slower in today's engines, and a batch
  // may have thousands of calls.
  const calls = [...began];
  for (let index = 0; index < settled; index++) {
    const call = log[index] as BatchCall;
    calls[waited.get(call.id)?.place as number] = call;
  }
  return Object.freeze(calls);
}

/**
 * A batch that was made elsewhere, such as one that was stored as JSON, has its progress in its
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
