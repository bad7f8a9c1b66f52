import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { z as z3 } from 'zod3';
import { schemaEngine } from '../../../src/values/json-schema/engine.ts';
import { bindSchema, type Validated } from '../../../src/values/schema/bind.ts';
import { thrownBy } from '../../core/call/define.ts';

const bind = (
  schema: unknown,
  more: { direction?: 'input' | 'output'; objectOnly?: boolean; trusted?: boolean } = {},
) => {
  const bound = bindSchema(schema, {
    direction: 'input',
    where: 'tool `t`, `parameters`',
    objectOnly: true,
    trusted: true,
    ...more,
  });
  bound.prepare(() => schemaEngine);
  return bound;
};

const same: [kind: string, schema: unknown][] = [
  [
    'zod 4',
    z.object({
      path: z.string(),
      depth: z.number().default(3),
      inner: z.object({ list: z.array(z.number()) }).optional(),
    }),
  ],
  [
    'zod/mini',
    zm.object({
      path: zm.string(),
      depth: zm._default(zm.number(), 3),
      inner: zm.optional(zm.object({ list: zm.array(zm.number()) })),
    }),
  ],
  [
    'zod 3',
    z3.object({
      path: z3.string(),
      depth: z3.number().default(3),
      inner: z3.object({ list: z3.array(z3.number()) }).optional(),
    }),
  ],
  [
    'Valibot',
    toStandardJsonSchema(
      v.object({
        path: v.string(),
        depth: v.optional(v.number(), 3),
        inner: v.optional(v.object({ list: v.array(v.number()) })),
      }),
    ),
  ],
  ['ArkType', type({ path: 'string', depth: 'number = 3', 'inner?': { list: 'number[]' } })],
  [
    'raw JSON Schema',
    {
      type: 'object',
      properties: {
        path: { type: 'string' },
        depth: { type: 'number', default: 3 },
        inner: {
          type: 'object',
          properties: { list: { type: 'array', items: { type: 'number' } } },
        },
      },
      required: ['path'],
    },
  ],
];

describe.each(same)('a bound schema validates by its own means: %s', (kind, schema) => {
  const bound = bind(schema);

  test(
    'what was accepted before is accepted again, also by a schema that has validated nothing ' +
      'yet',
    () => {
      expect(bind(schema).revalidate({ path: 'a', depth: 3 })).toMatchObject({
        value: { path: 'a', depth: 3 },
      });
      expect(
        (bind(schema).revalidate({ path: 5 }) as Validated).issues?.map(({ path }) => path),
      ).toEqual(['path']);
    },
  );

  test('a valid value is answered with its defaults', () => {
    expect(bound.validate({ path: 'a' })).toMatchObject({ value: { path: 'a', depth: 3 } });
  });

  test('issues carry dotted paths', () => {
    const { issues } = bound.validate({ path: 1, inner: { list: [1, 'x'] } } as never) as Validated;
    const paths = issues?.map(({ path }) => path) ?? [];
    expect(paths).toContain('inner.list.1');
    expect(paths).toContain('path');
  });

  test('a raw schema fills its defaults into the copy; other kinds do not', () => {
    const copy = { path: 'a' };
    const { value } = bound.validate(copy) as Validated;
    expect(value === copy).toBe(kind === 'raw JSON Schema');
    expect(copy).toEqual(kind === 'raw JSON Schema' ? { path: 'a', depth: 3 } : { path: 'a' });
  });

  test('what was accepted is accepted again', () => {
    const copy = { path: 'a' };
    void bound.validate(copy);
    expect(bound.revalidate(copy)).toMatchObject({ value: { path: 'a', depth: 3 } });
  });

  test('check passes, and json is one frozen object', () => {
    expect(bound.check()).toEqual([]);
    expect(bound.json).toBe(bound.json);
    expect(Object.isFrozen(bound.json)).toBe(true);
  });
});

