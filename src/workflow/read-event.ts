/** Reading what comes to a workflow from outside: a frozen copy as JSON, checked field by field. */
import { describe, MisuseError } from '../errors.ts';
import { copyJson, frozenJson, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { checkToolName } from '../names.ts';
import type { WorkflowEvent } from './workflow-events.ts';
import type { WorkflowOptions } from './workflow-state.ts';

/** What an event may hold: deep enough for any schema, large enough for thousands of tools. */
export const eventLimits = { maxDepth: 256, maxValues: 10_000_000 };

/** A rule for one field: returns, or throws a MisuseError that names the place. */
type Check = (value: JsonValue | undefined, at: string) => void;

/** An event as frozen JSON. Fields that no event has are kept and mean nothing. @throws MisuseError `invalid_option` */
export function readEvent(event: unknown): WorkflowEvent {
  const read = copied(event, 'the event');
  if (!isJsonObject(read)) throw wrong('the event', 'an object with a `type`', read);
  const { type } = read;
  const fields = typeof type === 'string' && Object.hasOwn(events, type) ? events[type as WorkflowEvent['type']] : undefined;
  if (fields === undefined) throw wrong('type', `one of ${Object.keys(events).join(', ')}`, type);
  checkFields(read, fields, type as string);
  return read as unknown as WorkflowEvent;
}

/** What `createWorkflow` is given, as frozen JSON. @throws MisuseError `invalid_option` */
export function readWorkflowOptions(options: unknown): WorkflowOptions {
  const read = copied(options, 'the workflow');
  if (!isJsonObject(read)) throw wrong('createWorkflow', 'an object with `tools`', read);
  checkFields(
    read,
    { tools: toolSpecs, profiles: optional(profiles), profile: optional(text), facts: optional(object), budget: optional(budget) },
    'createWorkflow',
  );
  return read as unknown as WorkflowOptions;
}

const text: Check = (value, at) => {
  if (typeof value !== 'string' || value === '') throw wrong(at, 'a non-empty string', value);
};
const textOrNull: Check = (value, at) => {
  if (value !== null && value !== undefined) text(value, at);
};
const object: Check = (value, at) => {
  if (!isJsonObject(value)) throw wrong(at, 'an object', value);
};
const amount: Check = (value, at) => {
  if (typeof value !== 'number' || !(value >= 0)) throw wrong(at, 'a number from 0', value);
};
const flag: Check = (value, at) => {
  if (typeof value !== 'boolean') throw wrong(at, 'true or false', value);
};
const scope: Check = (value, at) => {
  if (value !== 'session' && value !== 'run') throw wrong(at, '"session" or "run"', value);
};
const strings = list(text);
const names: Check = (value, at) => {
  strings(value, at);
  const seen = new Set<JsonValue>();
  for (const name of value as readonly JsonValue[]) {
    if (seen.has(name)) throw wrong(at, 'every name once', `\`${String(name)}\` twice`, true);
    seen.add(name);
  }
};
const profiles: Check = (value, at) => {
  object(value, at);
  for (const [id, list] of Object.entries(value as JsonObject)) names(list, `${at}.${id}`);
};
const budget = fields({ maxTools: optional(amount), maxTokens: optional(amount), required: optional(strings) });
const factRules = list((value, at) => {
  object(value, at);
  const rule = value as JsonObject;
  text(rule.fact, `${at}.fact`);
  if (rule.in === undefined && rule.equals === undefined) throw wrong(at, '`equals` or `in` beside `fact`', rule);
  if (rule.in !== undefined && !Array.isArray(rule.in)) throw wrong(`${at}.in`, 'an array', rule.in);
});
const toolSpecs = list((value, at) => {
  object(value, at);
  const spec = value as JsonObject;
  try {
    checkToolName(spec.name);
  } catch (error) {
    throw new MisuseError('invalid_option', `\`${at}\`: ${(error as Error).message}`);
  }
  checkFields(spec, specFields, at);
});
const specFields: Readonly<Record<string, Check>> = {
  description: optional((value, at) => {
    if (typeof value !== 'string') throw wrong(at, 'a string', value);
  }),
  parameters: optional(object),
  requires: optional(factRules),
  provides: optional(strings),
  parallelSafe: optional(flag),
  resourceKey: optional(text),
  tokens: optional(amount),
  blocked: optional(strings),
};
const calls = list(
  fields({
    id: text,
    name: (value, at) => {
      // A model may ask for anything: an empty name is a call that ends as `tool_not_found`, not a broken event.
      if (typeof value !== 'string') throw wrong(at, 'a string', value);
    },
    resourceKey: optional(text),
  }),
);
const toolResult: Check = (value, at) => {
  object(value, at);
  const result = value as JsonObject;
  flag(result.success, `${at}.success`);
  if (result.success === true) return;
  object(result.error, `${at}.error`);
  text((result.error as JsonObject).code, `${at}.error.code`);
};

/** Each event's fields beside `type`. */
const events: Readonly<Record<WorkflowEvent['type'], Readonly<Record<string, Check>>>> = {
  tool_registry_set: { tools: toolSpecs, profiles: optional(profiles), profile: optional(text) },
  tool_profile_selected: { profile: text },
  tool_overrides_set: { scope, enable: optional(names), disable: optional(names), force: optional(names) },
  host_session_updated: { hostSessionId: textOrNull, status: textOrNull },
  facts_updated: { facts: object },
  run_requested: { runId: optional(text), profile: optional(text), provider: optional(text) },
  tool_calls_observed: { calls },
  tool_call_settled: { batchId: optional(text), callId: text, result: toolResult },
  run_completed: {},
  run_cancelled: {},
};

function copied(value: unknown, what: string): JsonValue {
  const copy = copyJson(value, eventLimits);
  if (!copy.ok) throw new MisuseError('invalid_option', `Expected ${what} to be JSON, got ${copy.message} at \`${copy.path}\`.`);
  return frozenJson(copy.value);
}

function checkFields(value: JsonObject, checks: Readonly<Record<string, Check>>, at: string): void {
  for (const [key, check] of Object.entries(checks)) check(Object.hasOwn(value, key) ? value[key] : undefined, `${at}.${key}`);
}

function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value, at) => {
    object(value, at);
    checkFields(value as JsonObject, checks, at);
  };
}

function optional(check: Check): Check {
  return (value, at) => {
    if (value !== undefined) check(value, at);
  };
}

function list(check: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) throw wrong(at, 'an array', value);
    for (const [index, item] of (value as readonly JsonValue[]).entries()) check(item, `${at}[${index}]`);
  };
}

function wrong(at: string, expected: string, got: JsonValue | undefined, said = false): MisuseError {
  return new MisuseError('invalid_option', `\`${at}\`: expected ${expected}, got ${said ? String(got) : describe(got)}.`);
}
