import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { hasHostCode, runWithPromises } from '../../../src/values/schema/zod-promises.ts';

const check = () => true;
const node: z.ZodType = z.object({
  name: z.string(),
  get next() {
    return node.optional();
  },
});
const guarded: z.ZodType = z.object({
  get next() {
    return guarded.optional();
  },
  name: z.string().refine(check),
});
class Holder {
  part = z.custom();
}
/** What the walk reads of a schema, and nothing else. */
const withDef = (def: object): unknown => ({ _zod: { def } });

describe('the host has code', () => {
  test.each<[what: string, schema: unknown, expected: boolean]>([
    [
      'in no plain schema',
      z.object({
        a: z.string().min(1).regex(/^a/),
        b: z.array(z.number().int()).max(3),
        c: z.enum(['x']).optional(),
      }),
      false,
    ],
    [
      'in no default and no union',
      z.union([
        z.string().default('x'),
        z.literal(5),
        z.record(z.string(), z.date()),
        z.tuple([z.null()]),
      ]),
      false,
    ],
    ['in no schema that holds itself', node, false],
    ['in a schema that holds itself', guarded, true],
    ['in a refinement', z.string().refine(check), true],
    ['in a refinement of zod/mini', zm.string().check(zm.refine(check)), true],
    ['in a refinement after other checks', z.string().min(1).max(5).refine(check), true],
    ['in a transform', z.string().transform(String), true],
    ['in a lazy part', z.array(z.lazy(() => z.string())), true],
    ['in a promise', z.promise(z.string()), true],
    ['in a custom part', z.tuple([z.string(), z.custom()]), true],
    [
      'in the last member alone',
      z.object({ a: z.string(), b: z.object({ c: z.string(), d: z.string().refine(check) }) }),
      true,
    ],
    [
      'behind a member without a prototype',
      withDef({ type: 'object', shape: Object.assign(Object.create(null), { a: z.custom() }) }),
      true,
    ],
    [
      'in no object of a class, which is data',
      withDef({ type: 'literal', value: new Holder() }),
      false,
    ],
    ['in no null', withDef({ type: 'literal', values: [null, undefined, 'custom'] }), false],
    [
      'where that cannot be told',
      withDef({
        get shape(): never {
          throw new Error('not yet');
        },
      }),
      true,
    ],
  ])('%s', (_what, schema, expected) => {
    expect(hasHostCode(schema)).toBe(expected);
    if (expected) expect(hasHostCode(schema, true)).toBe(true);
  });

  test.each<[what: string, schema: unknown, expected: boolean]>([
    [
      'no member and no check of zod itself',
      z.object({
        a: z.string().min(1).max(9).regex(/^a/).optional(),
        b: z.array(z.number().int().gt(3)).max(3).nullable(),
        c: z.enum(['x']),
        d: z.discriminatedUnion('kind', [z.object({ kind: z.literal('k') })]),
        e: z.email(),
        f: z.record(z.string(), z.iso.datetime()),
        g: z.strictObject({ h: z.url().or(z.uuid()) }),
      }),
      false,
    ],
    ['a message of the host, which only a refusal needs', z.string({ error: () => 'no' }), false],
    ['a default', z.object({ a: z.string().default(() => 'x') }), true],
    ['a value that is filled in before', z.string().prefault('x'), true],
    ['a value in place of a wrong one', z.string().catch('x'), true],
    ['a text that is written again', z.string().overwrite((text) => text), true],
    ['a format of the host', z.stringFormat('city', check), true],
    ['a refinement', z.string().refine(check), true],
  ])('functions that answer at once count: %s', (_what, schema, expected) => {
    expect(hasHostCode(schema, true)).toBe(expected);
  });
});