describe('asynchronous refinements', () => {
  const taken = async (name: string) => name !== 'taken';
  test.each<[string, unknown]>([
    ['zod 4', z.object({ name: z.string().refine(taken, 'is taken') })],
    ['zod 3', z3.object({ name: z3.string().refine(taken, 'is taken') })],
    ['zod/mini', zm.object({ name: zm.string().check(zm.refine(taken, 'is taken')) })],
    [
      'Valibot',
      {
        '~standard': {
          ...v.objectAsync({ name: v.pipeAsync(v.string(), v.checkAsync(taken, 'is taken')) })[
            '~standard'
          ],
          jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
        },
      },
    ],
  ])('%s: the answer is a promise, and never rejects', async (_, schema) => {
    const bound = bind(schema);
    const good = bound.validate({ name: 'free' });
    expect(good).toBeInstanceOf(Promise);
    expect(await good).toMatchObject({ value: { name: 'free' } });
    expect(await bound.validate({ name: 'taken' })).toMatchObject({
      issues: [{ path: 'name', message: 'is taken' }],
    });
  });

  // zod 4 itself would run it twice, and let the first promise reject with nobody there.
  test('zod 4 runs one once if it passes, even deep in the schema', async () => {
    const check = vi.fn(taken);
    const name = z.string().refine(check);
    const schemas = [
      z.object({ name }),
      z.object({ list: z.array(z.object({ name }).optional()) }),
      z.lazy(() => z.object({ name })),
      z.union([z.object({ other: z.number() }), z.object({ name })]),
      z.object({ name: z.preprocess((value) => value, name) }),
      z.object({ name }).transform(async (value) => value),
      z.intersection(z.object({ name }), z.object({})),
    ];
    for (const schema of schemas) {
      check.mockClear();
      const value = schema === schemas[1] ? { list: [{ name: 'free' }] } : { name: 'free' };
      expect(await bind(schema, { objectOnly: false }).validate(value)).toEqual({ value });
      expect(check).toHaveBeenCalledTimes(1);
    }
  });

  test('one that rejects is an issue', async () => {
    const bound = bind(
      z.object({ name: z.string().refine(() => Promise.reject(new Error('CANARY'))) }),
    );
    const { issues } = await bound.validate({ name: 'x' });
    expect(issues).toHaveLength(1);
    expect(JSON.stringify(issues)).not.toContain('CANARY');
  });
});

describe('transforms', () => {
  test.each<[string, unknown]>([
    ['zod 4', z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })],
    [
      'zod 3',
      z3.object({
        at: z3
          .string()
          .datetime()
          .transform((text) => new Date(text)),
      }),
    ],
    [
      'Valibot',
      toStandardJsonSchema(v.object({ at: v.pipe(v.string(), v.isoTimestamp(), v.toDate()) })),
    ],
    ['ArkType', type({ at: 'string.date.iso.parse' })],
  ])('%s: the value is what the schema made of it', (kind, schema) => {
    const at = '2026-01-02T03:04:05.000Z';
    const bound = bind(schema);
    expect(bound.validate({ at })).toMatchObject({ value: { at: new Date(at) } });
    expect(bound.validate({ at: 'x' })).toMatchObject({ issues: [{ path: 'at' }] });
    if (kind !== 'ArkType') expect(bound.json.properties).toMatchObject({ at: { type: 'string' } });
  });
});

