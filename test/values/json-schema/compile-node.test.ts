import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import { compileSchema, type JsonSchemaDocument } from '../../../src/values/json-schema/compile.ts';
import { judge } from '../schema/judge.ts';

const told = (schema: JsonSchemaDocument, value: JsonValue): string[] =>
  judge(schema, value).explains.issues.map(({ path, message }) => `${path} ${message}`);
const nested = (depth: number, core: JsonValue): JsonValue =>
  Array.from({ length: depth }).reduce<JsonValue>((next) => ({ next }), core);

describe('a schema may hold itself', () => {
  test('and is asked again at each level', () => {
    const schema = {
      properties: { next: { $ref: '#' }, value: { type: 'number' } },
      additionalProperties: false,
    };
    expect(told(schema, nested(3, { value: 1 }))).toEqual([]);
    expect(told(schema, nested(3, { value: '' }))).toEqual([
      '/next/next/next/value must be a number, got a string',
    ]);
    // One for each object, one for each reference.
    expect(judge(schema, nested(3, { value: 1 })).answers.steps).toBe(7);
  });

  test('and what it has looked at then counts as looked at', () => {
    const $defs = {
      node: {
        properties: { value: true, next: { $ref: '#/$defs/node', unevaluatedProperties: false } },
      },
    };
    const schema = { $defs, $ref: '#/$defs/node' };
    expect(told(schema, { other: 1, next: { value: 1, next: { value: 1 } } })).toEqual([]);
    expect(told(schema, { next: { value: 1, next: { other: 1 } } })).toEqual([
      '/next/next/other is not allowed here',
    ]);
  });

  test('even where it turns out to accept everything', () => {
    const $defs = {
      any: { if: { $ref: '#/$defs/part' } },
      part: { properties: { a: { $ref: '#/$defs/any' }, b: { type: 'null' } } },
    };
    expect(
      told({ allOf: [{ $ref: '#/$defs/any' }, { $ref: '#/$defs/part' }], $defs }, { a: { b: 1 } }),
    ).toEqual([]);
    expect(
      told({ allOf: [{ $ref: '#/$defs/any' }, { $ref: '#/$defs/part' }], $defs }, { b: 1 }),
    ).toEqual(['/b must be null, got a number']);
  });
});

test('beside a reference of draft-07 no keyword counts', () => {
  const lone = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $ref: '#/definitions/a',
    definitions: { a: { type: 'number' } },
  };
  for (const beside of [
    { type: 'null' },
    { required: ['x'] },
    { maxItems: 0 },
    { allOf: [false] },
    { not: true },
    { if: true, else: false },
  ]) {
    expect(told({ ...lone, ...beside }, 1)).toEqual([]);
    expect(told({ ...lone, ...beside }, '')).toEqual([' must be a number, got a string']);
  }
});

test('two schemas with the same pattern both ask it', () => {
  const schema = {
    properties: { a: { pattern: '^a' }, b: { pattern: '^a' }, c: { pattern: '^c' } },
  };
  expect(told(schema, { a: 'b', b: 'b', c: 'c' })).toEqual([
    '/a must match the pattern "^a"',
    '/b must match the pattern "^a"',
  ]);
});

