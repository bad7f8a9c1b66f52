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
      'that fails at once is explained',
      schemaOf(() => ({ value: 'made', issues: [issue] })),
      { explained: 'sent' },
    ],
    [
      'that holds later gives its value',
      schemaOf(async () => ({ value: 'made', issues: [] })),
      { value: 'made' },
    ],
    [
      'that fails later is explained where the schema cannot do so',
      schemaOf(async () => ({ value: 'made', issues: [issue] })),
      { explained: 'sent' },
    ],
    [
      'that fails later is explained by the schema',
      schemaOf(async () => ({ value: 'made', issues: [{}] }), {
        safeParseAsync: async () => ({ success: false, error: { issues: [issue] } }),
      }),
      { issues: [issue] },
    ],
    [
      'that fails later without a reason is invalid',
      schemaOf(async () => ({ value: 'made', issues: [{}] }), {
        safeParseAsync: async () => ({ success: false }),
      }),
      { issues: [{ message: 'invalid' }] },
    ],
    [
      'that fails later and holds the second time gives its value',
      schemaOf(async () => ({ value: 'made', issues: [{}] }), {
        safeParseAsync: async (value: unknown) => ({ success: true, data: [value] }),
      }),
      { value: ['sent'] },
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
