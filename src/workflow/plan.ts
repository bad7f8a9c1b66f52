/** Plans a batch of calls into groups that may run side by side: greedy, order-preserving, pure. */
import type { ErrorCode } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { digest, type ToolSpec } from './effective.ts';

/** One call as a model made it. `name` is a tool id. */
export interface ToolCall {
  /** The model's id of the call; becomes its `callId`. The second of the same id is rejected. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The input; may be JSON text. @default {} */
  readonly arguments?: unknown;
  /** Beats the tool's own. */
  readonly resourceKey?: string;
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
 */
export function planBatch(
  calls: readonly ToolCall[],
  tools: readonly ToolSpec[] | ReadonlyMap<string, ToolSpec>,
  effective?: readonly string[] | { has(name: string): boolean },
): BatchPlan {
  const byName: ReadonlyMap<string, ToolSpec> = Array.isArray(tools)
    ? new Map((tools as readonly ToolSpec[]).map((tool) => [tool.name, tool]))
    : (tools as ReadonlyMap<string, ToolSpec>);
  const allowed =
    effective === undefined ? undefined : Array.isArray(effective) ? new Set(effective as readonly string[]) : (effective as { has(name: string): boolean });
  const groups: string[][] = [];
  const planned: PlannedCall[] = [];
  const seen = new Set<string>();
  let group: string[] = [];
  let keys = new Set<string>();
  const flush = (): void => {
    if (group.length > 0) groups.push(group);
    group = [];
    keys = new Set();
  };
  for (const { id, name, resourceKey } of calls) {
    const spec = byName.get(name);
    const code: ErrorCode | undefined = seen.has(id)
      ? 'duplicate_call_id'
      : spec === undefined
        ? 'tool_not_found'
        : allowed !== undefined && !allowed.has(name)
          ? 'tool_not_available'
          : undefined;
    seen.add(id);
    if (code !== undefined || spec === undefined) {
      planned.push({ id, name, accepted: false, code: code as ErrorCode });
      continue;
    }
    planned.push({ id, name, accepted: true });
    const key = resourceKey ?? spec.resourceKey;
    if (spec.parallelSafe !== true) {
      flush();
      groups.push([id]);
      continue;
    }
    if (key !== undefined && keys.has(key)) flush();
    group.push(id);
    if (key !== undefined) keys.add(key);
  }
  flush();
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
