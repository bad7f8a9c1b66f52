/** Compiles the `when` of a rule: each path with the test of the scalars that it leads to. */
import { isJsonObject, type JsonObject, type JsonPrimitive, type JsonValue } from '../json.ts';
import { globTest } from '../text/glob.ts';
import { compilePattern } from '../text/regex.ts';
import type { Condition } from './conditions.ts';
import type { Effect } from './decision.ts';
import { type Check, isText, maxTextLength } from './rule-check.ts';

const testKeys = ['in', 'equals', 'matches', 'glob'] as const;
const maxSegments = 64;

/** Compiles both forms: the map from dotted paths and the list of conditions. */
export function compileWhen(when: JsonValue, effect: Effect, check: Check): readonly Condition[] {
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
    return { path, ...compileTest(isScalar(test) ? { equals: test } : test, field, effect, check) };
  });
}

function compileListed(entry: JsonValue, field: string, effect: Effect, check: Check): Condition {
  check(isJsonObject(entry), field, 'an object with `path` and one test', entry);
  const { path, ...test } = { path: null, ...entry } as JsonObject;
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
  return { path: segments, ...compileTest(test, field, effect, check) };
}

function isScalar(value: JsonValue): value is JsonPrimitive {
  return typeof value !== 'object' || value === null;
}

/**
 * The cost of testing one character, relative to looking at one value. These were measured: a
 * comparison of texts stops early, a large pattern does not.
 */
const compareCost = 1 / 8;
const globCost = 1 / 2;
const patternCost = 1 / 8;

type Test = Pick<Condition, 'test' | 'cost'>;

function compileTest(test: JsonValue, field: string, effect: Effect, check: Check): Test {
  const oneTest = `a scalar or exactly one of ${testKeys.join(', ')}`;
  check(isJsonObject(test), field, oneTest, test);
  const keys = Object.keys(test);
  check(keys.length === 1, field, oneTest, keys.length === 0 ? 'none' : keys.join(', '));
  const key = testKeys.find((name) => name === keys[0]);
  check(key !== undefined, `${field} test`, `one of ${testKeys.join(', ')}`, keys[0]);
  const operand = test[key] as JsonValue;
  return tests[key](operand, `${field}.${key}`, effect === 'allow', check);
}

type CompileTest = (operand: JsonValue, field: string, strict: boolean, check: Check) => Test;

const tests: Readonly<Record<(typeof testKeys)[number], CompileTest>> = {
  equals(operand: JsonValue, field: string, strict: boolean, check: Check): Test {
    check(isScalar(operand), field, 'a string, number, boolean or null', operand);
    return { test: equalTo([operand], strict), cost: compareCost };
  },
  in(operand: JsonValue, field: string, strict: boolean, check: Check): Test {
    check(
      Array.isArray(operand) && operand.length > 0,
      field,
      'a list of at least one scalar',
      operand,
    );
    const values = operand.map((item: JsonValue, index) => {
      check(isScalar(item), `${field}[${index}]`, 'a string, number, boolean or null', item);
      return item;
    });
    return { test: equalTo(values, strict), cost: compareCost };
  },
  glob(operand: JsonValue, field: string, strict: boolean, check: Check): Test {
    check(
      typeof operand === 'string' && operand.length <= maxTextLength,
      field,
      `a string of at most ${maxTextLength} characters`,
      operand,
    );
    const cost = operand.includes('?') ? 2 * globCost : globCost;
    return { test: onText(globTest(operand, !strict), strict), cost };
  },
  matches(operand: JsonValue, field: string, strict: boolean, check: Check): Test {
    check(isText(operand), field, 'a regular expression as a non-empty string', operand);
    const { matcher, size } = patternOf(operand, field, check);
    const cost = Math.max(globCost, size * patternCost);
    return { test: onText((text) => matcher.test(text), strict), cost };
  },
};

/** The host wrote the pattern, but the model writes the texts: only the linear engine may run it. */
function patternOf(source: string, field: string, check: Check): ReturnType<typeof compilePattern> {
  try {
    return compilePattern(source, { trusted: false });
  } catch (error) {
    check(
      false,
      field,
      'a regular expression that runs in linear time ' +
        `(${error instanceof Error ? error.message : 'refused'})`,
      source,
    );
  }
}

/**
 * The text by which a deny or ask compares. Numbers and booleans become their JSON text; null has
 * none, so that it never equals a string.
 */
function textOf(value: JsonPrimitive): string | undefined {
  return value === null ? undefined : String(value);
}

function equalTo(
  values: readonly JsonPrimitive[],
  strict: boolean,
): (value: JsonPrimitive) => boolean {
  const exact = new Set(values);
  if (strict) return (value) => exact.has(value);
  const texts = new Set(values.map(textOf).filter((text) => text !== undefined));
  return (value) => exact.has(value) || texts.has(textOf(value) as string);
}

function onText(
  matches: (text: string) => boolean,
  strict: boolean,
): (value: JsonPrimitive) => boolean {
  if (strict) return (value) => typeof value === 'string' && matches(value);
  return (value) => {
    const text = textOf(value);
    return text !== undefined && matches(text);
  };
}
