import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { createBudget } from '../../../src/values/redaction/budget.ts';
import { createRedactor, type Redactor } from '../../../src/values/redaction/redactor.ts';
import type { SecretNode } from '../../../src/values/redaction/secret-paths.ts';
import { createStates } from '../../../src/values/redaction/secret-states.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';

const secret = { type: 'string', 'x-secret': true } as const;

function redactor(schema: JsonObject | undefined, paths: readonly string[] = []): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

describe(
  'a redactor spends ten steps a value, and five for each part of a schema or a path that ' +
    'speaks of it',
  () => {
    const rows: [
      what: string,
      schema: JsonObject | undefined,
      paths: string[],
      value: JsonValue,
      redact: number,
      show: number,
      collect: number,
    ][] = [
      ['the value itself', { properties: { a: secret } }, [], {}, 20, 20, 20],
      [
        'a member that is marked; shown, its place as well',
        { properties: { a: secret } },
        [],
        { a: 'x' },
        45,
        55,
        55,
      ],
      [
        'members that are not listed: what is known of them is known once',
        { properties: { a: secret } },
        [],
        { b: 1, c: { d: 1 } },
        45,
        45,
        45,
      ],
      [
        'members that are listed, each by itself',
        { properties: { a: secret, b: {} } },
        [],
        { a: 'x', b: 1 },
        70,
        80,
        80,
      ],
      [
        'a key of any depth, and what is collected below it',
        { properties: { a: secret } },
        ['p'],
        { a: 'x', p: [1, 2] },
        45,
        65,
        85,
      ],
      ['elements, known once', { items: secret }, [], [1, 2], 60, 80, 80],
      [
        'places of a list, and one beyond them',
        { prefixItems: [{}, secret] },
        [],
        [1, 2, 3],
        85,
        95,
        95,
      ],
      [
        'places of a list, and what is beyond them, which is known once',
        { prefixItems: [{}, secret] },
        [],
        [1, 2, 3, 4, 5],
        105,
        115,
        115,
      ],
      ['elements that any of may be meant', { contains: secret }, [], [1], 50, 60, 60],
      ['a path', undefined, ['a.b'], { a: { b: 1 } }, 70, 90, 80],
      ['a path with a star', undefined, ['a.*'], { a: { b: 1 } }, 70, 90, 80],
      ['a path with a place', undefined, ['a.0'], { a: [1, 2] }, 105, 125, 115],
      [
        'a path through an array that it does not mention',
        undefined,
        ['a.b'],
        { a: [{ b: 1 }] },
        95,
        125,
        105,
      ],
      ['a text, by its characters and its values', undefined, ['p'], { a: '{"p":1}' }, 47, 52, 47],
      [
        'a text in a text, by the characters and values of both',
        undefined,
        ['p'],
        { a: '{"q":["{\\"p\\":1}"]}' },
        96,
        121,
        96,
      ],
      [
        'branches',
        { allOf: [{ properties: { a: secret } }, { properties: { b: secret } }] },
        [],
        { a: 1, b: 2, c: 3 },
        130,
        150,
        150,
      ],
      [
        'a pattern that has to be read',
        { properties: { a: {} }, patternProperties: { '^a': secret } },
        [],
        { a: 1 },
        50_065,
        50_075,
        50_075,
      ],
      [
        'a pattern that any other key may mean',
        { properties: { a: {} }, patternProperties: { '^a': secret } },
        [],
        { b: 1 },
        50,
        60,
        60,
      ],
      [
        'a pattern that cannot be read',
        { properties: { a: {} }, patternProperties: { '(?=x)': secret } },
        [],
        { a: 1 },
        50_061,
        50_071,
        50_071,
      ],
      ['additional properties', { additionalProperties: secret }, [], { b: 1 }, 50, 60, 60],
      [
        'members of parts that speak of the same value, and the names that they list',
        { properties: { a: secret }, allOf: [{ additionalProperties: secret }] },
        [],
        { a: 1 },
        75,
        85,
        85,
      ],
    ];
    test.each(rows)('%s', (_, schema, paths, value, redact, show, collect) => {
      const cost = (
        work: (made: Redactor, budget: ReturnType<typeof createBudget>) => unknown,
      ): number => {
        const budget = createBudget();
        work(redactor(schema, paths), budget);
        return budget.spent;
      };
      expect({
        redact: cost((made, budget) => made.redact(value, budget)),
        show: cost((made, budget) => made.show(value, true, budget)),
        collect: cost((made, budget) => made.collect(value, new Secrets(), budget)),
      }).toEqual({ redact, show, collect });
    });

    test('and what has been worked out once is not worked out again', () => {
      const made = redactor({
        properties: { a: secret, b: { items: secret }, d: { prefixItems: [{}, secret] } },
      });
      const cost = (): number => {
        const budget = createBudget();
        made.redact({ a: 1, b: [1, 2], c: 3, d: [1, 2, 3] }, budget);
        return budget.spent;
      };
      expect(cost()).toBeGreaterThan(100);
      // Ten values.
      expect(cost()).toBe(100);
    });

    test('and a part that refers to itself is worked out once, however deep the value is', () => {
      const tree: JsonObject = {
        $ref: '#/$defs/n',
        $defs: {
          n: {
            properties: {
              left: { $ref: '#/$defs/n' },
              all: { items: { $ref: '#/$defs/n' } },
              key: secret,
            },
          },
        },
      };
      const cost = (depth: number, wrap: (inner: JsonValue) => JsonValue): number => {
        let value: JsonValue = {};
        for (let level = 0; level < depth; level++) value = wrap(value);
        const budget = createBudget();
        redactor(tree).redact(value, budget);
        return budget.spent;
      };
      const left = (inner: JsonValue): JsonValue => ({ left: inner });
      const all = (inner: JsonValue): JsonValue => ({ all: [inner] });
      expect(cost(50, left) - cost(10, left)).toBe(40 * 10);
      expect(cost(50, all) - cost(10, all)).toBe(40 * 20);
    });
  },
);

