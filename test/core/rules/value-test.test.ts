/** What each test of a rule holds for. The readings of a path are in `conditions.test.ts`. */
import { describe, expect, test } from 'vitest';
import type { RuleTest } from '../../../src/api/rule.ts';
import { compileRules } from '../../../src/assembly/compile.ts';
import { type Judged, maxRuleSteps } from '../../../src/core/rules/rule.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';

const missing: unique symbol = Symbol('missing');
type Value = JsonValue | typeof missing;

function judged(value: Value, facts: JsonObject = {}): Judged {
  const input: JsonObject = value === missing ? {} : { v: value as JsonValue };
  return {
    input,
    parsed: input,
    declares: () => true,
    facts,
    surface: '',
    call: undefined,
    attributes: undefined,
    left: maxRuleSteps,
  };
}

function matches(
  effect: 'deny' | 'allow',
  ruleTest: RuleTest,
  value: Value,
  facts?: JsonObject,
): boolean {
  const [rule] = compileRules([{ effect, when: { v: ruleTest } }], 'session');
  return rule?.matches(judged(value, facts)) === true;
}

/** A row: the test, values that it holds for in any rule, and values that it holds for in none. */
describe.each<[ruleTest: RuleTest, holds: Value[], fails: Value[]]>([
  ['a', ['a', ['a']], ['b', 1, null, {}, missing, []]],
  [null, [null], ['null', 0, missing]],
  [{ gt: 10 }, [10.5, 11, [11]], [10, 9, -11, true, null, 'eleven', {}, missing, []]],
  [{ gte: 10 }, [10, 11], [9.9]],
  [{ lt: 10 }, [9, -1e9], [10, 11]],
  [{ lte: 10 }, [10, 9], [10.1]],
  [{ gte: 10, lt: 20 }, [10, 19.9], [9, 20]],
  [{ exists: true }, [0, '', null, false, {}, [], [1]], [missing]],
  [{ exists: false }, [missing], [0, '', null, false, {}, []]],
  [{ size: 3 }, ['abc', '😀😀😀', [1, 2, 3]], ['ab', '😀😀', [1], 3, null, {}, missing]],
  [{ size: { gt: 2, lte: 4 } }, ['abc', [1, 2, 3, 4]], ['ab', 'abcde', []]],
  [{ size: 0 }, ['', []], [' ', [1], missing]],
  [{ not: 'a' }, ['b', missing, ['b', 'c']], ['a', ['a'], []]],
  [{ not: { exists: true } }, [missing], ['a', []]],
  [{ not: { exists: false } }, ['a', []], [missing]],
  [{ not: { not: 'a' } }, ['a'], ['b', missing]],
  [{ not: { size: { gt: 2 } } }, ['ab', [1, 2], [], 7, missing], ['abc', [1, 2, 3]]],
  [{ any: ['a', { gt: 5 }] }, ['a', 6], ['b', 5, missing]],
  [{ any: [{ size: 0 }, 'a'] }, [[], ['a'], 'a', ''], [['b'], 'b', missing]],
  [{ any: ['a', { exists: false }] }, ['a', missing], ['b']],
  [{ in: ['a', 2], glob: '*' }, ['a'], ['b']],
  [{ not: { in: ['a', 'b'] } }, ['c', ['c'], missing, {}], ['a', []]],
])('%j', (ruleTest, holds, fails) => {
  test.each<[value: Value]>(holds.map((value) => [value]))('holds for %s', (value) => {
    expect(matches('deny', ruleTest, value)).toBe(true);
    expect(matches('allow', ruleTest, value)).toBe(true);
  });
  test.each<[value: Value]>(fails.map((value) => [value]))('fails for %s', (value) => {
    expect(matches('deny', ruleTest, value)).toBe(false);
    expect(matches('allow', ruleTest, value)).toBe(false);
  });
});

describe('a value of another type', () => {
  test.each<[RuleTest, Value]>([
    [{ gt: 10 }, '11'],
    [{ gt: 10 }, '1.1e1'],
    [{ lt: 0 }, '-0.5'],
    [{ equals: 22 }, '22'],
    [{ in: [true] }, 'true'],
    [{ glob: '2*' }, 22],
    [{ not: 22 }, '22'],
    [{ not: { gt: 10 } }, '11'],
  ])('%j holds for %j in a deny and not in an allow', (ruleTest, value) => {
    expect(matches('deny', ruleTest, value)).toBe(true);
    expect(matches('allow', ruleTest, value)).toBe(false);
  });

  test.each(['', ' 11', '+11', '011', '0x11', '11n', '1_1', 'Infinity', 'NaN', '.5', '5.', '1e'])(
    '%j is no number',
    (value) => {
      expect(matches('deny', { any: [{ gt: -1e9 }, { lte: -1e9 }] }, value)).toBe(false);
    },
  );

  test('inside two negations the reading is that of the outside', () => {
    expect(matches('deny', { not: { not: { gt: 10 } } }, '11')).toBe(true);
    expect(matches('allow', { not: { not: { gt: 10 } } }, '11')).toBe(false);
  });
});

describe('`not` at an array', () => {
  const inside: RuleTest = { not: { in: ['a', 'b'] } };
  test('a deny matches as soon as one value fails the inner test', () => {
    expect(matches('deny', inside, ['a', 'x'])).toBe(true);
    expect(matches('deny', inside, ['a', 'b'])).toBe(false);
  });
  test('an allow matches only if every value fails it', () => {
    expect(matches('allow', inside, ['a', 'x'])).toBe(false);
    expect(matches('allow', inside, ['x', 'y'])).toBe(true);
  });
  test('`size` is about the array, whatever its elements are', () => {
    expect(matches('deny', { size: { gt: 2 }, not: 'a' }, ['a', 'bcd', 'a'])).toBe(true);
    expect(matches('deny', { size: { gt: 2 } }, ['abc', 'def'])).toBe(false);
  });
});

describe('a list that is read from a fact', () => {
  const listed: RuleTest = { in: { fact: 'payees.allowed' } };
  const facts = { 'payees.allowed': ['acme', 7] };

  test('holds for its members', () => {
    expect(matches('allow', listed, 'acme', facts)).toBe(true);
    expect(matches('allow', listed, '7', facts)).toBe(false);
    expect(matches('deny', listed, '7', facts)).toBe(true);
    expect(matches('deny', { not: listed }, 'evil', facts)).toBe(true);
    expect(matches('deny', { not: listed }, 'acme', facts)).toBe(false);
  });

  test.each([[{}], [{ 'payees.allowed': 'acme' }], [{ 'payees.allowed': { 0: 'acme' } }]])(
    'that is absent or no list (%j): a deny matches, an allow does not, negated or not',
    (other: JsonObject) => {
      for (const ruleTest of [listed, { not: listed }]) {
        expect(matches('deny', ruleTest, 'acme', other)).toBe(true);
        expect(matches('allow', ruleTest, 'acme', other)).toBe(false);
      }
    },
  );

  test('says nothing about a value that is not there', () => {
    expect(matches('deny', listed, missing, facts)).toBe(false);
  });

  test('is not found on a prototype', () => {
    expect(matches('allow', { in: { fact: 'constructor' } }, 'name', {})).toBe(false);
  });
});
