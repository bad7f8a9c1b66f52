/** Plans a batch of calls into groups that may run side by side: greedy, order-preserving, pure. */
import { type ErrorCode, MisuseError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { digest, specsByName, type ToolSpec } from './effective.ts';

/** One call as a model made it. `name` is a tool id. */
export interface ToolCall {
  /** The model's id of the call; becomes its `callId`. The second of the same id is rejected. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The input; may be JSON text. @default {} */
  readonly arguments?: unknown;
  /** Beats the tool's own in the plan of its batch. What holds over batches is the tool's key on the final input. */
  readonly resourceKey?: string | undefined;
}

/** What the plan makes of one call. */
export interface PlannedCall {
  /** The call's id. */
  readonly id: string;
  /** The tool's name, as it was called. */
  readonly name: string;
  /** Whether it is in a group. A refused call ends with its `code` and splits no group. */
  readonly accepted: boolean;
  /** Why it was not accepted. */
  readonly code?: ErrorCode;
}

/** A batch as groups: what may run side by side, and what is refused. */
export interface BatchPlan {
  /** Ids; the groups run one after another, the calls of a group side by side. */
  readonly groups: readonly (readonly string[])[];
  /** In observed order. */
  readonly calls: readonly PlannedCall[];
  /** Equal for equal plans. Worked out when first read. */
  readonly hash: string;
}

/**
 * A call that is not parallel-safe is a group of its own; a resource key that is already in the group opens a new one; anything else joins.
 * Unknown and ineffective calls are rejected and split nothing; of a repeated id the first is planned. `effective` absent = all tools.
 * Pure and deterministic: what is planned is told by names and keys, so arguments and the order of an object's members change nothing.
 * @throws MisuseError `duplicate_name` for two specs of one name.
 */
export function planBatch(
  calls: readonly ToolCall[],
  tools: readonly ToolSpec[] | ReadonlyMap<string, ToolSpec>,
  effective?: readonly string[] | { has(name: string): boolean },
): BatchPlan {
  checkCalls(calls);
  const byName: ReadonlyMap<string, ToolSpec> = isArray(tools) ? specsByName(tools, 'planBatch') : tools;
  const allowed = effective !== undefined && isArray(effective) ? new Set(effective) : effective;
  const { groups, planned } = group(calls, byName, allowed);
  let hash: string | undefined;
  return {
    groups,
    calls: planned,
    // Most plans are run, not compared: the hash is worked out for who reads it.
    get hash() {
      hash ??= digest({ groups, calls: planned as unknown as JsonValue });
      return hash;
    },
  };
}

/** Apart from the plan, whose `hash` keeps what it reads: variables that a closure shares are dear in a loop. */
function group(
  calls: readonly ToolCall[],
  byName: ReadonlyMap<string, ToolSpec>,
  allowed: { has(name: string): boolean } | undefined,
): { readonly groups: string[][]; readonly planned: PlannedCall[] } {
  const groups: string[][] = [];
  const planned: PlannedCall[] = [];
  const seen = new Set<string>();
  /** The group that calls still join, which is the last of `groups`. */
  let open: string[] | undefined;
  let keys: Set<string> | undefined;
  for (const { id, name, resourceKey } of calls) {
    const spec = byName.get(name);
    const isRepeated = seen.size === seen.add(id).size;
    if (isRepeated || spec === undefined || allowed?.has(name) === false) {
      planned.push({ id, name, accepted: false, code: isRepeated ? 'duplicate_call_id' : spec === undefined ? 'tool_not_found' : 'tool_not_available' });
      continue;
    }
    planned.push({ id, name, accepted: true });
    const key = resourceKey ?? spec.resourceKey;
    const isSafe = spec.parallelSafe === true;
    if (open === undefined || !isSafe || (key !== undefined && keys?.has(key) === true)) {
      // With its first member: an array that is pushed to when empty makes room for seventeen.
      open = [id];
      groups.push(open);
      keys = undefined;
    } else open.push(id);
    if (!isSafe) open = undefined;
    else if (key !== undefined) {
      keys ??= new Set();
      keys.add(key);
    }
  }
  return { groups, planned };
}

/** @throws MisuseError `invalid_option` for what is no list of calls. */
export function checkCalls(calls: unknown): void {
  if (Array.isArray(calls)) {
    let index = 0;
    // Not by `every`, which would not see the holes of a sparse array.
    for (const call of calls as readonly unknown[]) {
      if (!isCall(call)) break;
      index++;
    }
    if (index === calls.length) return;
  }
  throw new MisuseError(
    'invalid_option',
    'Expected a batch to be an array of { id, name, arguments, resourceKey? }, its `id`, `name` and `resourceKey` texts.',
  );
}

function isCall(call: unknown): boolean {
  if (typeof call !== 'object' || call === null) return false;
  const { id, name, resourceKey } = call as ToolCall;
  return typeof id === 'string' && typeof name === 'string' && (resourceKey === undefined || typeof resourceKey === 'string');
}

/** `Array.isArray` does not tell a readonly array from the rest of a union. */
function isArray<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}
