/** Batches: several calls that a model made at once. Each gets one result, in the model's order. */

import type {
  BatchOptions,
  BatchPlan,
  BatchResult,
  PlannedCall,
  ToolCall,
} from '../../api/batch.ts';
import type { ToolResult } from '../../api/result.ts';
import { toolError } from '../../values/errors/index.ts';
import { cloneJson, copyJson, isJsonObject } from '../../values/json/index.ts';
import { readArguments } from '../../values/json/value.ts';
import { ignoreRejection } from '../../values/maybe-promise.ts';
import {
  abortSignal,
  anything,
  flag,
  numberFrom,
  readOptions,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import { Call } from '../call/call.ts';
import { readCallOptions } from '../call/call-options.ts';
import { idsInFlight } from '../call/calls-in-flight.ts';
import { countEnd } from '../call/counters.ts';
import { failureResult } from '../call/end-call.ts';
import { callTool } from '../call/spine.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { planOf, readCalls } from '../toolset/batch-plan.ts';
import type { SessionState } from './session-state.ts';
import { listingOf, type View } from './view.ts';

/**
 * Plans a batch by the session's effective tools, their locks and the calls' own keys.
 * @throws MisuseError if `calls` is not a batch.
 */
export function planCalls(session: SessionState, calls: readonly ToolCall[]): BatchPlan {
  return planFor(session, readCalls(calls, 'plan'));
}

/** What may be planned: all that the session may show, listed or not, and listed tools of parts. */
function plannable(session: SessionState): Pick<View, 'specs' | 'entries' | 'keyed'> {
  const view = session.registry.viewOf(session);
  const { brought } = session.tools;
  if (brought === undefined) return view;
  const listed = listingOf(session).entries;
  const specs = new Map(view.specs);
  const entries = new Map(view.entries);
  for (const [name, entry] of brought) {
    if (listed.get(name) !== entry) continue;
    specs.set(name, { name, parallelSafe: entry.internals.execution.parallelSafe });
    entries.set(name, entry);
  }
  return { specs, entries, keyed: view.keyed };
}

function planFor(session: SessionState, calls: readonly ToolCall[]): BatchPlan {
  const { specs, entries, keyed } = plannable(session);
  if (keyed.size === 0) return planOf(calls, specs, entries);
  const withKeys = calls.map((call) => {
    const key =
      call.resourceKey ?? (keyed.has(call.name) ? ownKey(entries.get(call.name), call) : undefined);
    return key === undefined ? call : { id: call.id, name: call.name, resourceKey: key };
  });
  return planOf(withKeys, specs, entries);
}

/**
 * The resource key for a call's input. Undefined if validation fails or is asynchronous; the call
 * still takes its lock when it runs.
 */
function ownKey(entry: ToolEntry | undefined, call: ToolCall): string | undefined {
  if (entry === undefined) return undefined;
  const {
    input,
    execution: { resourceKey },
  } = entry.internals;
  if (typeof resourceKey !== 'function') return undefined;
  const copy = copyJson(readArguments(call.arguments) ?? {}, { maxDepth: 64, maxValues: 50_000 });
  if (!copy.ok || !isJsonObject(copy.value)) return undefined;
  const validated = input.validate(cloneJson(copy.value));
  if (validated instanceof Promise || validated.issues !== undefined) return undefined;
  try {
    const key: unknown = resourceKey(validated.value);
    ignoreRejection(key);
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Runs the groups of a plan one after another, and the calls of each group in parallel. A failed
 * call stops others only with `stopOnError`. Rejects with a MisuseError for an invalid batch or
 * invalid options.
 */
export async function executeBatch(
  session: SessionState,
  calls: readonly ToolCall[],
  options: BatchOptions,
): Promise<BatchResult> {
  const given = readOptions('executeBatch', options, batchTable);
  const read = readCalls(calls, 'executeBatch');
  return runPlan(session, read, planFor(session, read), given);
}

const batchTable = {
  maxConcurrency: withDefault(numberFrom(1), Number.POSITIVE_INFINITY),
  stopOnError: withDefault(flag, false),
  signal: abortSignal,
  // Each call of the batch checks it.
  surface: anything<NonNullable<BatchOptions['surface']>>(),
} satisfies TableOf<BatchOptions>;

type RunOptions = BatchOptions & {
  readonly maxConcurrency: number;
  readonly stopOnError: boolean;
};

async function runPlan(
  session: SessionState,
  given: readonly ToolCall[],
  plan: BatchPlan,
  options: RunOptions,
): Promise<BatchResult> {
  const { calls } = plan;
  const results: (ToolResult | undefined)[] = calls.map(() => undefined);
  const held = holdIds(session, calls);
  const { settle, execute } = createExecution(session, given, calls, results, options);
  // Refused calls run no handler. They are handled first, so that no change by the batch can allow
  // them.
  const refused: Promise<void>[] = [];
  for (const [index, { accepted, code, id, name }] of calls.entries()) {
    if (code === 'duplicate_call_id')
      settle(
        index,
        duplicate(
          session,
          id,
          name,
          `The id \`${id}\` occurs twice in the batch. Only the first call was run`,
        ),
      );
    else if (!accepted) refused.push(execute(index));
    else if (!held.has(id))
      settle(
        index,
        duplicate(
          session,
          id,
          name,
          `A call with the id \`${id}\` is in flight, on its own or in another batch`,
        ),
      );
  }
  // Without refused calls, the first group starts at once, as a single call does. So batches and
  // calls wait for a lock in the order in which they were made.
  if (refused.length > 0) await Promise.all(refused);
  for (const group of plan.groups) {
    const indexes = group.map((id) => held.get(id)).filter((index) => index !== undefined);
    await runGroup(indexes, options.maxConcurrency, execute);
  }
  for (const id of held.keys()) session.calls.batched?.delete(id);
  return {
    plan,
    results: calls.map(({ id, name }, index) => ({
      callId: id,
      toolName: name,
      result: results[index] as ToolResult,
    })),
  };
}

/** Runs single calls of a batch by their index, and notes when later calls must not start. */
function createExecution(
  session: SessionState,
  given: readonly ToolCall[],
  calls: readonly PlannedCall[],
  results: (ToolResult | undefined)[],
  { stopOnError, signal, surface }: RunOptions,
): {
  settle: (index: number, result: ToolResult) => void;
  execute: (index: number) => Promise<void>;
} {
  let stopAfter = Number.POSITIVE_INFINITY;
  const abandoned = AbortSignal.abort(
    new DOMException('An earlier call of the batch failed.', 'AbortError'),
  );
  const settle = (index: number, result: ToolResult): void => {
    results[index] = result;
    if (stopOnError && !result.success) stopAfter = Math.min(stopAfter, index);
  };
  const execute = async (index: number): Promise<void> => {
    const { id, name, accepted } = calls[index] as PlannedCall;
    // The call claims the id itself, and nothing else can run until it has.
    if (accepted) session.calls.ids?.delete(id);
    const stop = index > stopAfter ? abandoned : signal;
    const { arguments: input, resourceKey } = given[index] as ToolCall;
    settle(
      index,
      await callTool(
        session,
        name,
        readArguments(input),
        readCallOptions({ callId: id, signal: stop, resourceKey, surface }),
      ),
    );
  };
  return { settle, execute };
}

/**
 * Claims the ids of the accepted calls, and returns the index of each in the batch. No other call
 * can take such an id before the batch starts it, and no other batch can before this one has ended.
 * An id that is already in flight stays with its owner.
 */
function holdIds(
  session: SessionState,
  calls: readonly PlannedCall[],
): ReadonlyMap<string, number> {
  const held = new Map<string, number>();
  if (session.closed) {
    for (const [index, { id, accepted }] of calls.entries()) if (accepted) held.set(id, index);
    return held;
  }
  session.calls.ids ??= idsInFlight(session);
  session.calls.batched ??= new Set();
  for (const [index, { id, accepted }] of calls.entries()) {
    if (!accepted || session.calls.ids.has(id) || session.calls.batched.has(id)) continue;
    held.set(id, index);
    session.calls.ids.set(id, undefined);
    session.calls.batched.add(id);
  }
  return held;
}

/** Runs at most `width` calls at once, and starts them in order. */
async function runGroup(
  indexes: readonly number[],
  width: number,
  execute: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < indexes.length) await execute(indexes[next++] as number);
  };
  await Promise.all(Array.from({ length: Math.min(width, indexes.length) }, lane));
}

function duplicate(session: SessionState, id: string, name: string, message: string): ToolResult {
  const call = new Call(session, name, id, undefined, undefined, undefined, undefined);
  call.startedAt = session.registry.monotonic();
  countEnd(session.counters().others, 'rejected', 0);
  return failureResult(
    call,
    toolError('duplicate_call_id', `${message}; give each call its own id.`),
  );
}