describe('a dynamic reference leads to the outermost entered schema with the anchor', () => {
  /** Refuses everything but its own name. */
  const only = (name: string, anchor = 'x'): JsonSchemaDocument => ({
    $dynamicAnchor: anchor,
    const: name,
  });
  const asks = { $id: 'asks', $dynamicRef: '#x', $defs: { x: only('asks') } };
  const between = { $id: 'between', $ref: 'asks', $defs: { x: only('between') } };
  const rows: readonly (readonly [rule: string, schema: JsonSchemaDocument, accepts: string])[] = [
    ['the one it stands in, where there is no other', { $ref: 'asks', $defs: { asks } }, 'asks'],
    ['one on the way', { $ref: 'between', $defs: { asks, between } }, 'between'],
    [
      'the document itself, before one on the way',
      { $ref: 'between', $defs: { asks, between, x: only('document') } },
      'document',
    ],
    [
      'the document itself, also where it has an `$id`',
      { $id: 'schema://root/', $ref: 'between', $defs: { asks, between, x: only('document') } },
      'document',
    ],
    ['none that was not entered', { $ref: 'asks', $defs: { asks, between } }, 'asks'],
    [
      'none with another anchor',
      { $ref: 'asks', $defs: { asks, x: only('document', 'y') } },
      'asks',
    ],
    [
      'none whose anchor is not dynamic',
      { $ref: 'asks', $defs: { asks, x: { $anchor: 'x', const: 'document' } } },
      'asks',
    ],
    [
      'the one it names, where that one is not dynamic',
      {
        $ref: 'asks',
        $defs: {
          asks: { $id: 'asks', $dynamicRef: '#x', $defs: { x: { $anchor: 'x', const: 'asks' } } },
          x: only('document'),
        },
      },
      'asks',
    ],
    [
      'the one it names by a pointer',
      {
        $ref: 'asks',
        $defs: {
          asks: { $id: 'asks', $dynamicRef: '#/$defs/x', $defs: { x: only('asks') } },
          x: only('document'),
        },
      },
      'asks',
    ],
    [
      'one that was entered and left is forgotten',
      {
        allOf: [{ anyOf: [{ $ref: 'between' }, true] }, { $ref: 'asks' }],
        $defs: { asks, between },
      },
      'asks',
    ],
  ];
  test.each(rows)('%s', (_rule, schema, accepts) => {
    const names = ['asks', 'between', 'document'];
    expect(names.filter((name) => judge(schema, name).answers.valid)).toEqual([accepts]);
    expect(names.filter((name) => judge(schema, name).explains.valid)).toEqual([accepts]);
  });

  test('what it leads to there counts as looked at', () => {
    const marks = (name: string): JsonSchemaDocument => ({
      $dynamicAnchor: 'x',
      properties: { [name]: true },
    });
    const $defs = {
      asks: { $id: 'asks', $dynamicRef: '#x', $defs: { x: marks('a') } },
      between: { $id: 'between', $ref: 'asks', $defs: { x: marks('b') } },
    };
    const all = { a: 1, b: 1, c: 1 };
    const refused = (schema: JsonSchemaDocument): string[] =>
      judge(schema, all).explains.issues.map(({ path }) => path);
    expect(refused({ $ref: 'asks', unevaluatedProperties: false, $defs })).toEqual(['/b', '/c']);
    expect(refused({ $ref: 'between', unevaluatedProperties: false, $defs })).toEqual(['/a', '/c']);
    expect(
      refused({
        allOf: [{ $ref: 'between' }, { $ref: 'asks' }],
        unevaluatedProperties: false,
        $defs,
      }),
    ).toEqual(['/c']);
    expect(
      refused({
        $ref: 'between',
        unevaluatedProperties: false,
        $defs: { ...$defs, x: marks('c') },
      }),
    ).toEqual(['/a', '/b']);
  });

  test('the search costs one step, and one more for each four schemas that were entered', () => {
    const tree = { $dynamicAnchor: 'x', properties: { next: { $dynamicRef: '#x' } } };
    // For each level: the object, the reference, the search. The document is entered at each level
    // anew by way of its anchor.
    const steps = [1, 2, 3, 4, 5, 6, 7, 8].map(
      (depth) => judge(tree, nested(depth, {})).answers.steps,
    );
    expect(steps).toEqual([4, 7, 10, 14, 18, 22, 26, 31]);
  });

  test('and it may lead to one that accepts everything', () => {
    const schema = { items: { $dynamicRef: '#x' }, $defs: { x: { $dynamicAnchor: 'x' } } };
    expect(compileSchema(schema, { trusted: true }).validate([1, ''])).toBeUndefined();
  });

  test('a validation that ended early leaves nothing to be searched by the next one', () => {
    const tree = {
      $dynamicAnchor: 'x',
      properties: { next: { $dynamicRef: '#x' } },
      items: { type: 'number' },
    };
    const compiled = compileSchema(tree, { trusted: true, maxSteps: 10 });
    for (const long of [nested(4, {}), new Array<number>(100).fill(1), nested(5, {})]) {
      expect(compiled.validate(nested(3, {}))).toBeUndefined();
      expect(compiled.validate(long)).toHaveLength(1);
    }
    expect(compiled.validate(nested(3, {}))).toBeUndefined();
  });

  test('a validation that ended early leaves nothing entered', () => {
    const schema = {
      anyOf: [{ type: 'array', $ref: 'between' }, { $ref: 'asks' }],
      $defs: { asks, between: { ...between, items: { items: { items: {} } } } },
    };
    const compiled = compileSchema(schema, { trusted: true, maxSteps: 12 });
    expect(compiled.validate('asks')).toBeUndefined();
    expect(
      compiled.validate([
        [1, 2, 3, 4, 5, 6, 7, 8],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [1],
        [1],
        [1],
        [1],
        [1],
        [1],
        [1],
      ])?.[0]?.message,
    ).toMatch(/too many steps/);
    expect(compiled.validate('asks')).toBeUndefined();
  });
});
