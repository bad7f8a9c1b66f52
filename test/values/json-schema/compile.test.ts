import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/values/json/index.ts';
import {
  type CompiledSchema,
  compileSchema,
  createSchemaCache,
  type JsonSchemaDocument,
} from '../../../src/values/json-schema/compile.ts';

const exhausted = [
  { path: '', message: 'takes too many steps to validate against its schema; send less' },
];
const nested = (depth: number, core: JsonValue, wrap: (inner: JsonValue) => JsonValue): JsonValue =>
  Array.from({ length: depth }).reduce<JsonValue>(wrap, core);

describe('without a number of its own', () => {
  // An array takes one step, and one for each two items.
  const items = (steps: number): JsonValue[] => new Array<number>(2 * (steps - 1)).fill(1);
  test.each([
    [true, 400_000],
    [false, 200_000],
  ])('a validation by a schema that is trusted: %s may take %d steps', (trusted, steps) => {
    const compiled = compileSchema({ items: { type: 'number' } }, { trusted });
    expect(compiled.validate(items(steps))).toBeUndefined();
    expect(compiled.validate(items(steps + 1))).toEqual(exhausted);
    expect(compiled.validate([1])).toBeUndefined();
  });
});

describe('each look at a value has all the steps', () => {
  const three = { allOf: [{ not: { type: 'null' } }, { not: { type: 'string' } }] };
  test('also the one that asks for reasons', () => {
    const compiled = compileSchema(
      { allOf: [three, { type: 'null' }] },
      { trusted: true, maxSteps: 4 },
    );
    expect(compiled.validate(1)).toEqual([{ path: '', message: 'must be null, got a number' }]);
    expect(compiled.validate(1)).toEqual([{ path: '', message: 'must be null, got a number' }]);
    expect(compiled.revalidate(1)).toEqual([{ path: '', message: 'must be null, got a number' }]);
  });

  test('and the one without what was filled', () => {
    const schema = { properties: { a: { type: 'string', default: 1 } }, allOf: [three] };
    const steps = [4, 5, 6, 7].map((maxSteps) =>
      compileSchema(schema, { trusted: true, maxSteps }).revalidate({ a: 1 }),
    );
    expect(steps).toEqual([exhausted, exhausted, undefined, undefined]);
  });

  test('revalidate says why, also with too few steps', () => {
    for (const schema of [
      { items: { type: 'number' } },
      { items: { type: 'number' }, properties: { a: { default: 1 } } },
    ]) {
      const compiled = compileSchema(schema, { trusted: true, maxSteps: 20 });
      expect(compiled.revalidate([1])).toBeUndefined();
      expect(compiled.revalidate([''])).toEqual([
        { path: '/0', message: 'must be a number, got a string' },
      ]);
      expect(compiled.revalidate(new Array<number>(100).fill(1))).toEqual(exhausted);
    }
  });
});

test(
  'a value that is no JSON, whose undefined member is both absent and there, is refused without ' +
    'a reason',
  () => {
    const compiled = compileSchema({ required: ['a'] }, { trusted: true });
    expect(compiled.validate({ a: undefined } as unknown as JsonValue)).toEqual([
      { path: '', message: 'does not match the schema' },
    ]);
  },
);

test('a value that is nested too deeply to be looked at is refused', () => {
  const compiled = compileSchema(
    { not: { const: 1 }, items: { $ref: '#' } },
    { trusted: true, maxSteps: 10_000_000 },
  );
  const deep = nested(200_000, [], (inner) => [inner]);
  for (const judged of [compiled.validate(deep), compiled.revalidate(deep)]) {
    expect(judged).toEqual([{ path: '', message: 'cannot be validated against its schema' }]);
  }
  expect(compiled.validate([[[]]])).toBeUndefined();
});

describe('a schema as a document', () => {
  test('may be nested 1 000 deep', () => {
    const schema = (depth: number): JsonSchemaDocument => ({
      const: nested(depth, 1, (inner) => [inner]),
    });
    expect(compileSchema(schema(999), { trusted: true }).validate(1)).toHaveLength(1);
    expect(() => compileSchema(schema(1_000), { trusted: true })).toThrow(
      /nested deeper than 1000/,
    );
  });

  test('may hold two million values', () => {
    // The document and the list are values as well.
    const schema = (values: number): JsonSchemaDocument => ({
      examples: new Array<number>(values - 2).fill(1),
    });
    expect(compileSchema(schema(2_000_000), { trusted: true }).validate(1)).toBeUndefined();
    expect(() => compileSchema(schema(2_000_001), { trusted: true })).toThrow(
      '`/examples`: more values than the limit allows',
    );
  });

  test('whose references are a chain that is too long to be followed is refused', () => {
    const count = 2_000;
    const $defs = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
    );
    expect(() =>
      compileSchema(
        { $ref: '#/$defs/d0', $defs: { ...$defs, [`d${count}`]: true } },
        { trusted: true },
      ),
    ).toThrow(/nested too deeply/);
  });
});

describe('the cache of compiled schemas', () => {
  const of = (
    cache: {
      compile: (schema: JsonSchemaDocument, options: { trusted: boolean }) => CompiledSchema;
    },
    value: JsonValue,
  ): CompiledSchema => cache.compile({ const: value }, { trusted: true });

  test('keeps schemas of different numbers of steps apart', () => {
    const cache = createSchemaCache();
    const schema = { items: { type: 'number' } };
    const compiled = [
      { trusted: true },
      { trusted: true, maxSteps: 2 },
      { trusted: true, maxSteps: 3 },
    ].map((options) => cache.compile(schema, options));
    expect(compiled.map((each) => each.validate([1, 2, 3, 4])?.length)).toEqual([
      undefined,
      1,
      undefined,
    ]);
    expect(cache.compile(schema, { trusted: true, maxSteps: 2 })).toBe(compiled[1]);
  });

  test('keeps 1 000 of them', () => {
    const cache = createSchemaCache();
    const first = of(cache, 0);
    const second = of(cache, 1);
    for (let value = 2; value < 1_000; value++) of(cache, value);
    expect(of(cache, 0)).toBe(first);
    of(cache, 1_000);
    expect(of(cache, 0)).toBe(first);
    expect(of(cache, 1)).not.toBe(second);
  });

  test('keeps the given number', () => {
    const cache = createSchemaCache(1);
    const first = of(cache, 0);
    expect(of(cache, 0)).toBe(first);
    of(cache, 1);
    expect(of(cache, 0)).not.toBe(first);
  });

  test('refuses a schema that is nested too deeply to have a text', () => {
    const schema = nested(100_000, {}, (inner) => ({ not: inner })) as JsonSchemaDocument;
    expect(() => createSchemaCache().compile(schema, { trusted: true })).toThrow(
      /nested too deeply/,
    );
  });
});
