import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { createBudget } from '../../../src/values/redaction/budget.ts';
import { createRedactor, type Redactor } from '../../../src/values/redaction/redactor.ts';
import { redacted } from '../../../src/values/redaction/spellings.ts';

const secret = { type: 'string', 'x-secret': true } as const;

function redactor(schema: JsonObject | undefined, paths: readonly string[] = []): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

describe('a text is hidden for not being JSON only where a mark may lie in it', () => {
  const leadsNowhere = { type: 'object', properties: { c: {} } };
  test.each<[where: string, schema: JsonObject, value: (text: string) => JsonValue]>([
    ['a listed member', { properties: { a: secret, b: leadsNowhere } }, (text) => ({ b: text })],
    [
      'a member by a pattern',
      { properties: { a: secret }, patternProperties: { '^b': leadsNowhere } },
      (text) => ({ b: text }),
    ],
    [
      'an additional member',
      { properties: { a: secret }, additionalProperties: leadsNowhere },
      (text) => ({ b: text }),
    ],
    ['a place', { prefixItems: [secret, leadsNowhere] }, (text) => [1, text]],
    ['a further element', { prefixItems: [secret], items: leadsNowhere }, (text) => [1, text]],
    ['any element', { prefixItems: [secret], contains: leadsNowhere }, (text) => [1, text]],
    [
      'a branch',
      { properties: { a: secret, b: { allOf: [leadsNowhere] } } },
      (text) => ({ b: text }),
    ],
    [
      'a place that is listed by a boolean',
      { prefixItems: [secret, true], items: { properties: { c: secret } } },
      (text) => [1, text],
    ],
  ])('%s', (_, schema, value) => {
    const text = '{"c":1,';
    const shown = redactor(schema).redact(value(text)) as JsonObject;
    expect(Object.values(shown).at(-1)).toBe(text);
  });
});

test('a listed key is hidden if there are more than eight patterns', () => {
  const patterns = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`^x${index}$`, secret]));
  const value = { listed: 1 };
  expect(
    redactor({ properties: { listed: {} }, patternProperties: patterns(8) }).redact(value),
  ).toBe(value);
  expect(
    redactor({ properties: { listed: {} }, patternProperties: patterns(9) }).redact(value),
  ).toEqual({ listed: redacted });
});

test('patterns are counted over the whole schema', () => {
  const part = (count: number): JsonObject => ({
    properties: { listed: {} },
    patternProperties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`^x${index}$`, secret]),
    ),
  });
  const value = { a: { listed: 1 }, b: { listed: 1 } };
  expect(redactor({ properties: { a: part(4), b: part(4) } }).redact(value)).toBe(value);
  expect(
    JSON.stringify(redactor({ properties: { a: part(4), b: part(5) } }).redact(value)),
  ).toContain(redacted);
});

test('a pattern is read once, and then costs a step for each character and part of it', () => {
  const made = redactor({ properties: { aa: {}, bbbb: {} }, patternProperties: { '^x': secret } });
  const cost = (value: JsonValue): number => {
    const budget = createBudget();
    made.redact(value, budget);
    return budget.spent;
  };
  // Ten for each of two values, five for looking the member up and five for asking its pattern, and
  // ten for the state of the member; the first one makes the root's, too.
  const usual = 20 + 10 + 10;
  // The program of the pattern has four parts.
  expect([cost({ aa: 1 }), cost({ bbbb: 1 })]).toEqual([
    usual + 10 + 50_000 + 2 * 4 + 1,
    usual + 4 * 4 + 1,
  ]);
});

test.each<[what: string, schema: JsonObject, value: JsonValue, hidden: JsonValue]>([
  [
    'a reference is resolved from the part that it stands in, however far in that is',
    {
      $id: 'https://x.test/root/',
      properties: { a: { $id: 'deep/', properties: { b: { items: { $ref: 'item' } } } } },
      $defs: { near: { $id: 'deep/item', 'x-secret': true }, far: { $id: 'item' } },
    },
    { a: { b: [1] } },
    { a: { b: [redacted] } },
  ],
  [
    'and from the one that a reference led to',
    {
      $id: 'https://x.test/root/',
      properties: { a: { $ref: 'deep/part' } },
      $defs: {
        part: { $id: 'deep/part', properties: { b: { $ref: 'item' } } },
        near: { $id: 'deep/item', 'x-secret': true },
        far: { $id: 'item' },
      },
    },
    { a: { b: 1 } },
    { a: { b: redacted } },
  ],
  [
    'a list of places in `items` counts where `prefixItems` is empty',
    { prefixItems: [], items: [{}, secret] },
    [1, 2, 3],
    [1, redacted, 3],
  ],
  [
    'and not where it is not',
    { prefixItems: [{}, secret], items: [secret] },
    [1, 2, 3],
    [1, redacted, 3],
  ],
  [
    'a place that is listed by a boolean is no further element',
    { prefixItems: [true], items: secret },
    [1, 2],
    [1, redacted],
  ],
  ['elements that are unevaluated', { unevaluatedItems: secret }, [1], [redacted]],
  ['what a `not` speaks of', { not: { properties: { a: secret } } }, { a: 1 }, { a: redacted }],
  [
    'what `dependencies` speak of, names apart',
    { dependencies: { b: ['a'], c: { properties: { a: secret } } } },
    { a: 1 },
    { a: redacted },
  ],
  [
    'a dynamic reference',
    {
      properties: { a: { $dynamicRef: '#s' } },
      $defs: { s: { $dynamicAnchor: 's', 'x-secret': true } },
    },
    { a: 1 },
    { a: redacted },
  ],
  [
    'a recursive one',
    { properties: { a: { $recursiveRef: '#' }, k: secret } },
    { a: { k: 1 } },
    { a: { k: redacted } },
  ],
  [
    'what is no schema where one belongs speaks of nothing',
    { properties: { a: secret, b: 7 }, items: 'x', allOf: {}, $ref: 7 },
    { a: 1, b: 2 },
    { a: redacted, b: 2 },
  ],
])('%s', (_, schema, value, hidden) => {
  expect(redactor(schema).redact(value)).toEqual(hidden);
});