describe('a schema whose code misbehaves', () => {
  const standard = (validate: (value: unknown) => unknown) => ({
    '~standard': {
      version: 1,
      vendor: 'acme',
      validate,
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
    },
  });
  test.each<[string, (value: unknown) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['answers a number', () => 7],
    ['answers true', () => true],
    ['answers neither a value nor issues', () => ({})],
    ['resolves to nothing', async () => undefined],
    ['resolves to neither', async () => ({})],
  ])('one that %s accepts nothing', async (_, validate) => {
    expect((await bind(standard(validate)).validate({})).issues).toHaveLength(1);
  });

  test.each([undefined, null, 7, true, 'text', {}])(
    'one that answers %j is told what is wanted, and why it failed',
    async (answer) => {
      for (const validate of [() => answer, async () => answer])
        expect(await bind(standard(validate)).validate({})).toEqual({
          issues: [
            { path: '', message: 'validation returned an invalid answer; correct the schema' },
          ],
          fault: {
            thrown: expect.objectContaining({
              message: expect.stringMatching(
                /^Expected the schema to answer \{ value \} or \{ issues \}, got /,
              ),
            }),
          },
        });
    },
  );

  test('one that throws says what, and not whose value it was', async () => {
    const error = new RangeError('CANARY');
    for (const [thrown, name] of [
      [error, 'RangeError'],
      ['CANARY', 'a value'],
    ])
      for (const validate of [
        () => {
          throw thrown;
        },
        () => Promise.reject(thrown as Error),
      ])
        expect(await bind(standard(validate)).validate({})).toEqual({
          issues: [
            {
              path: '',
              message: `validation itself failed (${name} was thrown); correct the schema`,
            },
          ],
          fault: { thrown },
        });
  });

  test('an inherited value of its answer counts, and one beside empty `issues`', async () => {
    expect(await bind(standard(() => Object.create({ value: 5 }))).validate({})).toEqual({
      value: 5,
    });
    expect(
      await bind(standard(async () => ({ value: 5, issues: undefined }))).validate({}),
    ).toEqual({ value: 5 });
    expect(
      await bind(standard(() => ({ issues: undefined, value: undefined }))).validate({}),
    ).toMatchObject({ value: undefined });
  });

  test('twenty issues are reported, and no more', async () => {
    const issues = Array.from({ length: 21 }, (_, index) => ({ message: 'm', path: [index] }));
    expect(
      (await bind(standard(() => ({ issues }))).validate({})).issues?.map(({ path }) => path),
    ).toEqual(issues.slice(0, 20).map(({ path }) => String(path)));
  });

  test('issues without a path or a message, and paths of objects and symbols', async () => {
    const issues = [
      {},
      { message: 'm', path: [{ key: 'a' }, 0, Symbol('s')] },
      { message: 7, path: [] },
      { message: 'n', path: ['a', 'b'] },
      { path: [null, {}] },
    ];
    expect(await bind(standard(() => ({ issues }))).validate({})).toEqual({
      issues: [
        { path: '', message: 'invalid' },
        { path: 'a.0.Symbol(s)', message: 'm' },
        { path: '', message: 'invalid' },
        { path: 'a.b', message: 'n' },
        { path: 'null.[object Object]', message: 'invalid' },
      ],
    });
  });

  test('a validator that needs its receiver has it', () => {
    const schema = standard(() => undefined);
    const props = Object.assign(schema['~standard'], {
      accepted: 5,
      validate(this: { accepted: number }) {
        return { value: this.accepted };
      },
    });
    expect(props.validate()).toEqual({ value: 5 });
    expect(bind(schema).validate({})).toEqual({ value: 5 });
  });

  test('one that holds a schema of zod with code in it is asked itself', () => {
    const schema = {
      ...standard((value) => ({ value: [value] })),
      inner: z.string().refine(() => true),
    };
    expect(bind(schema).validate({ a: 1 })).toEqual({ value: [{ a: 1 }] });
  });

  test('conversion happens when it is asked for, once', () => {
    const input = vi.fn(() => ({ type: 'object' }));
    const schema = standard((value) => ({ value }));
    schema['~standard'].jsonSchema.input = input;
    const bound = bind(schema);
    expect(input).not.toHaveBeenCalled();
    bound.check();
    void bound.json;
    expect(input).toHaveBeenCalledTimes(1);
  });
});

describe('the place of a schema', () => {
  test('errors name the place and what came', () => {
    expect(thrownBy(() => bind(7))).toMatchObject({
      code: 'invalid_schema',
      message:
        'tool `t`, `parameters`: expected a zod schema, a Standard Schema or a JSON Schema ' +
        'object, got `7` (number).',
    });
    expect(thrownBy(() => bind(z.string()).check())).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringMatching(/^tool `t`, `parameters`: .*wrap the value in an object/),
    });
    expect(
      thrownBy(() => bind({ type: 'object', properties: { a: { pattern: '(' } } }).check()),
    ).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringMatching(/^tool `t`, `parameters`: .*pattern/),
    });
  });

  test('a schema without a type is one of an object where objects are wanted', () => {
    const { json } = bind({ properties: { a: {} } });
    expect(json).toEqual({ type: 'object', properties: { a: {} } });
    expect(Object.isFrozen(json)).toBe(true);
    expect(bind({}).validate({ a: 1 })).toEqual({ value: { a: 1 } });
    expect(bind({}).validate([] as never)).toMatchObject({ issues: [{ path: '' }] });
    expect(bind({}, { objectOnly: false }).validate([] as never)).toEqual({ value: [] });
  });

  test('check names a trusted pattern that RE2 cannot run, and refuses an outside one', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: 'c(?=a)' } } };
    expect(bind(schema).check()).toEqual([expect.stringContaining('/properties/a')]);
    expect(thrownBy(() => bind(schema, { trusted: false }).check())).toMatchObject({
      code: 'invalid_schema',
    });
  });

  test('a raw schema is copied: what its owner changes later changes nothing', () => {
    const schema: Record<string, unknown> = { type: 'object', required: ['a'] };
    const bound = bind(schema);
    schema.required = [];
    expect(bound.validate({})).toMatchObject({ issues: [{}] });
  });
});
