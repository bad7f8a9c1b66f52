/** Batches: what a model asked for at once, run by its plan, answered one result a call in observed order. */

import { readArguments } from './bind-host-tool.ts';
import { failureResult } from './call/record.ts';
import { MisuseError, toolError } from './errors.ts';
import { cloneJson, copyJson, isJsonObject } from './json.ts';
import { callTool } from './pipeline/spine.ts';
import type { ToolResult } from './result.ts';
import { Call } from './state/call.ts';
import type { SessionState } from './state/session-state.ts';
import { type BatchPlan, planBatch, type ToolCall } from './workflow/plan.ts';

/** How `session.executeBatch` goes about a batch. */
export interface BatchOptions {
  /** Calls at once. From 1. @default no limit of its own */
  readonly maxConcurrency?: number | undefined;
  /** After a call that did not succeed, the calls that have not started end as `cancelled`. @default false */
  readonly stopOnError?: boolean | undefined;
  /** Cancels every call of the batch. */
  readonly signal?: AbortSignal | undefined;
}

/** What a batch came to. A call that failed is a result like any other. */
export interface BatchResult {
  /** The groups that were run and the calls that were refused. */
  readonly plan: BatchPlan;
  /** One for every observed call, in observed order. */
  readonly results: readonly { readonly callId: string; readonly toolName: string; readonly result: ToolResult }[];
}

/** The plan of a batch in a session: its effective tools, their locks, the calls' own keys. */
export function planCalls(session: SessionState, calls: readonly ToolCall[]): BatchPlan {
  if (
    !Array.isArray(calls) ||
    calls.some((call) => typeof call !== 'object' || call === null || typeof call.id !== 'string' || typeof call.name !== 'string')
  ) {
    throw new MisuseError('invalid_option', 'Expected a batch to be an array of { id, name, arguments }.');
  }
  const { specs, entries } = session.registry.viewOf(session);
  const keyed = calls.map((call) => {
    const key = call.resourceKey ?? ownKey(session, entries.has(call.name) ? call : undefined);
    return key === undefined ? call : { ...call, resourceKey: key };
  });
  return planBatch(keyed, specs, entries);
}

/** The key that a call's input gives. None where validation fails or needs to wait: the lock of the spine holds all the same. */
function ownKey(session: SessionState, call: ToolCall | undefined): string | undefined {
  if (call === undefined) return undefined;
  const internals = session.entryOf(call.name)?.internals;
  if (internals === undefined || typeof internals.resourceKey !== 'function') return undefined;
  const copy = copyJson(readArguments(call.arguments) ?? {}, { maxDepth: 64, maxValues: 50_000 });
  if (!copy.ok || !isJsonObject(copy.value)) return undefined;
  const validated = internals.input.validate(cloneJson(copy.value));
  if (validated instanceof Promise || validated.issues !== undefined) return undefined;
  try {
    const key: unknown = internals.resourceKey(validated.value);
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Groups one after another, the calls of a group side by side. A failure stops nothing unless `stopOnError` says so. @throws MisuseError at once, for a batch or options that are none. */
export function executeBatch(session: SessionState, calls: readonly ToolCall[], options: BatchOptions): Promise<BatchResult> {
  const { maxConcurrency = Number.POSITIVE_INFINITY, stopOnError = false, signal } = options;
  if (!(maxConcurrency >= 1))
    throw new MisuseError('invalid_option', `executeBatch: expected \`maxConcurrency\` to be at least 1, got \`${String(maxConcurrency)}\`.`);
  const plan = planCalls(session, calls);
  return runPlan(session, [...calls], plan, maxConcurrency, stopOnError, signal);
}

async function runPlan(
  session: SessionState,
  calls: readonly ToolCall[],
  plan: BatchPlan,
  maxConcurrency: number,
  stopOnError: boolean,
  signal: AbortSignal | undefined,
): Promise<BatchResult> {
  const results: (ToolResult | undefined)[] = calls.map(() => undefined);
  const place = new Map<string, number>();
  for (const [index, planned] of plan.calls.entries()) if (planned.accepted) place.set(planned.id, index);
  // With `stopOnError`: calls after this place do not start.
  let stopAfter = Number.POSITIVE_INFINITY;
  const abandoned = AbortSignal.abort(new DOMException('An earlier call of the batch failed.', 'AbortError'));
  const execute = async (index: number): Promise<void> => {
    const { id, name, arguments: given } = calls[index] as ToolCall;
    const result = await callTool(session, name, readArguments(given), {
      callId: id,
      ...(index > stopAfter ? { signal: abandoned } : signal === undefined ? {} : { signal }),
    });
    results[index] = result;
    if (stopOnError && !result.success) stopAfter = Math.min(stopAfter, index);
  };
  // Refused calls run nothing; they go first, so that nothing that the batch changes can let them in.
  const refused = plan.calls.map(async ({ accepted, code, id, name }, index) => {
    if (accepted) return;
    if (code === 'duplicate_call_id') {
      results[index] = duplicate(session, id, name);
      if (stopOnError) stopAfter = Math.min(stopAfter, index);
    } else await execute(index);
  });
  await Promise.all(refused);
  for (const group of plan.groups)
    await runGroup(
      group.map((id) => place.get(id) as number),
      maxConcurrency,
      execute,
    );
  return { plan, results: calls.map(({ id, name }, index) => ({ callId: id, toolName: name, result: results[index] as ToolResult })) };
}

/** At most `width` at once, in order. */
async function runGroup(indexes: readonly number[], width: number, execute: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < indexes.length) await execute(indexes[next++] as number);
  };
  await Promise.all(Array.from({ length: Math.min(width, indexes.length) }, lane));
}

function duplicate(session: SessionState, id: string, name: string): ToolResult {
  const call = new Call(session, name, id, undefined, undefined, undefined, undefined);
  call.startedAt = session.registry.monotonic();
  session.counters().unknown.calls++;
  session.counters().unknown.rejected++;
  return failureResult(
    call,
    toolError('duplicate_call_id', `The id \`${id}\` stands twice in the batch. Only the first was run; give every call an id of its own.`),
  );
}
