/**
 * Repair and validation: the arguments become what the schema says, or the model is told what to
 * correct.
 */

import { toolError } from '../../errors.ts';
import { copyJson, isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Validated } from '../../schema/bind.ts';
import { issueLines } from '../../schema/issues.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { collectSecrets } from '../call-secrets.ts';
import { inPolicyTime } from '../in-policy-time.ts';
import { schemaError } from '../report-fault.ts';
import type { Outcome, Step } from '../step.ts';
import { withoutStrictNulls } from '../strict-nulls.ts';
import { toldName } from '../told-name.ts';

/**
 * Validates the canonical input, after mending it where `repair: "safe"` may; keeps the handler's
 * parse.
 */
export function validate(call: Call): Step {
  const { input } = (call.binding as Binding).entry.internals;
  if (call.session.setup.repair === 'safe') {
    const problem = repairText(call);
    if (problem !== undefined) return problem;
    if (call.resumed === undefined)
      call.canonical = repairMembers(call, call.canonical, input.json, '') as JsonObject;
    const whole =
      call.extra?.repaired === undefined
        ? undefined
        : copyJson(call.canonical, { maxDepth: 64, maxValues: 50_000 });
    if (whole !== undefined && !whole.ok)
      return toolError(
        'invalid_input',
        `The arguments are ${whole.message}, once the JSON that they hold as text is read. ` +
          'Send less.',
        {
          reason: whole.fault,
        },
      );
  }
  // What a surface's dialect added is no input: the session's own calls, and resumed ones, never
  // had it.
  if (call.options?.surface?.strictNulls === true && call.resumed === undefined)
    call.canonical = withoutStrictNulls(call.canonical, input.json, (path) =>
      record(call, path, 'strict_null'),
    );
  if (call.unsafe && input.kind !== 'json') return unsafeKey();
  // A raw schema fills its defaults into the canonical input and answers that very object; the
  // handler then needs a copy of its own if anyone reads the canonical one later.
  const { extra } = call;
  const validated =
    extra === undefined
      ? input.validate(call.canonical)
      : extra.wasEdited
        ? validateEdited(call)
        : extra.resumed === undefined
          ? input.validate(call.canonical)
          : input.revalidate(call.canonical);
  return validated instanceof Promise
    ? inPolicyTime(call, validated).then((settled) => read(call, settled))
    : read(call, validated);
}

/**
 * What a person left out is filled in as for any call; what was filled in before the person saw it
 * need not match the schema.
 */
function validateEdited(call: Call): Validated | Promise<Validated> {
  const { input } = (call.binding as Binding).entry.internals;
  const validated = input.validate(call.canonical);
  return validated instanceof Promise || validated.issues === undefined || input.kind !== 'json'
    ? validated
    : input.revalidate(call.canonical);
}

function read(call: Call, validated: Validated): Outcome {
  if (validated.issues !== undefined) {
    const text = issueLines(validated.issues);
    const error = toolError(
      'invalid_input',
      `The arguments of \`${toldName(call)}\` are invalid. Correct them and call again.\n${text}`,
      {
        details: validated.issues as unknown as JsonValue,
      },
    );
    // What a repair brought to light may be secret too.
    if (validated.fault !== undefined) collectSecrets(call);
    return schemaError(call, validated, 'parameters', error);
  }
  call.parsed = validated.value;
  return undefined;
}

function unsafeKey(): Outcome {
  return toolError(
    'invalid_input',
    'The arguments hold a member named `__proto__`, which is refused. Remove it.',
    { reason: 'unsafe_key' },
  );
}

/** The whole input came as text: it must hold an object. */
function repairText(call: Call): Outcome {
  const text = call.extra?.text;
  if (text === undefined) return undefined;
  call.more.text = undefined;
  const parsed = text.trim() === '' ? {} : parseJson(text);
  if (!isJsonObject(parsed))
    return toolError(
      'invalid_input',
      'Expected the arguments to be a JSON object, got a string that holds none.',
      { reason: 'not_an_object' },
    );
  call.canonical = parsed;
  record(call, '', text.trim() === '' ? 'empty_string' : 'json_string');
  return undefined;
}

/**
 * After so many texts that hold no JSON the rest stays as it is: the input is no longer one that
 * can be mended.
 */
const mostUnreadable = 100;

/**
 * Places that hold JSON as text where the schema wants an object or an array, and nothing else. The
 * value with its own changes; what is not mended stays the same object.
 */
function repairMembers(
  call: Call,
  value: JsonValue,
  schema: JsonValue | undefined,
  path: string,
): JsonValue {
  if (!isJsonObject(schema)) return value;
  if (typeof value === 'string') {
    const mended = wantsContainer(schema) ? container(value, schema, call) : undefined;
    if (mended === undefined) return value;
    record(call, path, value.trim() === '' ? 'empty_string' : 'json_string');
    return repairMembers(call, mended, schema, path);
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
    // One copy for all members, which has each as its own: writing `__proto__` sets no prototype.
    changed ??= { ...object } as Record<string, JsonValue>;
    changed[name] = after;
  }
  return changed ?? object;
}

/**
 * What the text stands for, where the schema takes that. Most texts that are no container show it
 * by their first character; asking the engine makes an error each time.
 */
function container(text: string, schema: JsonObject, call: Call): JsonValue | undefined {
  const { more } = call;
  const isBlank = text.trim() === '';
  if (!isBlank && (!/^[ \t\r\n]*[[{]/.test(text) || more.unreadable >= mostUnreadable))
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
 * Whether a schema takes values of a type. One that names none takes any; of `anyOf` and `oneOf`
 * one alternative is enough.
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

/** Text with an own `__proto__` in it is not mended. */
function parseJson(text: string): JsonValue | undefined {
  try {
    const copy = copyJson(JSON.parse(text), { maxDepth: 63, maxValues: 50_000 });
    return copy.ok && !copy.unsafe ? copy.value : undefined;
  } catch {
    return undefined;
  }
}

function record(call: Call, path: string, rule: string): void {
  const { more } = call;
  more.repaired ??= [];
  more.repaired.push({ path, rule });
}
