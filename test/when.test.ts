/** How far a condition looks into a value, and what looking costs. What it finds there is in `rules.test.ts`. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonPrimitive } from '../src/json.ts';
import { type Condition, holds, type Judged, maxRuleSteps, overBudget, type Reading } from '../src/when.ts';

function judged(input: unknown, parsed: unknown = input): Judged {
  return { input: input as JsonObject, parsed, declares: () => true, left: maxRuleSteps };
}

/** Whether an `x` stands at a path. */
function findsX(reading: Reading, path: readonly string[], input: unknown, parsed: unknown = input): boolean {
  return holds({ path, test: (value) => value === 'x', cost: 0 }, reading, judged(input, parsed));
}

/** A value in so many arrays. */
function nested(depth: number, inner: unknown): unknown {
  let value = inner;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

/** Steps for looking for a zero, where one character costs a quarter of a step. */
function stepsOf(reading: Reading, path: readonly string[], input: unknown, parsed: unknown = input): number {
  const call = judged(input, parsed);
  holds({ path, test: (value) => value === 0, cost: 1 / 4 }, reading, call);
  return maxRuleSteps - call.left;
}

describe('a value is looked for up to 200 levels down; one that lies deeper counts against the call', () => {
  // Each leads to the scalar by one step of its own kind, at the depth that is asked for.
  const restricting: readonly (readonly [step: string, path: readonly string[], value: (depth: number, scalar: string) => unknown])[] = [
    ['elements at the end of a path', ['a'], (depth, scalar) => ({ a: nested(depth - 1, scalar) })],
    ['a key in an array', ['a', 'b'], (depth, scalar) => ({ a: nested(depth - 2, { b: scalar }) })],
    ['elements by `*`', ['a', '*'], (depth, scalar) => ({ a: nested(depth - 1, scalar) })],
    ['elements of elements by `*`', ['a', '*', 'b'], (depth, scalar) => ({ a: nested(depth - 2, { b: scalar }) })],
    ['an index', ['a', '0'], (depth, scalar) => ({ a: nested(depth - 1, scalar) })],
    ['an index into an array in an array', ['a', '1'], (depth, scalar) => ({ a: nested(depth - 2, ['y', scalar]) })],
    ['a value outside an array by `*`', ['a', 'b', '*'], (depth, scalar) => ({ a: nested(depth - 3, { b: scalar }) })],
    ['a value outside an array by an index', ['a', 'b', '0'], (depth, scalar) => ({ a: nested(depth - 3, { b: scalar }) })],
    ['a key that holds dots', ['a', 'b', 'c'], (depth, scalar) => ({ a: nested(depth - 2, { 'b.c': scalar }) })],
  ];
  test.each(restricting)('for a rule that restricts: %s', (_, path, value) => {
    expect(findsX('any', path, value(199, 'x'))).toBe(true);
    expect(findsX('any', path, value(199, 'y'))).toBe(false);
    expect(findsX('any', path, value(201, 'y'))).toBe(true);
  });

  test.each(restricting.slice(0, 2))('and no further: %s', (_, path, value) => {
    expect(findsX('any', path, value(200, 'y'))).toBe(false);
  });

  const stars = (count: number): string[] => Array.from({ length: count }, () => '*');
  test.each<[step: string, path: (depth: number) => readonly string[], value: (depth: number) => unknown]>([
    ['elements at the end of a path', () => ['a'], (depth) => ({ a: nested(depth - 1, 'x') })],
    ['elements by `*`', (depth) => ['a', ...stars(depth - 1)], (depth) => ({ a: nested(depth - 1, 'x') })],
    ['an index', (depth) => ['a', ...stars(depth - 2), '0'], (depth) => ({ a: nested(depth - 1, 'x') })],
    ['a key', (depth) => ['a', ...stars(depth - 2), 'b'], (depth) => ({ a: nested(depth - 2, { b: 'x' }) })],
    ['a key that holds dots', (depth) => ['a', ...stars(depth - 3), 'b', 'c'], (depth) => ({ a: nested(depth - 3, { b: { c: 'x' }, 'b.c': nested(1, 'x') }) })],
    ['a value outside an array by `*`', (depth) => ['a', ...stars(depth - 1)], (depth) => ({ a: nested(depth - 2, 'x') })],
  ])('for a rule that permits: %s', (_, path, value) => {
    expect(findsX('all', path(200), value(200))).toBe(true);
    expect(findsX('all', path(201), value(201))).toBe(false);
  });
});

describe('a step is a value that is looked at, or a key that is looked up', () => {
  test.each<[what: string, path: readonly string[], input: unknown, any: number, all: number]>([
    ['a key that is absent', ['a'], {}, 2, 1],
    ['a key that is there', ['a'], { a: 1 }, 3, 2],
    ['two keys, joined by a dot as well', ['a', 'b'], { a: { b: 1 } }, 6, 3],
    ['three, of which the first is absent', ['a', 'b', 'c'], {}, 4, 3],
    ['elements up to the one that decides', ['a'], { a: [0, 0] }, 4, 4],
    ['all elements, where none decides for a rule that restricts', ['a'], { a: [1, 2, 3] }, 6, 3],
    ['elements of elements', ['a'], { a: [[1], [2]] }, 7, 4],
    ['elements by `*`', ['a', '*'], { a: [0, 0] }, 4, 5],
    ['elements by `*`, none of which has the key', ['a', '*', 'b'], { a: [{ c: 1 }, { c: 1 }] }, 13, 6],
    ['an index, and the elements that stand beside it', ['a', '1'], { a: [1, 2] }, 7, 3],
    ['a value outside an array', ['a', '*'], { a: 1 }, 5, 3],
    ['a text, for what each of its characters costs', ['a'], { a: 'y'.repeat(400) }, 103, 102],
  ])('%s', (_, path, input, any, all) => {
    expect([stepsOf('any', path, input), stepsOf('all', path, input)]).toEqual([any, all]);
  });

  test.each<[what: string, path: readonly string[], parsed: unknown, any: number, all: number]>([
    ['an element of a set costs four, and its own', ['a'], { a: new Set([1, 2]) }, 15, 12],
    ['an entry of a map costs four', ['a', 'k'], { a: new Map([['k', 1]]) }, 13, 9],
    ['a byte of a buffer costs one, and its own', ['a', 'data'], { a: Buffer.alloc(100, 1) }, 209, 106],
  ])('%s', (_, path, parsed, any, all) => {
    expect([stepsOf('any', path, {}, parsed), stepsOf('all', path, {}, parsed)]).toEqual([any, all]);
  });

  test('the last step of the budget may be taken, and one more is refused', () => {
    const condition: Condition = { path: ['a'], test: () => false, cost: 0 };
    const call = (left: number): Judged => ({ ...judged({ a: 1 }), left });
    expect(holds(condition, 'any', call(3))).toBe(false);
    expect(() => holds(condition, 'any', call(2))).toThrow(overBudget as never);
    expect(() => holds(condition, 'all', call(1))).toThrow(overBudget as never);
  });
});

describe('what a parse holds beside JSON is read as the JSON that stands for it', () => {
  const seen = (value: unknown): JsonPrimitive[] => {
    const values: JsonPrimitive[] = [];
    holds({ path: ['a'], test: (scalar) => values.push(scalar) === 0, cost: 0 }, 'any', judged({}, { a: value }));
    return values;
  };
  test.each<[what: string, value: unknown, scalars: JsonPrimitive[]]>([
    ['a bigint as a number', 7n, [7]],
    ['a bigint that no number holds as its digits', 2n ** 64n, ['18446744073709551616']],
    ['a boxed number', Object(7), [7]],
    ['a boxed boolean', Object(false), [false]],
    ['a boxed text', Object('x'), ['x']],
    [
      'an instance by its `toJSON`',
      new (class {
        toJSON() {
          return 'json';
        }
      })(),
      ['json'],
    ],
    [
      'an instance whose `toJSON` cannot be called as what it is',
      new (class {
        toJSON = 'json';
      })(),
      [],
    ],
    ['an object without a prototype as what it is', Object.assign(Object.create(null), { toJSON: () => 'x' }), []],
    ['a plain object as what it is, whatever its members are called', { toJSON: () => 'x' }, []],
    ['a function as nothing', () => 'x', []],
    ['undefined as nothing', undefined, []],
  ])('%s', (_, value, scalars) => {
    expect(seen(value)).toEqual(scalars);
  });

  test('an allow does not rest on what is no scalar', () => {
    for (const value of [{}, () => 'x', Symbol('x')]) {
      expect(holds({ path: ['a'], test: () => true, cost: 0 }, 'all', judged({ a: 'x' }, { a: value }))).toBe(false);
    }
  });
});
