/** Plans a batch of calls as groups that may run in parallel: greedy, order-preserving, pure. */

import type { BatchPlan, PlannedCall, ToolCall } from '../../api/batch.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { suggestion } from '../../values/options/index.ts';
import { digest } from './effective.ts';
import { own, type ToolSpec } from './tool-spec.ts';

/** Plans calls and specs that were checked before. */
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
    // Most plans are run and never compared.
    get hash() {
      hash ??= digest({ groups, calls: planned as unknown as JsonValue });
      return hash;
    },
  };
}

/**
 * A separate function, because the loop is slower with variables that the closure of `hash` shares.
 */
function group(
  calls: readonly ToolCall[],
  byName: ReadonlyMap<string, ToolSpec>,
  allowed: { has(name: string): boolean } | undefined,
): { readonly groups: string[][]; readonly planned: PlannedCall[] } {
  const groups: string[][] = [];
  const planned: PlannedCall[] = [];
  const seen = new Set<string>();
  /** The last of `groups`, if calls may still join it. */
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
      // Not an empty array: pushing to one allocates room for seventeen members.
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
 * Copies the own members of each call, reading each once. An unknown field is refused: it could be
 * a misspelt `arguments`, and the tool would run with its defaults.
 * @param where the function that was called, for messages
 * @throws MisuseError `invalid_option`
 */
export function readCalls(calls: unknown, where: string): ToolCall[] {
  if (!Array.isArray(calls))
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`calls\` to be an array of calls, got ${describe(calls)}.`,
    );
  const read: ToolCall[] = [];
  // By index, so that the holes of a sparse array are refused.
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

/** `Array.isArray` does not tell a readonly array from the rest of a union. */
export function isArray<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}
