/** Compiles the `when` of a rule: each path with the test of the values that it leads to. */

import type { Effect } from '../../api/policy.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Condition, WrittenCondition } from './conditions.ts';
import type { Comparison } from './rule-check.ts';
import { type Check, maxTextLength } from './rule-check.ts';
import { compileTest } from './value-test.ts';

const maxSegments = 64;

/** An allow compares strictly; a deny or ask loosely. */
export function comparisonOf(effect: Effect): Comparison {
  return effect === 'allow' ? 'strict' : 'loose';
}

/** Compiles both forms: the map from dotted paths and the list of conditions. */
export function compileWhen(
  when: JsonValue,
  effect: Effect,
  check: Check,
): readonly WrittenCondition[] {
  if (Array.isArray(when)) {
    check(when.length > 0, 'when', 'left out or at least one condition', when);
    return when.map((entry: JsonValue, index) =>
      compileListed(entry, `when[${index}]`, effect, check),
    );
  }
  check(
    isJsonObject(when) && Object.keys(when).length > 0,
    'when',
    'left out, a map of at least one path, or a list of conditions',
    when,
  );
  return Object.entries(when).map(([text, test]) => {
    const field = `when[${JSON.stringify(text)}]`;
    const path = text.split('.');
    const wellFormed =
      text.length <= maxTextLength &&
      path.length <= maxSegments &&
      path.every((segment) => segment !== '');
    check(
      wellFormed,
      field,
      `keyed by a path of 1 to ${maxSegments} names joined by dots (the list form takes any key)`,
      text,
    );
    return {
      path,
      test: compileTest(test, field, comparisonOf(effect), check),
      attribute: attributeIn(text),
      field,
      written: test,
      check,
    };
  });
}

/** The paths whose attributes the conditions read. */
export function attributesOf(conditions: readonly Condition[]): readonly string[] {
  return conditions.flatMap(({ attribute }) => (attribute === undefined ? [] : [attribute.of]));
}

/**
 * Reads `payee@name`. The path keeps its literal reading too, for tools that declare no attribute
 * for `payee`.
 */
function attributeIn(text: string): Condition['attribute'] {
  const at = text.lastIndexOf('@');
  if (at <= 0 || at === text.length - 1) return undefined;
  return { of: text.slice(0, at), path: text.slice(at + 1).split('.') };
}

function compileListed(
  entry: JsonValue,
  field: string,
  effect: Effect,
  check: Check,
): WrittenCondition {
  check(isJsonObject(entry), field, 'an object with `path` and at least one test', entry);
  const path = Object.hasOwn(entry, 'path') ? (entry.path as JsonValue) : null;
  check(
    Array.isArray(path) && path.length > 0 && path.length <= maxSegments,
    `${field}.path`,
    `a list of 1 to ${maxSegments} strings`,
    path,
  );
  const segments = path.map((segment: JsonValue, at) => {
    check(
      typeof segment === 'string' && segment.length <= maxTextLength,
      `${field}.path[${at}]`,
      `a string of at most ${maxTextLength} characters`,
      segment,
    );
    return segment;
  });
  const test: JsonObject = Object.fromEntries(
    Object.entries(entry).filter(([key]) => key !== 'path'),
  ) as JsonObject;
  const compiled = compileTest(test, field, comparisonOf(effect), check);
  return { path: segments, test: compiled, field, written: test, check };
}
