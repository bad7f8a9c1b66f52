/** Plans a batch of calls into groups that may run side by side: greedy, order-preserving, pure. */
import { describe, type ErrorCode, MisuseError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { suggestion } from '../options.ts';
import { digest, specsByName, type ToolSpec } from './effective.ts';
import { own } from './own.ts';
import { planSpecs } from './shape.ts';

/** One call as a model made it. `name` is a tool id. */
export interface ToolCall {
  /** The model's id of the call; becomes its `callId`. The second of the same id is rejected. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The input; may be JSON text. @default {} */
  readonly arguments?: unknown;
  /**
   * Beats the tool's own in the plan of its batch. What holds over batches is the tool's key on the
   * final input.
   */
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
 * A call that is not parallel-safe is a group of its own; a resource key that is already in the
 * group opens a new one; anything else joins. Unknown and ineffective calls are rejected and split
 * nothing; of a repeated id the first is planned. `effective` absent = all tools. Pure and
 * deterministic: what is planned is told by names and keys, so arguments and the order of an
 * object's members change nothing.
 * @throws MisuseError `duplicate_name` for two specs of one name; `invalid_option` for what is no
 * call or no spec, and for a field that neither has.
 *
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
 */
export function planBatch(
  calls: readonly ToolCall[],
  tools: readonly ToolSpec[] | ReadonlyMap<string, ToolSpec>,
  effective?: readonly string[] | { has(name: string): boolean },
): BatchPlan {
  return planOf(readCalls(calls, 'planBatch'), readSpecs(tools), effective);
}

/** A plan of calls and specs that were checked. */
export function planOf(
  calls: readonly ToolCall[],
  byName: ReadonlyMap<string, ToolSpec>,
  effective?: readonly string[] | { has(name: string): boolean },
): BatchPlan {
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

/**
 * Apart from the plan, whose `hash` keeps what it reads: variables that a closure shares are dear
 * in a loop.
 */
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
  for (const call of calls) {
    const { id, name } = call;
    const spec = byName.get(name);
    const isRepeated = seen.size === seen.add(id).size;
    if (isRepeated || spec === undefined || allowed?.has(name) === false) {
      planned.push({
        id,
        name,
        accepted: false,
        code: isRepeated
          ? 'duplicate_call_id'
          : spec === undefined
            ? 'tool_not_found'
            : 'tool_not_available',
      });
      continue;
    }
    planned.push({ id, name, accepted: true });
    const key = own(call, 'resourceKey') ?? own(spec, 'resourceKey');
    const isSafe = own(spec, 'parallelSafe') === true;
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

const callFields = [
  'id',
  'name',
  'arguments',
  'resourceKey',
] as const satisfies readonly (keyof ToolCall)[];

/**
 * The calls of a batch, each with its own members alone, read once. A field that a call does not
 * have is refused: the arguments of a model under another name would be left out, and the tool
 * would run with its defaults.
 * @param where What was called, for messages.
 * @throws MisuseError `invalid_option`
 */
export function readCalls(calls: unknown, where: string): ToolCall[] {
  if (!Array.isArray(calls))
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`calls\` to be an array of calls, got ${describe(calls)}.`,
    );
  const read: ToolCall[] = [];
  // By index: the holes of a sparse array are no calls.
  for (let index = 0; index < calls.length; index++)
    read.push(readCall(calls[index], index, where));
  return read;
}

function readCall(call: unknown, index: number, where: string): ToolCall {
  if (typeof call !== 'object' || call === null || Array.isArray(call))
    throw callFault(
      where,
      index,
      '',
      `expected { id, name, arguments, resourceKey? }, got ${describe(call)}.`,
    );
  const given = call as Readonly<Record<string, unknown>>;
  let id: unknown;
  let name: unknown;
  let args: unknown;
  let resourceKey: unknown;
  for (const key of Object.keys(given)) {
    switch (key) {
      case 'id':
        id = given.id;
        break;
      case 'name':
        name = given.name;
        break;
      case 'arguments':
        args = given.arguments;
        break;
      case 'resourceKey':
        resourceKey = given.resourceKey;
        break;
      default:
        throw callFault(
          where,
          index,
          '',
          `unknown field \`${key.slice(0, 60)}\`${suggestion(key, callFields)}`,
        );
    }
  }
  if (typeof id !== 'string')
    throw callFault(where, index, '.id', `expected a string, got ${describe(id)}.`);
  if (typeof name !== 'string')
    throw callFault(where, index, '.name', `expected a string, got ${describe(name)}.`);
  if (resourceKey !== undefined && typeof resourceKey !== 'string')
    throw callFault(
      where,
      index,
      '.resourceKey',
      `expected a string, got ${describe(resourceKey)}.`,
    );
  return { id, name, arguments: args as JsonValue, resourceKey };
}

function callFault(where: string, index: number, field: string, text: string): MisuseError {
  return new MisuseError('invalid_option', `${where}: \`calls[${index}]${field}\`: ${text}`);
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

/** `Array.isArray` does not tell a readonly array from the rest of a union. */
function isArray<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}
