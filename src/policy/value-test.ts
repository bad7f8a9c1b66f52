/**
 * Compiles the tests of a rule. A test judges one value at a time; `conditions.ts` finds the values
 * and decides how many of them must pass.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Check } from './rule-check.ts';
import {
  absent,
  type Comparison,
  type CompilePart,
  compareCost,
  equalTo,
  isScalar,
  type Part,
  scalarTests,
} from './scalar-tests.ts';

/** A compiled scalar or object of tests. */
export interface ValueTest extends Part {
  /** Whether the test holds where the path leads to no value. */
  readonly holdsWhereAbsent: boolean;
}

const noFacts: JsonObject = Object.freeze({});

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
  const { judge, cost } = compileParts(test, field, comparison, check);
  return { judge, cost, holdsWhereAbsent: judge(absent, absent, noFacts) === true };
}

function compileParts(test: JsonValue, field: string, comparison: Comparison, check: Check): Part {
  if (isScalar(test)) return equalTo([test], comparison);
  const names = [...parts.keys()].join(', ');
  check(isJsonObject(test), field, `a scalar or an object with some of ${names}`, test);
  const entries = Object.entries(test);
  check(entries.length > 0, field, `a scalar or an object with at least one of ${names}`, test);
  const compiled = entries.map(([key, operand]) => {
    const compile = parts.get(key);
    check(compile !== undefined, `${field} test`, `one of ${names}`, key);
    return compile(operand, `${field}.${key}`, comparison, check);
  });
  return compiled.length === 1 ? (compiled[0] as Part) : allOf(compiled);
}

function allOf(inner: readonly Part[]): Part {
  return {
    cost: costOf(inner),
    judge: (value, whole, facts) => {
      let answer: boolean | undefined = true;
      for (const { judge } of inner) {
        const one = judge(value, whole, facts);
        if (one === false) return false;
        if (one === undefined) answer = undefined;
      }
      return answer;
    },
  };
}

function anyOf(inner: readonly Part[]): Part {
  return {
    cost: costOf(inner),
    judge: (value, whole, facts) => {
      let answer: boolean | undefined = false;
      for (const { judge } of inner) {
        const one = judge(value, whole, facts);
        if (one === true) return true;
        if (one === undefined) answer = undefined;
      }
      return answer;
    },
  };
}

function costOf(inner: readonly Part[]): number {
  return inner.reduce((sum, { cost }) => sum + cost, 0);
}

const parts = new Map<string, CompilePart>([
  ...scalarTests,
  [
    'exists',
    (operand: JsonValue, field: string, _comparison: Comparison, check: Check) => {
      check(typeof operand === 'boolean', field, 'a boolean', operand);
      return { judge: (_value, whole) => (whole !== absent) === operand, cost: 0 };
    },
  ],
  [
    'size',
    (operand: JsonValue, field: string, comparison: Comparison, check: Check) => {
      const { judge } = compileParts(operand, field, comparison, check);
      return {
        cost: compareCost,
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
      const { judge, cost } = compileParts(operand, field, reversed, check);
      return {
        cost,
        judge: (value, whole, facts) => {
          const inner = judge(value, whole, facts);
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
]);

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