describe('a run with promises allowed', () => {
  const issue = { message: 'wrong', path: [] };
  const explain = vi.fn((value: unknown) => ({ explained: value }));
  const schemaOf = (run: unknown, more: object = {}): unknown => ({
    _zod: { def: {}, run },
    ...more,
  });
  const run = async (schema: unknown): Promise<unknown> =>
    await runWithPromises(schema, 'sent', explain);

  test.each<[what: string, schema: unknown, answer: unknown]>([
    ['of a schema that cannot be run is explained', schemaOf(undefined), { explained: 'sent' }],
    [
      'that holds at once gives its value',
      schemaOf(() => ({ value: 'made', issues: [] })),
      { value: 'made' },
    ],
    [
      'that fails at once says what is wrong',
      schemaOf(() => ({ value: 'made', issues: [issue] })),
      { issues: [issue] },
    ],
    [
      'that holds later gives its value',
      schemaOf(async () => ({ value: 'made', issues: [] })),
      { value: 'made' },
    ],
    [
      'that fails later says what is wrong',
      schemaOf(async () => ({ value: 'made', issues: [issue] })),
      { issues: [issue] },
    ],
    [
      'that fails without a reason is invalid',
      schemaOf(async () => ({ value: 'made', issues: [{}] })),
      { issues: [{ message: 'Invalid input' }] },
    ],
    [
      'of a schema that cannot be copied says what it knows',
      {
        _zod: {
          def: {},
          constr: class {
            constructor() {
              throw new Error('no');
            }
          },
          run: () => ({ value: 'made', issues: [issue] }),
        },
      },
      { issues: [issue] },
    ],
  ])('%s', async (_what, schema, answer) => {
    expect(await run(schema)).toEqual(answer);
  });

  test(
    'answers at once where nothing has to be waited for, and passes on that promises are ' +
      'allowed',
    () => {
      const zodRun = vi.fn(() => ({ value: 1, issues: [] }));
      expect(runWithPromises(schemaOf(zodRun), 'sent', explain)).toEqual({ value: 1 });
      expect(zodRun).toHaveBeenCalledWith({ value: 'sent', issues: [] }, { async: true });
    },
  );
});

describe('a refused input', () => {
  const even = (n: number) => n % 2 === 0;
  const short = z
    .string()
    .max(3)
    .refine((text) => text !== 'no', { error: 'not this one' });
  const schemas: readonly (readonly [
    name: string,
    schema: z.ZodType,
    values: readonly unknown[],
  ])[] = [
    ['a refinement', z.number().refine(even), [1, 'x', null]],
    ['one with a message', z.number().refine(even, 'must be even'), [1]],
    [
      'one with a function for the message',
      z.number().refine(even, { error: ({ input }) => `${String(input)} is odd` }),
      [1],
    ],
    [
      'one with a path',
      z.object({ a: z.number() }).refine(({ a }) => a > 1, { path: ['a'], error: 'more' }),
      [{ a: 1 }, { a: 'x' }, {}],
    ],
    [
      'issues in depth',
      z.object({ list: z.array(z.object({ n: z.number().refine(even), s: short })) }),
      [{ list: [{ n: 1, s: 'long' }, { n: 2, s: 'no' }, 7] }],
    ],
    ['a union', z.union([z.number().refine(even), short]), [1, 'no', true]],
    ['a transform', z.string().transform(Number).pipe(z.number().max(3)), ['7', 7]],
    ['an issue of its own', z.string().superRefine((_, { addIssue }) => addIssue('never')), ['a']],
    ['a strict object', z.strictObject({ a: short }), [{ a: 'b', c: 1 }]],
    ['a refinement later', z.number().refine(async (n) => even(n), 'must be even'), [1, 'x']],
    ['a lazy schema', z.lazy(() => z.object({ a: short })), [{ a: 'long' }]],
    ['an error map of the schema', z.object({ a: short }, 'no object'), [1, { a: 4 }]],
  ];

  test.each(schemas)('by %s has the words of zod', async (_, schema, values) => {
    for (const value of values) {
      const { error } = await schema.safeParseAsync(value);
      const result = (await runWithPromises(schema, value, () => expect.unreachable())) as {
        issues: readonly object[];
      };
      expect(result.issues).toEqual(error?.issues);
    }
  });

  test('is validated once, also if the refinement answers later', async () => {
    for (const later of [false, true]) {
      const check = vi.fn((n: number) => (later ? Promise.resolve(even(n)) : even(n)));
      const schema = z.object({ n: z.number().refine(check, 'must be even') });
      for (const n of [1, 2, 3]) await runWithPromises(schema, { n }, () => expect.unreachable());
      expect(check.mock.calls).toEqual([[1], [2], [3]]);
    }
  });

  test('has its own words, when several are refused at a time', async () => {
    const schema = z
      .number()
      .refine(async (n) => even(n), { error: ({ input }) => `${input} is odd` });
    const results = await Promise.all(
      [1, 3, 5].map((n) => runWithPromises(schema, n, () => expect.unreachable())),
    );
    expect(results).toMatchObject([1, 3, 5].map((n) => ({ issues: [{ message: `${n} is odd` }] })));
  });

  test('has its own words, when its error map validates another', () => {
    const inner: string[] = [];
    const schema: z.ZodType = z.number().refine(even, {
      error: ({ input }) => {
        if (input === 1) {
          const other = runWithPromises(schema, 3, () => expect.unreachable()) as {
            issues: readonly { message: string }[];
          };
          inner.push(other.issues[0]?.message ?? '');
        }
        return `${String(input)} is odd`;
      },
    });
    expect(runWithPromises(schema, 1, () => expect.unreachable())).toMatchObject({
      issues: [{ message: '1 is odd' }],
    });
    expect(inner).toEqual(['3 is odd']);
  });
});
