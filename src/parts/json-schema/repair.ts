/** Repairs the arguments of calls in sessions with `repair: "safe"`. */

import type { Call, FoundCall } from '../../core/call/call.ts';
import { noteRepair } from '../../core/call/stages/validate.ts';
import type { Outcome } from '../../core/call/step.ts';
import { toolError } from '../../values/errors/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';

/** Reads JSON that the arguments contain as text, within the bounds of an input. */
export function repair(call: FoundCall, schema: JsonObject): Outcome {
  const problem = repairText(call);
  if (problem !== undefined) return problem;
  if (call.resumed === undefined)
    call.canonical = repairMembers(call, call.canonical, schema, '') as JsonObject;
  if (call.extra?.outcome?.repaired === undefined) return undefined;
  const whole = copyJson(call.canonical, { maxDepth: 64, maxValues: 50_000 });
  return whole.ok
    ? undefined
    : toolError(
        'invalid_input',
        `The arguments are ${whole.message}, once the JSON in their texts is read. Send less.`,
        { reason: whole.fault },
      );
}

/** Reads an input that arrived as one text. */
function repairText(call: Call): Outcome {
  const text = call.extra?.text;
  if (text === undefined) return undefined;
  const parsed = text.trim() === '' ? {} : parseJson(text);
  if (!isJsonObject(parsed))
    return toolError(
      'invalid_input',
      'Expected the arguments to be a JSON object, got a string that does not contain one.',
      { reason: 'not_an_object' },
    );
  call.canonical = parsed;
  call.more.text = undefined;
  noteRepair(call, '', text.trim() === '' ? 'empty_string' : 'json_string');
  return undefined;
}

/**
 * After this many texts that are not JSON, the input counts as beyond repair, and the rest is
 * skipped.
 */
const maxUnreadable = 100;

/**
 * Repairs texts that contain JSON, where the schema expects only an object or an array. A value
 * without repairs is returned as the same object.
 */
function repairMembers(
  call: Call,
  value: JsonValue,
  schema: JsonValue | undefined,
  path: string,
): JsonValue {
  if (!isJsonObject(schema)) return value;
  if (typeof value === 'string') {
    const repairedValue = wantsContainer(schema) ? container(value, schema, call) : undefined;
    if (repairedValue === undefined) return value;
    noteRepair(call, path, value.trim() === '' ? 'empty_string' : 'json_string');
    return repairMembers(call, repairedValue, schema, path);
  }
  if (typeof value !== 'object' || value === null) return value;
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (Array.isArray(value)) {
    if (!isJsonObject(schema.items)) return value;
    const items = value.map((item: JsonValue, index) =>
      repairMembers(call, item, schema.items, at(String(index))),
    );
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const { properties } = schema;
  if (!isJsonObject(properties)) return value;
  const object = value as JsonObject;
  let changed: Record<string, JsonValue> | undefined;
  for (const [name, member] of Object.entries(properties)) {
    const before = Object.hasOwn(object, name) ? object[name] : undefined;
    if (before === undefined) continue;
    const after = repairMembers(call, before, member, at(name));
    if (after === before) continue;
    // The spread makes each member an own one, so that writing `__proto__` sets no prototype.
    changed ??= { ...object } as Record<string, JsonValue>;
    changed[name] = after;
  }
  return changed ?? object;
}

/**
 * The object or array in a text, if the schema accepts it. The first character rules out most other
 * texts, for which `JSON.parse` would create an error.
 */
function container(text: string, schema: JsonObject, call: Call): JsonValue | undefined {
  const { more } = call;
  const isBlank = text.trim() === '';
  if (!isBlank && (!/^[ \t\r\n]*[[{]/.test(text) || more.unreadable >= maxUnreadable))
    return undefined;
  const parsed = isBlank ? {} : parseJson(text);
  if (parsed === undefined) more.unreadable++;
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  return allows(schema, Array.isArray(parsed) ? 'array' : 'object') ? parsed : undefined;
}

function wantsContainer(schema: JsonObject): boolean {
  return !allows(schema, 'string') && (allows(schema, 'object') || allows(schema, 'array'));
}

/**
 * Whether a schema accepts values of a type. Without `type` it accepts any. For `anyOf` and
 * `oneOf`, one branch is enough.
 */
function allows(schema: JsonObject, type: string): boolean {
  const { type: named } = schema;
  if (named !== undefined) return named === type || (Array.isArray(named) && named.includes(type));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(alternatives)) return true;
  return alternatives.some(
    (one: JsonValue) => one === true || (isJsonObject(one) && allows(one, type)),
  );
}

/** A text with a member named `__proto__` is not repaired. */
function parseJson(text: string): JsonValue | undefined {
  try {
    const copy = copyJson(JSON.parse(text), { maxDepth: 63, maxValues: 50_000 });
    return copy.ok && !copy.unsafe ? copy.value : undefined;
  } catch {
    return undefined;
  }
}
