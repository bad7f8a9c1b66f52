/** `planBatch` for hosts: it checks calls and specs, which the core makes itself. */

import type { BatchPlan, ToolCall } from '../../api/batch.ts';
import { isArray, planOf, readCalls } from '../../core/toolset/batch-plan.ts';
import { specsByName, type ToolSpec } from '../../core/toolset/tool-spec.ts';
import { planSpecs } from './shape.ts';

/**
 * Plans which calls may run in parallel. A call that is not parallel-safe is a group of its own; a
 * call whose resource key is already in the group starts a new one; any other call joins the group.
 * Calls to unknown or unavailable tools are rejected and split nothing; of a repeated id, the first
 * is planned. Pure and deterministic: the plan depends on names and keys, not on arguments or the
 * order of an object's members.
 * @param effective the available tools. @default all of them
 * @example
 * ```ts
 * import { planBatch } from 'host-tools/workflow';
 *
 * const plan = planBatch(
 *   [
 *     { id: 'c1', name: 'read', arguments: { path: 'a' } },
 *     { id: 'c2', name: 'read', arguments: { path: 'b' } },
 *     { id: 'c3', name: 'write', arguments: { path: 'a' } },
 *   ],
 *   [{ name: 'read', parallelSafe: true }, { name: 'write' }],
 * );
 * console.log(plan.groups.length); // 2: both reads, then the write
 * ```
 * @throws MisuseError `duplicate_name` for two specs with one name; `invalid_option` for an invalid
 * call or spec, and for an unknown field
 */
export function planBatch(
  calls: readonly ToolCall[],
  tools: readonly ToolSpec[] | ReadonlyMap<string, ToolSpec>,
  effective?: readonly string[] | { has(name: string): boolean },
): BatchPlan {
  return planOf(readCalls(calls, 'planBatch'), readSpecs(tools), effective);
}

function readSpecs(
  tools: readonly ToolSpec[] | ReadonlyMap<string, ToolSpec>,
): ReadonlyMap<string, ToolSpec> {
  if (
    typeof tools === 'object' &&
    tools !== null &&
    !isArray(tools) &&
    typeof tools.get === 'function'
  )
    return tools;
  planSpecs(tools as never, 'tools');
  return specsByName(tools as readonly ToolSpec[], 'planBatch');
}
