/**
 * Compiles the tests of a rule. A test judges one value at a time. `conditions.ts` finds the values
 * and decides how many of them must pass.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Check, Comparison, CompilePart, Part } from './rule-check.ts';
import { absent, compareCost, equalTo, isScalar, scalarTests } from './scalar-tests.ts';

/** What is expected where `alike` would help a call to pass. */
export const withoutAlike =
  'a test without `alike`, which may only stop a call, in a `deny` or `ask`';

/** A compiled scalar or object of tests. */
export interface ValueTest extends Part {
  /** Whether the test holds if the path leads to no value. */
  readonly holdsWhereAbsent: boolean;
}

const noFacts: JsonObject = Object.freeze({});

/**
 * Compiles a test of something that is not an argument, such as a fact, without tests that only
 * arguments can pass.
 * @throws MisuseError, which names the field
 */
export function compilePlainTest(
  test: JsonValue,
  field: string,
  comparison: Comparison,
  check: Check,
): ValueTest {
  const compiled = compileTest(test, field, comparison, check);
  const [first] = compiled.ofArguments ?? [];
  check(first === undefined, field, `a test without \`${first}\`: only arguments have one`, test);
  return compiled;
}

/**
 * Compiles a scalar or an object of tests, all of which must hold for the same value.
 * @throws MisuseError `invalid_rule`, which names the field
 */
export function compileTest(
  test: JsonValue,
  field: string,
  comparison: Comparison,
  check: Check,
): ValueTest {
  const part = compileParts(test, field, comparison, check);
  return { ...part, holdsWhereAbsent: part.judge(absent, absent, noFacts) === true };
}

function compileParts(test: JsonValue, field: string, comparison: Comparison, check: Check): Part {
  if (isScalar(test)) return equalTo([test], comparison);
  const { parts, testOf } = check;
  const others = parts
    .namesOf('tests')
    .filter((name) => !scalarTests.has(name) && !otherTests.has(name));
  const names = [...scalarTests.keys(), ...others, ...otherTests.keys()].join(', ');
  check(isJsonObject(test), field, `a scalar or an object with some of ${names}`, test);
  const entries = Object.entries(test);
  check(entries.length > 0, field, `a scalar or an object with at least one of ${names}`, test);
  const compiled = entries.map(([key, operand]) => {
    const own = scalarTests.get(key) ?? otherTests.get(key);
    const compile = own ?? (parts.knows('tests', key) ? testOf(key, `${field}.${key}`) : undefined);
    check(compile !== undefined, `${field} test`, `one of ${names}`, key);
    return compile(operand, `${field}.${key}`, comparison, check);
  });
  return compiled.length === 1 ? (compiled[0] as Part) : allOf(compiled);
}

function allOf(inner: readonly Part[]): Part {
  return {
    ...sumOf(inner),
    judge: (value, whole, facts, place) => {
      let answer: boolean | undefined = true;
      for (const { judge } of inner) {
        const one = judge(value, whole, facts, place);
        if (one === false) return false;
        if (one === undefined) answer = undefined;
      }
      return answer;
    },
  };
}

function anyOf(inner: readonly Part[]): Part {
  return {
    ...sumOf(inner),
    judge: (value, whole, facts, place) => {
      let answer: boolean | undefined = false;
      for (const { judge } of inner) {
        const one = judge(value, whole, facts, place);
        if (one === true) return true;
        if (one === undefined) answer = undefined;
      }
      return answer;
    },
  };
}

/** The steps of several tests, and one step for going through them. */
function sumOf(inner: readonly Part[]): Omit<Part, 'judge'> {
  const ofArguments = inner.flatMap((one) => one.ofArguments ?? []);
  return {
    onlyStops: inner.some(({ onlyStops }) => onlyStops === true),
    cost: inner.reduce((sum, { cost }) => sum + cost, 0),
    steps: inner.reduce((sum, { steps }) => sum + steps, 1),
    writesNumbers: inner.some(({ writesNumbers }) => writesNumbers),
    ofArguments: ofArguments.length === 0 ? undefined : ofArguments,
  };
}

const otherTests = new Map<string, CompilePart>([
  [
    'exists',
    (operand: JsonValue, field: string, _comparison: Comparison, check: Check) => {
      check(typeof operand === 'boolean', field, 'a boolean', operand);
      return {
        judge: (_value, whole) => (whole !== absent) === operand,
        cost: 0,
        steps: 1,
        writesNumbers: false,
      };
    },
  ],
  [
    'size',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
      const inner = compileParts(operand, field, comparison, check);
      const { judge } = inner;
      const [first] = inner.ofArguments ?? [];
      check(first === undefined, field, `a test of a number, which has no ${first}`, operand);
      check(inner.onlyStops !== true, field, 'a test of a number, without `alike`', operand);
      return {
        cost: compareCost,
        steps: 1 + inner.steps + (inner.writesNumbers ? sizeDigits * inner.cost : 0),
        writesNumbers: false,
        judge: (_value, whole, facts) => {
          const size = sizeOf(whole);
          return size !== undefined && judge(size, size, facts);
        },
      };
    },
  ],
  [
    'not',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
      const reversed = comparison === 'loose' ? 'strict' : 'loose';
      const part = compileParts(operand, field, reversed, check);
      check(part.onlyStops !== true, field, withoutAlike, operand);
      const { judge, cost, steps, writesNumbers, ofArguments } = part;
      return {
        cost,
        steps: 1 + steps,
        writesNumbers,
        ofArguments,
        judge: (value, whole, facts, place) => {
          const inner = judge(value, whole, facts, place);
          return inner === undefined ? undefined : !inner;
        },
      };
    },
  ],
  [
    'any',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
      check(
        Array.isArray(operand) && operand.length > 0,
        field,
        'a list of at least one test',
        operand,
      );
      return anyOf(
        operand.map((item: JsonValue, index) =>
          compileParts(item, `${field}[${index}]`, comparison, check),
        ),
      );
    },
  ],
  [
    'alike',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) =>
      check.testOf('alike', field)(operand, field, comparison, check),
  ],
]);

/** Most digits of a size. No input has so many characters that its size has more. */
const sizeDigits = 9;

/** The elements of an array, or the code points of a text. */
function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'string') return undefined;
  let size = value.length;
  for (let at = 0; at < value.length - 1; at++) {
    const isHigh = (value.charCodeAt(at) & 0xfc00) === 0xd800;
    if (isHigh && (value.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      size--;
      at++;
    }
  }
  return size;
}
