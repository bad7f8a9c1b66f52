/**
 * Batches: what a model asked for at once, run by its plan, answered one result a call in observed
 * order.
 */

import { failureResult } from '../call/end-call.ts';
import { callTool } from '../call/spine.ts';
import type { Surface } from '../context.ts';
import { MisuseError, toolError } from '../errors.ts';
import { cloneJson, copyJson, isJsonObject } from '../json.ts';
import { ignoreRejection } from '../maybe-promise.ts';
import { readOptions } from '../options.ts';
import type { ToolResult } from '../result.ts';
import { Call } from '../state/call.ts';
import { readCallOptions } from '../state/call-options.ts';
import { idsInFlight } from '../state/calls-in-flight.ts';
import type { SessionState } from '../state/session-state.ts';
import type { ToolEntry } from '../state/tool-entry.ts';
import {
  type BatchPlan,
  type PlannedCall,
  planOf,
  readCalls,
  type ToolCall,
} from '../toolset/batch-plan.ts';
import { readArguments } from './bind-host-tool.ts';

/** How `session.executeBatch` goes about a batch. */
export interface BatchOptions {
  /** Calls at once. From 1. @default no limit of its own */
  readonly maxConcurrency?: number | undefined;
  /**
   * After a call that did not succeed, the calls that have not started end as `cancelled`. @default
   * false
   */
  readonly stopOnError?: boolean | undefined;
  /** Cancels every call of the batch. */
  readonly signal?: AbortSignal | undefined;
  /** Who asks. For adapters: host code alone gives it, never a payload. */
  readonly surface?: Surface | undefined;
}

/** What a batch came to. A call that failed is a result like any other. */
export interface BatchResult {
  /** The groups that were run and the calls that were refused. */
  readonly plan: BatchPlan;
  /** One for every observed call, in observed order. */
  readonly results: readonly {
    /** The id of the call. */
    readonly callId: string;
    /** The name of the tool. */
    readonly toolName: string;
    /** How the call ended. */
    readonly result: ToolResult;
  }[];
}

/**
 * The plan of a batch in a session: its effective tools, their locks, the calls' own keys. @throws
 * MisuseError for what is no batch.
 */
export function planCalls(session: SessionState, calls: readonly ToolCall[]): BatchPlan {
  return planFor(session, readCalls(calls, 'plan'));
}

function planFor(session: SessionState, calls: readonly ToolCall[]): BatchPlan {
  const { specs, entries, keyed } = session.registry.viewOf(session);
  if (keyed.size === 0) return planOf(calls, specs, entries);
  const withKeys = calls.map((call) => {
    const key =
      call.resourceKey ?? (keyed.has(call.name) ? ownKey(entries.get(call.name), call) : undefined);
    return key === undefined ? call : { id: call.id, name: call.name, resourceKey: key };
  });
  return planOf(withKeys, specs, entries);
}

/**
 * The key that a call's input gives. None where validation fails or needs to wait: the lock of the
 * spine holds all the same.
 */
function ownKey(entry: ToolEntry | undefined, call: ToolCall): string | undefined {
  if (entry === undefined) return undefined;
  const { resourceKey, input } = entry.internals;
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
 * Groups one after another, the calls of a group side by side. A failure stops nothing unless
 * `stopOnError` says so. Rejects with a MisuseError for a batch or options that are none.
 */
export async function executeBatch(
  session: SessionState,
  calls: readonly ToolCall[],
  options: BatchOptions,
): Promise<BatchResult> {
  const {
    maxConcurrency = Number.POSITIVE_INFINITY,
    stopOnError = false,
    signal,
    surface,
  } = readOptions('executeBatch', options, batchOptions);
  if (!(maxConcurrency >= 1))
    throw new MisuseError(
      'invalid_option',
      `executeBatch: expected \`maxConcurrency\` to be at least 1, got ` +
        `\`${String(maxConcurrency)}\`.`,
    );
  const read = readCalls(calls, 'executeBatch');
  return runPlan(session, read, planFor(session, read), {
    maxConcurrency,
    stopOnError,
    signal,
    surface,
  });
}

const batchOptions = [
  'maxConcurrency',
  'stopOnError',
  'signal',
  'surface',
] as const satisfies readonly (keyof BatchOptions)[];

async function runPlan(
  session: SessionState,
  given: readonly ToolCall[],
  plan: BatchPlan,
  {
    maxConcurrency,
    stopOnError,
    signal,
    surface,
  }: BatchOptions & { readonly maxConcurrency: number; readonly stopOnError: boolean },
): Promise<BatchResult> {
  const { calls } = plan;
  const results: (ToolResult | undefined)[] = calls.map(() => undefined);
  const held = holdIds(session, calls);
  // With `stopOnError`: calls after this place do not start.
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
    // From here to the call's own claim of the id nothing else can run.
    if (accepted) session.ids?.delete(id);
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
  // Refused calls run nothing; they go first, so that nothing that the batch changes can let them
  // in.
  const refused: Promise<void>[] = [];
  for (const [index, { accepted, code, id, name }] of calls.entries()) {
    if (code === 'duplicate_call_id')
      settle(
        index,
        duplicate(
          session,
          id,
          name,
          `The id \`${id}\` stands twice in the batch. Only the first was run`,
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
          `A call with the id \`${id}\` is in flight, alone or in another batch`,
        ),
      );
  }
  // Without any the first group starts at once, as a call does: who asks first is first in line for
  // a lock.
  if (refused.length > 0) await Promise.all(refused);
  for (const group of plan.groups) {
    const indexes = group.map((id) => held.get(id)).filter((index) => index !== undefined);
    await runGroup(indexes, maxConcurrency, execute);
  }
  for (const id of held.keys()) session.batched?.delete(id);
  return {
    plan,
    results: calls.map(({ id, name }, index) => ({
      callId: id,
      toolName: name,
      result: results[index] as ToolResult,
    })),
  };
}

/**
 * Claims the ids of the calls that are to run, each with its place in the batch. No other call
 * takes such an id before the batch has come to it, and no other batch before this one has ended.
 * An id that is in flight already is left to its owner.
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
  session.ids ??= idsInFlight(session);
  session.batched ??= new Set();
  for (const [index, { id, accepted }] of calls.entries()) {
    if (!accepted || session.ids.has(id) || session.batched.has(id)) continue;
    held.set(id, index);
    session.ids.set(id, undefined);
    session.batched.add(id);
  }
  return held;
}

/** At most `width` at once, in order. */
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
  session.counters().unknown.calls++;
  session.counters().unknown.rejected++;
  return failureResult(
    call,
    toolError('duplicate_call_id', `${message}; give every call an id of its own.`),
  );
}
