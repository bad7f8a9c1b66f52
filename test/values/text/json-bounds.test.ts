/** What a text holds is counted before it is parsed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJsonCount, excessOf } from '../../../src/values/text/json-bounds.ts';

/** The fewest values that a bound has to allow for this text. */
function valuesOf(text: string): number {
  let most = 1;
  while (excessOf(text, { maxDepth: 1_000, maxValues: most }) === 'values') most++;
  return most;
}

describe('the values of a text', () => {
  test.each<[string, number]>([
    ['1', 1],
    ['[1,2,3]', 4],
    ['[[1],[2]]', 5],
    ['[]', 2],
    ['[[],[]]', 5],
    ['{"a":1}', 6],
    ['{"a":1,"b":2}', 11],
    ['[{"a":1},{"a":2},{"a":3}]', 11],
    ['[{"a":1},{"b":2}]', 13],
    ['"[,:{"', 1],
    ['["\\",\\\\",","]', 3],
    [' [ 1 , 2 ] ', 3],
  ])('of %s are %i', (text, values) => {
    expect(valuesOf(text)).toBe(values);
  });

  test('are never fewer than there are, nor more than twice as many and four for each key', () => {
    const count = (value: unknown): number =>
      1 +
      (typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, one) => sum + count(one), 0)
        : 0);
    const keysOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? (Array.isArray(value) ? 0 : Object.keys(value).length) +
          Object.values(value).reduce((sum: number, one) => sum + keysOf(one), 0)
        : 0;
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const values = valuesOf(JSON.stringify(value, null, indent));
        expect(values).toBeGreaterThanOrEqual(count(value));
        expect(values).toBeLessThanOrEqual(2 * count(value) + 4 * keysOf(value));
      }),
    );
  });
});

describe('the depth of a text', () => {
  test.each([
    ['[[1]]', 2, undefined],
    ['[[1]]', 1, 'depth'],
    ['{"a":{"b":1}}', 1, 'depth'],
    ['[[],[],[]]', 2, undefined],
    ['"[[["', 0, undefined],
    ['"\\"[[["', 0, undefined],
  ] as const)('of %s within %i is %s', (text, maxDepth, excess) => {
    expect(excessOf(text, { maxDepth, maxValues: 100 })).toBe(excess);
  });
});

test.each(['"', '"\\', '"a\\"', '', ':::', ']]]]'])(
  'a text that is no JSON and ends anywhere has an end: %j',
  (text) => {
    expect(excessOf(text, { maxDepth: 1, maxValues: 100 })).toBe(undefined);
  },
);

test('a text that is too short to pass a bound is not counted, with the same answer', () => {
  const text = fc.string({ unit: fc.constantFrom(...'[]{}:,"a1\\'), maxLength: 30 });
  const bound = fc.integer({ min: 0, max: 30 });
  fc.assert(
    fc.property(text, bound, bound, (given, maxDepth, maxValues) => {
      const bounds = { maxDepth, maxValues };
      expect(excessOf(given, bounds)).toBe(createJsonCount(bounds)(given));
    }),
  );
});

test('a text is looked at no further than to where it passes a bound', () => {
  // The rest would be too deep.
  expect(excessOf(`[${'1,'.repeat(20)}${'['.repeat(20)}`, { maxDepth: 10, maxValues: 10 })).toBe(
    'values',
  );
});
