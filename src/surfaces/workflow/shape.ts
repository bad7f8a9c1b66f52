/**
 * Checks for JSON from outside. Each checks one value and throws a MisuseError that names the
 * place.
 */

import { type Block, own, ownMembers } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import {
  copyJson,
  frozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { readMembers } from '../../values/options/index.ts';
import { checkToolName } from '../../values/text/names.ts';

/**
 * Bounds of an event or a state: deeper than any output, large enough for thousands of tools.
 */
export const eventLimits = { maxDepth: 1_024, maxValues: 10_000_000 };

/** Checks one field. @throws MisuseError, which names the place */
export type Check = (value: JsonValue | undefined, at: string) => void;

/** Accepts anything, including undefined. */
export const any: Check = () => {};
export const text: Check = (value, at) => {
  if (typeof value !== 'string' || value === '') throw wrong(at, 'a non-empty string', value);
};
export const textOrNull: Check = (value, at) => {
  if (value !== null && value !== undefined) text(value, at);
};
export const object: Check = (value, at) => {
  if (!isJsonObject(value)) throw wrong(at, 'an object', value);
};
/** A null is refused, since in changes it means that the fact is deleted. */
export const factsRule: Check = (value, at) => {
  object(value, at);
  for (const [key, fact] of Object.entries(value as JsonObject))
    if (fact === null) throw wrong(`${at}.${key}`, 'no null', fact);
};
export const amount: Check = (value, at) => {
  if (typeof value !== 'number' || !(value >= 0)) throw wrong(at, 'a number from 0', value);
};
const flag: Check = (value, at) => {
  if (typeof value !== 'boolean') throw wrong(at, 'true or false', value);
};
export const scope: Check = (value, at) => {
  if (value !== 'session' && value !== 'run') throw wrong(at, '"session" or "run"', value);
};
export const strings = list(text);
export const names: Check = (value, at) => {
  strings(value, at);
  const seen = new Set<JsonValue>();
  for (const name of value as readonly JsonValue[]) {
    if (seen.has(name)) throw wrong(at, 'every name once', `\`${String(name)}\` twice`, true);
    seen.add(name);
  }
};
export const profiles: Check = (value, at) => {
  object(value, at);
  for (const [id, list] of Object.entries(value as JsonObject)) names(list, `${at}.${id}`);
};
export const budget = fields({
  maxTools: optional(amount),
  maxTokens: optional(amount),
  required: optional(strings),
});
const factRules = list((value, at) => {
  const { in: among, equals } = checkFields(
    value,
    { fact: text, equals: any, in: optional(list(any)) },
    at,
  );
  if (among === undefined && equals === undefined)
    throw wrong(at, '`equals` or `in` next to `fact`', value);
});
/** An unknown word is refused, since it would block nothing. */
const blocks: ReadonlySet<unknown> = new Set<Block>([
  'disabled',
  'denied',
  'not_registered',
  'knobs_missing',
  'external',
  'app_only',
]);
function block(value: JsonValue | undefined, at: string): void {
  if (!blocks.has(value)) throw wrong(at, `one of ${[...blocks].join(', ')}`, value);
}
export const toolSpecs = list((value, at) => {
  const { name } = checkFields(value, { name: any, ...specFields }, at);
  try {
    checkToolName(name);
  } catch (error) {
    throw new MisuseError('invalid_option', `\`${at}\`: ${(error as Error).message}`);
  }
});
/** The fields of a tool's spec other than its name. */
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
  blocked: optional(list(block)),
};
/**
 * Specs that are used only for computing. Their names may be any texts, even ones that a registry
 * refuses.
 */
export const planSpecs = list(
  (value, at) => void checkFields(value, { name: text, ...specFields }, at),
);
export const calls = list(
  fields({
    id: text,
    name: (value, at) => {
      // A model may send an empty name. That call ends as `tool_not_found`; the event is valid.
      if (typeof value !== 'string') throw wrong(at, 'a string', value);
    },
    arguments: any,
    resourceKey: optional(text),
  }),
);
export const toolResult: Check = (value, at) => {
  object(value, at);
  const { success, error } = ownMembers(value as JsonObject);
  flag(success, `${at}.success`);
  if (success === true) return;
  object(error, `${at}.error`);
  text(own(error as JsonObject, 'code'), `${at}.error.code`);
};

export function copied(value: unknown, what: string): JsonValue {
  const copy = copyJson(value, eventLimits);
  if (!copy.ok)
    throw new MisuseError(
      'invalid_option',
      `Expected ${what} to be JSON, got ${copy.message} at \`${copy.path}\`.`,
    );
  return frozenJson(copy.value);
}

/**
 * Checks an object that may have only these fields. A misspelt field must not be ignored, since it
 * may be meant to restrict something.
 * @returns its own members, in an object without a prototype
 */
export function checkFields<Name extends string>(
  value: JsonValue | undefined,
  checks: Readonly<Record<Name, Check>>,
  at: string,
): Partial<Readonly<Record<Name, JsonValue>>> {
  object(value, at);
  const members: Partial<Record<Name, JsonValue>> = readMembers(
    `\`${at}\``,
    value as Record<Name, JsonValue>,
    Object.keys(checks),
    { noun: 'field' },
  );
  for (const [key, check] of Object.entries(checks) as [Name, Check][])
    check(members[key], `${at}.${key}`);
  return members;
}

export function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value, at) => void checkFields(value, checks, at);
}

export function optional(check: Check): Check {
  return (value, at) => {
    if (value !== undefined) check(value, at);
  };
}

export function list(check: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) throw wrong(at, 'an array', value);
    for (const [index, item] of (value as readonly JsonValue[]).entries())
      check(item, `${at}[${index}]`);
  };
}

export function wrong(
  at: string,
  expected: string,
  got: JsonValue | undefined,
  said = false,
): MisuseError {
  return new MisuseError(
    'invalid_option',
    `\`${at}\`: expected ${expected}, got ${said ? String(got) : describe(got)}.`,
  );
}