test.each<[what: string, part: JsonObject]>([
  ['patterns', { patternProperties: { '^z': secret } }],
  ['additional properties', { additionalProperties: secret }],
  ['places', { prefixItems: [secret] }],
  ['further elements', { items: secret }],
  ['any elements', { contains: secret }],
])('what a part lists beside its properties does not hide them from view: %s', (_, part) => {
  expect(redactor({ properties: { a: secret }, ...part }).redact({ a: 'x' })).toEqual({
    a: '[redacted]',
  });
});

test('parts about the same value share a state, in whatever order they are named', () => {
  const one = { $ref: '#/$defs/one' };
  const two = { $ref: '#/$defs/two' };
  const made = redactor({
    $defs: {
      one: { properties: { k: secret } },
      two: { properties: { k: { properties: { deep: secret } } } },
    },
    properties: { x: { allOf: [one, two] }, y: { allOf: [two, one] }, z: { allOf: [two] } },
  });
  const cost = (key: string): number => {
    const budget = createBudget();
    made.redact({ [key]: { k: {} } }, budget);
    return budget.spent;
  };
  const first = cost('x');
  const known = cost('x');
  const again = cost('y');
  // The member is looked up and followed, with its two branches, what they refer to, and that; what
  // is below it is known.
  expect([known, again - known]).toEqual([30, 5 * (1 + 1 + (1 + 2) + 2 * (1 + 1) + 2)]);
  expect(again).toBeLessThan(first);
});

test(
  'as many as 200 000 parts are kept in all that has been worked out; beyond it, all but the ' +
    'last is forgotten',
  () => {
    const node = (marked: boolean): SecretNode => ({
      marked,
      path: false,
      properties: new Map(),
      patterns: [],
      otherProperties: [],
      prefix: [],
      otherItems: [],
      everyItem: [],
      each: undefined,
      also: [],
    });
    const leaves = Array.from({ length: 1_500 }, () => node(true));
    const keys = Array.from({ length: 1_200 }, () => node(false));
    const root = node(false);
    for (const [index, key] of keys.entries()) root.properties.set(String(index), key);
    const states = createStates([root]);
    const spentBy = (work: (budget: ReturnType<typeof createBudget>) => unknown): number => {
      const budget = createBudget(Number.POSITIVE_INFINITY);
      work(budget);
      return budget.spent;
    };
    /** Whether the root, which is asked for again, has to be worked out again. */
    const forgotten = (): boolean => spentBy((budget) => states.root(budget)) > 0;
    let next = 0;
    let kept = 0;
    /**
     * Works out a state of so many parts, other ones each time. Each state costs its parts and one.
     */
    const add = (parts: number): void => {
      const key = keys[next] as SecretNode;
      key.also = Array.from(
        { length: parts },
        (_, index) => leaves[(next + index) % leaves.length] as SecretNode,
      );
      spentBy((budget) => states.child(states.root(budget), String(next), budget));
      next += 1;
      kept += parts + 1;
    };
    const fillTo = (total: number): void => {
      while (total - kept > 1_002) {
        add(999);
        expect(forgotten()).toBe(false);
      }
      if (total - kept > 1_000) add(499);
      add(total - kept - 1);
    };

    expect(forgotten()).toBe(true);
    kept = 2;
    fillTo(200_000);
    expect(forgotten()).toBe(false);
    // Nothing is kept of what nobody speaks of, nor of what is known.
    spentBy((budget) => {
      states.child(states.root(budget), 'unknown', budget);
      states.child(states.root(budget), '0', budget);
    });
    expect(forgotten()).toBe(false);
    for (const most of [200_000, 200_001]) {
      add(7);
      expect(forgotten()).toBe(true);
      // The last one, and the root that was asked for.
      kept = 8 + 2;
      fillTo(most);
      expect(forgotten()).toBe(most > 200_000);
      if (most > 200_000) return;
    }
  },
);
