/** Repair and validation: the arguments become what the schema says, or the model is told what to correct. */
import { toolError } from '../errors.ts';
import { copyJson, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Validated } from '../schema/bind.ts';
import { issueLines } from '../schema/issues.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import type { Outcome, Step } from '../call/step.ts';

/** Validates the canonical input, after mending it where `repair: "safe"` may; keeps the handler's parse. */
export function validate(call: Call): Step {
  const { input } = (call.binding as Binding).entry.internals;
  if (call.session.setup.repair === 'safe') {
    const problem = repairText(call);
    if (problem !== undefined) return problem;
    if (call.resumed === undefined) repairMembers(call, input.json);
  }
  if (call.unsafe && input.kind !== 'json') return unsafeKey();
  // A raw schema fills its defaults into the canonical input and answers that very object; the handler then needs a copy of its own if anyone reads the canonical one later.
  const validated = input.validate(call.canonical);
  return validated instanceof Promise ? validated.then((settled) => read(call, settled)) : read(call, validated);
}

function read(call: Call, validated: Validated): Outcome {
  if (validated.issues !== undefined) {
    const { toolName } = call;
    const text = issueLines(validated.issues);
    return toolError('invalid_input', `The arguments of \`${toolName}\` are invalid. Correct them and call again.\n${text}`, { details: validated.issues.map(({ path, message }) => ({ path, message })) });
  }
  call.parsed = validated.value;
  return undefined;
}

function unsafeKey(): Outcome {
  return toolError('invalid_input', 'The arguments hold a member named `__proto__`, which is refused. Remove it.', { reason: 'unsafe_key' });
}

/** The whole input came as text: it must hold an object. */
function repairText(call: Call): Outcome {
  const text = call.extra?.text;
  if (text === undefined) return undefined;
  call.more.text = undefined;
  const parsed = text.trim() === '' ? {} : parseJson(text);
  if (!isJsonObject(parsed)) return toolError('invalid_input', 'Expected the arguments to be a JSON object, got a string that holds none.', { reason: 'not_an_object' });
  call.canonical = parsed;
  record(call, '', text.trim() === '' ? 'empty_string' : 'json_string');
  return undefined;
}

/** Members that hold JSON as text where the schema wants an object or an array, and nothing else. */
function repairMembers(call: Call, schema: JsonObject): void {
  const { properties } = schema;
  if (!isJsonObject(properties)) return;
  for (const [name, member] of Object.entries(properties)) {
    const value = Object.hasOwn(call.canonical, name) ? call.canonical[name] : undefined;
    if (typeof value !== 'string' || !isJsonObject(member) || !wantsContainer(member)) continue;
    const parsed = value.trim() === '' && allows(member, 'object') ? {} : parseJson(value);
    if (typeof parsed !== 'object' || parsed === null || !allows(member, Array.isArray(parsed) ? 'array' : 'object')) continue;
    call.canonical = { ...call.canonical, [name]: parsed };
    record(call, name, value.trim() === '' ? 'empty_string' : 'json_string');
  }
}

function wantsContainer(schema: JsonObject): boolean {
  return (allows(schema, 'object') || allows(schema, 'array')) && !allows(schema, 'string');
}

function allows(schema: JsonObject, type: string): boolean {
  return schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type));
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
