/** The tests of a rule that look at one scalar. */

import {
  isJsonObject,
  type JsonObject,
  type JsonPrimitive,
  type JsonValue,
} from '../../values/json/index.ts';
import { globTest } from '../../values/text/glob.ts';
import {
  type Check,
  type Comparison,
  type CompilePart,
  isText,
  maxTextLength,
  type Part,
} from './rule-check.ts';

/** The value of a path that leads nowhere. */
export const absent = Symbol('absent');

/** The value for an element of an empty array. */
export const noElement = Symbol('no element');

export function isScalar(value: unknown): value is JsonPrimitive {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  );
}

/**
 * The cost of testing one character, relative to looking at one value. These were measured: a
 * comparison of texts stops early, a large pattern does not.
 */
export const compareCost = 1 / 16;
export const globCost = 1 / 4;

/** A test of scalars. It fails for an object and for an absent value. */
function onScalar(
  holds: (value: JsonPrimitive, facts: JsonObject) => boolean,
  cost: number,
  writesNumbers = false,
): Part {
  return {
    judge: (value, _whole, facts) => {
      if (value === noElement) return undefined;
      return isScalar(value) && holds(value, facts);
    },
    cost,
    steps: 1,
    writesNumbers,
  };
}

const scalarText = 'a string, number, boolean or null';

export const scalarTests: ReadonlyMap<string, CompilePart> = new Map<string, CompilePart>([
  [
    'equals',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
      check(isScalar(operand), field, scalarText, operand);
      return equalTo([operand], comparison);
    },
  ],
  ['in', compileIn],
  [
    'glob',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
      check(
        typeof operand === 'string' && operand.length <= maxTextLength,
        field,
        `a string of at most ${maxTextLength} characters`,
        operand,
      );
      const cost = operand.includes('?') ? 2 * globCost : globCost;
      return onText(globTest(operand, comparison === 'loose'), comparison, cost);
    },
  ],
  [
    'matches',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) =>
      check.testOf('matches', field)(operand, field, comparison, check),
  ],
  ['gt', compare((value, bound) => value > bound)],
  ['gte', compare((value, bound) => value >= bound)],
  ['lt', compare((value, bound) => value < bound)],
  ['lte', compare((value, bound) => value <= bound)],
]);

function compileIn(operand: JsonValue, field: string, comparison: Comparison, check: Check): Part {
  if (isJsonObject(operand)) return inFact(operand, field, comparison, check);
  check(
    Array.isArray(operand) && operand.length > 0,
    field,
    'a list of at least one scalar, or { fact } with the name of a fact',
    operand,
  );
  const values = operand.map((item: JsonValue, index) => {
    check(isScalar(item), `${field}[${index}]`, scalarText, item);
    return item;
  });
  return equalTo(values, comparison);
}

/** The name in `{ fact }`. */
export function factIn(operand: JsonObject, field: string, expected: string, check: Check): string {
  const fact = Object.hasOwn(operand, 'fact') ? operand.fact : undefined;
  check(
    Object.keys(operand).length === 1 && isText(fact) && fact.length <= maxTextLength,
    field,
    `${expected}, or { fact } with the name of a fact and nothing else`,
    operand,
  );
  return fact;
}

/** A list that is read from the facts of the session at each call. */
function inFact(operand: JsonObject, field: string, comparison: Comparison, check: Check): Part {
  const fact = factIn(operand, field, 'a list of scalars', check);
  return {
    judge: (value, _whole, facts) => {
      if (value === noElement) return undefined;
      if (value === absent) return false;
      const list = Object.hasOwn(facts, fact) ? facts[fact] : undefined;
      // Without a list, a deny or ask matches any value, and an allow matches none.
      if (!Array.isArray(list)) return comparison === 'loose';
      return isScalar(value) && membersOf(list, comparison)(value);
    },
    cost: compareCost,
    steps: 1,
    writesNumbers: false,
  };
}

type Members = (value: JsonPrimitive) => boolean;
interface Prepared {
  loose?: Members;
  strict?: Members;
}

/** Facts are frozen, so a list is prepared once for all rules and calls. */
const preparedLists = new WeakMap<object, Prepared>();

function membersOf(list: readonly JsonValue[], comparison: Comparison): Members {
  let prepared = preparedLists.get(list);
  if (prepared === undefined) {
    prepared = {};
    preparedLists.set(list, prepared);
  }
  prepared[comparison] ??= memberOf(list.filter(isScalar), comparison);
  return prepared[comparison];
}

export function equalTo(values: readonly JsonPrimitive[], comparison: Comparison): Part {
  return onScalar(memberOf(values, comparison), compareCost);
}

function memberOf(values: readonly JsonPrimitive[], comparison: Comparison): Members {
  const exact = new Set(values);
  if (comparison === 'strict') return (value) => exact.has(value);
  // The other spellings are added here, because writing a number as text takes long.
  const loose = new Set(values.flatMap(spellingsOf));
  if (!values.some((value) => typeof value === 'number')) return (value) => loose.has(value);
  return (value) => {
    if (loose.has(value)) return true;
    const number = typeof value === 'string' ? numberOf(value, comparison) : undefined;
    return number !== undefined && exact.has(number);
  };
}

/**
 * What a loose comparison accepts as a value: the value itself, and whatever has the same JSON
 * text.
 */
function spellingsOf(value: JsonPrimitive): JsonPrimitive[] {
  if (value === null) return [value];
  if (typeof value !== 'string') return [value, String(value)];
  if (value === 'true' || value === 'false') return [value, value === 'true'];
  const number = Number(value);
  return String(number) === value ? [value, number] : [value];
}

export function onText(
  matches: (text: string) => boolean,
  comparison: Comparison,
  cost: number,
): Part {
  if (comparison === 'strict')
    return onScalar((value) => typeof value === 'string' && matches(value), cost);
  return onScalar((value) => value !== null && matches(String(value)), cost, true);
}

function compare(holds: (value: number, bound: number) => boolean): CompilePart {
  return (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
    check(typeof operand === 'number', field, 'a finite number', operand);
    return onScalar((value) => {
      const number = numberOf(value, comparison);
      if (number === undefined) return false;
      // NaN is neither above nor below a bound, so it never helps a call to pass.
      return Number.isNaN(number) ? comparison === 'loose' : holds(number, operand);
    }, compareCost);
  };
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function numberOf(value: JsonPrimitive, comparison: Comparison): number | undefined {
  if (typeof value === 'number') return value;
  return comparison === 'loose' && typeof value === 'string' && jsonNumber.test(value)
    ? Number(value)
    : undefined;
}
