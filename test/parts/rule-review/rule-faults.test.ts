import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod3';
import type { ToolSummary } from '../../../src/api/tool.ts';
import { compileQuotas, compileRules } from '../../../src/assembly/compile.ts';
import type { CompiledRule } from '../../../src/core/rules/rule.ts';
import { internalsOf } from '../../../src/core/tool/definition.ts';
import { defineTool, type Quota, type Rule } from '../../../src/index.ts';
import type { CompiledQuota } from '../../../src/parts/quotas/quota-layers.ts';
import type { LookedAtTool } from '../../../src/parts/rule-review/condition.ts';
import { ruleFaults } from '../../../src/parts/rule-review/rule-faults.ts';

function toolOf(name: string, parameters: unknown, more: object = {}): LookedAtTool {
  const definition = defineTool({
    name,
    description: 'For a test.',
    parameters,
    handler: () => 1,
    ...more,
  } as never);
  const { tags, annotations } = definition as Pick<ToolSummary, 'tags' | 'annotations'>;
  return {
    name,
    summary: { name, source: 'host', tags, annotations, fingerprint: '' },
    internals: internalsOf(definition as never),
  };
}

type When = NonNullable<Rule['when']>;

function faultsOf(
  when: When,
  tools: readonly LookedAtTool[],
  effect: Rule['effect'] = 'deny',
  budget = 100_000,
): string[] {
  const [rule] = compileRules([{ effect, when }], 'registry') as readonly [CompiledRule];
  return ruleFaults(rule, tools, { left: budget }).map(({ message }) => message);
}

const deploy = toolOf(
  'deploy',
  z.object({
    environment: z.enum(['staging', 'production']),
    count: z.number(),
    replicas: z.int().min(1).max(10),
    label: z.string().max(5).optional(),
    dryRun: z.boolean().default(true),
    to: z.array(z.object({ account: z.string(), kind: z.literal('bank').optional() })).min(1),
    meta: z.record(z.enum(['owner', 'team']), z.string()),
    tag: z.union([z.string(), z.null()]),
  }),
);
const closedJson = toolOf('send', {
  type: 'object',
  properties: {
    to: { type: 'string', pattern: '^[a-z]+@corp\\.example$' },
    level: { enum: [1, 2, 'high'] },
    body: { type: ['string', 'null'], minLength: 3 },
    node: { $ref: '#/$defs/node' },
  },
  required: ['to'],
  additionalProperties: false,
  $defs: {
    node: {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } },
      additionalProperties: false,
    },
  },
});

describe('a path that no tool has', () => {
  test.each<[when: When, tool: LookedAtTool, ends: string]>([
    [
      { enviroment: 'production' },
      deploy,
      '`deploy` has no `enviroment`. Did you mean `environment`?',
    ],
    [{ 'to.*.acount': 'x' }, deploy, '`deploy` has no `to.*.acount`. Did you mean `to.*.account`?'],
    [{ 'to.account.iban': 'x' }, deploy, '`deploy` has no `to.account.iban`.'],
    [{ 'meta.ownr': 'x' }, deploy, '`deploy` has no `meta.ownr`.'],
    [{ 'count.value': 1 }, deploy, '`deploy` has no `count.value`.'],
    [[{ path: ['to', '0', 'acount'], glob: '*' }], deploy, 'Did you mean `to.0.account`?'],
    [{ 'node.next.next.nme': 'x' }, closedJson, 'Did you mean `node.next.next.name`?'],
    [{ subject: 'x' }, closedJson, '`send` has no `subject`.'],
    [{ 'to@blocked': true }, closedJson, '`send` has no `to@blocked`.'],
  ])('%j', (when, tool, ends) => {
    const [fault, ...others] = faultsOf(when, [tool]);
    expect(fault).toContain('never holds: ');
    expect(fault?.endsWith(ends)).toBe(true);
    expect(others).toEqual([]);
  });

  test('is reported too if the condition then holds for every call', () => {
    for (const test of [{ not: 'staging' }, { exists: false }])
      for (const effect of ['deny', 'allow'] as const)
        expect(faultsOf({ enviroment: test }, [deploy], effect)).toEqual([
          `\`when["enviroment"]: ${JSON.stringify(test)}\` holds for every call: \`deploy\` has no ` +
            '`enviroment`. Did you mean `environment`?',
        ]);
  });

  test('is not reported if one of the tools has it, or is open', () => {
    const open = toolOf('open', { type: 'object', properties: { a: {} } });
    const loose = toolOf('loose', z.looseObject({ a: z.string() }));
    for (const other of [closedJson, open, loose])
      expect(faultsOf({ body: 'spam' }, [deploy, other])).toEqual([]);
  });

  test('is not reported where a transform, a record or a union may bring it', () => {
    const tools = [
      z.object({ a: z.string().transform((text) => ({ b: text })) }),
      z.object({ a: z.record(z.string(), z.string()) }),
      z.object({ a: z.union([z.string(), z.object({ b: z.string() })]) }),
      z.object({ a: z.preprocess((value) => value, z.object({ c: z.string() })) }),
      z.object({ a: z.object({ c: z.string() }).and(z.object({ b: z.string() })) }),
      z.object({ a: z.any() }),
      z.object({ a: z.lazy(() => z.object({ b: z.string() })).nullable() }),
      z.object({ a: z.object({ c: z.string() }).catchall(z.string()) }),
      z.object({ a: z.tuple([z.object({ b: z.string() })]) }),
    ];
    for (const schema of tools) expect(faultsOf({ 'a.b': 'x' }, [toolOf('t', schema)])).toEqual([]);
    for (const schema of [
      z.object({ a: z.string().trim() }),
      z.object({ a: z.object({ c: z.string() }).and(z.object({ d: z.string() })) }),
    ])
      expect(faultsOf({ 'a.b': 'x' }, [toolOf('t', schema)])).toHaveLength(1);
  });

  test('names at most three tools, and says how many others there are', () => {
    const tools = ['a', 'b', 'c', 'd', 'e'].map((name) => toolOf(name, z.object({})));
    const of = (count: number): string | undefined => faultsOf({ x: 1 }, tools.slice(0, count))[0];
    expect(of(1)).toContain('`a` has no `x`');
    expect(of(2)).toContain('none of `a` and `b` has `x`');
    expect(of(4)).toContain('none of `a`, `b`, `c` and 1 other has `x`');
    expect(of(5)).toContain('none of `a`, `b`, `c` and 2 others has `x`');
  });
});

describe('a test that no value passes', () => {
  test.each<[when: When, tool: LookedAtTool, ends: string]>([
    [{ count: '> 10' }, deploy, '`count` is a number. Did you mean `{ gt: 10 }`?'],
    [{ count: '<=2.5' }, deploy, 'Did you mean `{ lte: 2.5 }`?'],
    [{ count: 'many' }, deploy, '`count` is a number.'],
    [{ count: { glob: 'ten*' } }, deploy, '`count` is a number.'],
    [{ environment: 'prod' }, deploy, '"staging" or "production". Did you mean `"production"`?'],
    [{ environment: { in: ['prod'] } }, deploy, 'Did you mean `"production"`?'],
    [{ environment: 'prod*' }, deploy, 'Did you mean `{ glob: "prod*" }`?'],
    [{ environment: '!production' }, deploy, 'Did you mean `{ not: "production" }`?'],
    [{ environment: { matches: '^dev' } }, deploy, 'is "staging" or "production".'],
    [{ environment: { not: { in: ['staging', 'production'] } } }, deploy, 'or "production".'],
    [{ environment: { any: ['dev', { glob: 'q?' }] } }, deploy, 'or "production".'],
    [{ environment: { exists: false } }, deploy, 'or "production", and always there.'],
    [{ environment: { alike: 'prod' } }, deploy, 'Did you mean `"production"`?'],
    [{ environment: { alike: ['PR0D', 'dev'] } }, deploy, '"staging" or "production".'],
    [{ replicas: { gt: 10 } }, deploy, '`replicas` is a whole number from 1 to 10.'],
    [{ replicas: 2.5 }, deploy, '`replicas` is a whole number from 1 to 10.'],
    [{ replicas: { gt: 3, lt: 4 } }, deploy, 'from 1 to 10.'],
    [{ label: 'longer' }, deploy, '`label` is a text of at most 5 characters.'],
    [{ label: { size: { gt: 5 } } }, deploy, 'at most 5 characters.'],
    [{ label: { glob: 'longer*' } }, deploy, 'at most 5 characters.'],
    [{ dryRun: 'yes' }, deploy, '`dryRun` is true or false.'],
    [{ dryRun: { origin: 'untrusted' } }, deploy, '`dryRun` is true or false.'],
    [{ to: { size: 0 } }, deploy, '`to` is a list.'],
    [{ 'to.*.kind': 'card' }, deploy, '`to.*.kind` is "bank".'],
    [{ count: { gt: 10, lt: 5 } }, deploy, 'no value passes these tests together.'],
    [{ level: 3 }, closedJson, '`level` is 1 or 2 or "high".'],
    [{ body: { size: { lt: 3 } } }, closedJson, '`body` is a text or null.'],
    [{ to: { alike: 'x' }, level: 'low' }, closedJson, '`level` is 1 or 2 or "high".'],
  ])('%j', (when, tool, ends) => {
    const faults = faultsOf(when, [tool]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('never holds: ');
    expect(faults[0]?.endsWith(ends)).toBe(true);
  });

  test.each<[when: When, tool: LookedAtTool]>([
    [{ environment: 'production' }, deploy],
    [{ environment: { glob: 'PROD*' } }, toolOf('t', z.object({ environment: z.string() }))],
    [{ environment: { glob: 'pro*' } }, deploy],
    [{ environment: { alike: 'PR0DUCTI0N' } }, deploy],
    [{ environment: { alike: { fact: 'places' } } }, deploy],
    [{ count: { alike: '1O' } }, deploy],
    [{ label: { alike: 'a much longer text' } }, deploy],
    [{ count: '10' }, deploy],
    [{ count: { matches: '^1' } }, deploy],
    [{ count: { gt: 9, lt: 10 } }, deploy],
    [{ replicas: { gte: 10 } }, deploy],
    [{ label: { exists: false } }, deploy],
    [{ label: { size: 5 } }, deploy],
    [{ dryRun: 'true' }, deploy],
    [{ to: { size: 1 } }, deploy],
    [{ 'to.account': 'x' }, deploy],
    [{ 'to.*.kind': { exists: false } }, deploy],
    [{ to: { in: { fact: 'accounts' } } }, deploy],
    [{ tag: null }, deploy],
    [{ to: 'ann@corp.example' }, closedJson],
    [{ level: '1' }, closedJson],
    [{ body: { not: 'x' } }, closedJson],
    [{ 'node.next.next.name': 'x' }, closedJson],
    [{ count: { not: '5' } }, toolOf('t', z.object({ count: z.literal(5) }))],
    [{ a: { exists: false } }, toolOf('t', z.object({ a: z.literal([undefined, 'x']) }))],
    [{ a: { size: 1 } }, toolOf('t', z.object({ a: z.string().min(2) }))],
    [{ a: '5' }, toolOf('t', z.object({ a: z.coerce.number().max(3) }))],
    [{ a: 'production' }, toolOf('t', z.object({ a: z.coerce.boolean() }))],
    [{ a: ' x' }, toolOf('t', z.object({ a: z.string().trim().max(1) }))],
    [{ a: 'X' }, toolOf('t', z.object({ a: z.string().regex(/^x$/i) }))],
    [{ a: 'other' }, toolOf('t', z.object({ a: z.enum(['x']).catch('x') }))],
    [{ a: 3 }, toolOf('t', z.object({ a: z.number().min(5).default(3) }))],
    [
      { a: 'x' },
      toolOf('t', { type: 'object', properties: { a: { type: 'number', default: 'x' } } }),
    ],
  ])('is not seen in %j', (when, tool) => {
    expect(faultsOf(when, [tool])).toEqual([]);
  });

  test('is reported if each tool fails one of the conditions', () => {
    const one = toolOf('one', z.object({ path: z.string() }));
    const other = toolOf('other', z.object({ amount: z.string() }));
    const both = toolOf('both', z.object({ path: z.string(), amount: z.string() }));
    expect(faultsOf({ path: 'x', amount: 'y' }, [one, other])).toEqual([
      '`when["path"]: "x"` never holds: `other` has no `path`.',
      '`when["amount"]: "y"` never holds: `one` has no `amount`.',
    ]);
    expect(faultsOf({ path: 'x', amount: 'y' }, [one, other, both])).toEqual([]);
  });
});

describe('an allow is read narrowly', () => {
  test.each<[when: When, ends: string]>([
    [{ 'to.account': 'x' }, 'enters an array only by `*`. Did you mean `to.*.account`?'],
    [{ count: '10' }, '`count` is a number. Did you mean `10`?'],
    [{ count: { glob: '1*' } }, '`count` is a number.'],
    [{ dryRun: 'true' }, '`dryRun` is true or false.'],
    [{ environment: { not: { not: 'prod' } } }, 'or "production".'],
  ])('%j', (when, ends) => {
    const faults = faultsOf(when, [deploy], 'allow');
    expect(faults).toHaveLength(1);
    expect(faults[0]?.endsWith(ends)).toBe(true);
  });

  test('and is not reported where it can match', () => {
    for (const when of [{ 'to.*.account': 'x' }, { to: { size: 1 } }, { count: 10 }] as When[])
      expect(faultsOf(when, [deploy], 'allow')).toEqual([]);
  });
});

describe('attributes', () => {
  const pay = toolOf('pay', z.object({ payee: z.string(), amount: z.number() }), {
    attributes: { payee: () => ({}), payer: () => ({}) },
  });
  test.each<[when: When, ends: string | undefined]>([
    [{ 'payee@sanctioned': true }, undefined],
    [{ 'payee@bank.country': 'XX' }, undefined],
    [{ 'payee@risk': { gt: 5, lt: 3 } }, 'no value passes these tests together.'],
    [
      { 'paye@sanctioned': true },
      '`pay` has no `paye@sanctioned`. Did you mean `payee@sanctioned` or',
    ],
    [{ 'amount@high': true }, '`pay` has no `amount@high`. Did you mean `amount`?'],
    // The tool declares it for a member that its own schema does not have.
    [{ 'payer@sanctioned': true }, '`pay` has no `payer`. Did you mean `payee`?'],
  ])('%j', (when, ends) => {
    const faults = faultsOf(when, [pay]);
    if (ends === undefined) return expect(faults).toEqual([]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(ends);
    return undefined;
  });
});

describe('schemas of other kinds', () => {
  test('a zod 3 schema is read if it changes nothing', () => {
    const plain = z3.object({
      kind: z3.enum(['a', 'b']),
      name: z3.string().min(2),
      n: z3.number().max(5),
      list: z3.array(z3.object({ id: z3.string() })).optional(),
    });
    for (const when of [
      { knd: 'a' },
      { kind: 'c' },
      { n: { gt: 5 } },
      { name: '' },
      { 'list.idd': 'x' },
    ] as When[]) {
      expect(faultsOf(when, [toolOf('t', plain)])).toHaveLength(1);
      expect(
        faultsOf(when, [
          toolOf(
            't',
            plain.refine(() => true),
          ),
        ]),
      ).toHaveLength(1);
    }
    for (const when of [{ kind: 'a' }, { name: { size: 1 } }, { n: 5 }] as When[])
      expect(faultsOf(when, [toolOf('t', plain)])).toEqual([]);
    for (const changing of [
      plain.extend({ x: z3.coerce.number() }),
      plain.extend({ x: z3.string().trim() }),
      plain.extend({ x: z3.string().transform(Number) }),
      plain.extend({ x: z3.preprocess((one) => one, z3.string()) }),
      plain.extend({ x: z3.string().catch('') }),
      plain.extend({ x: z3.string().regex(/x/i) }),
    ])
      expect(faultsOf({ kind: 'c', knd: 'a' }, [toolOf('t', changing)])).toEqual([]);
  });

  test('nothing is said about schemas of other libraries', () => {
    const standard = {
      '~standard': {
        version: 1,
        vendor: 'other',
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => ({ type: 'object', properties: {}, additionalProperties: false }),
          output: () => ({ type: 'object' }),
        },
      },
    };
    expect(faultsOf({ a: 1 }, [toolOf('t', standard)])).toEqual([]);
  });

  test.each<[name: string, schema: object, dead: When, alive: When]>([
    [
      'closed over an allOf',
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { b: 1 },
      { a: 1 },
    ],
    [
      'closed, but for what a condition looks at',
      {
        if: { properties: { a: { const: 1 } } },
        unevaluatedProperties: false,
        properties: { b: { const: 1 } },
      },
      { b: 2 },
      { a: 1 },
    ],
    [
      'patterns of names',
      {
        properties: { a: { enum: [1] } },
        patternProperties: { '^x-': {} },
        additionalProperties: false,
      },
      { a: 2 },
      { 'x-a': 1 },
    ],
    [
      'names of a list',
      { propertyNames: { enum: ['a'] }, additionalProperties: { type: 'number' } },
      { b: 1 },
      { a: 1 },
    ],
    [
      'draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { $ref: '#/definitions/s', minLength: 9 } },
        definitions: { s: { type: 'string', maxLength: 3 } },
        additionalProperties: false,
      },
      { a: 'long' },
      { a: 'x' },
    ],
    [
      'a oneOf by a constant',
      {
        properties: {
          one: {
            oneOf: [
              { type: 'object', properties: { k: { const: 'a' } }, additionalProperties: false },
              { type: 'object', properties: { k: { const: 'b' } }, additionalProperties: false },
            ],
          },
        },
        additionalProperties: false,
      },
      { 'one.k': 'c' },
      { 'one.k': 'b' },
    ],
    [
      'a key with a dot',
      { properties: { 'a.b': {} }, additionalProperties: false },
      { a: 1 },
      { 'a.b': 1 },
    ],
  ])('JSON Schema: %s', (_, schema, dead, alive) => {
    const tool = toolOf('t', { type: 'object', ...schema });
    expect(faultsOf(dead, [tool])).toHaveLength(1);
    expect(faultsOf(alive, [tool])).toEqual([]);
  });
});

describe('a quota', () => {
  const of = (quota: Partial<Quota>, tools: readonly LookedAtTool[] = [deploy]): string[] => {
    const base = { id: 'q', max: 1, per: 'day', by: 'registry', ...quota } as Quota;
    const [compiled] = compileQuotas([base], 'registry') as readonly [CompiledQuota];
    return ruleFaults(compiled, tools, { left: 100_000 }).map(({ message }) => message);
  };
  test.each<[quota: Partial<Quota>, message: string]>([
    [
      { when: { enviroment: 'production' } },
      '`when["enviroment"]: "production"` never holds: `deploy` has no `enviroment`. Did you mean `environment`?',
    ],
    [
      { sum: 'cuont' },
      '`sum` is `cuont`, so nothing is added up: `deploy` has no `cuont`. Did you mean `count`?',
    ],
    [
      { sum: 'environment' },
      '`sum` is `environment`, so every call with a value there is refused: it is never a number.',
    ],
    [
      { by: ['session', { path: 'to.*.acount' }] },
      '`by` is `to.*.acount`, so every call is refused: `deploy` has no `to.*.acount`. Did you mean `to.*.account`?',
    ],
    [
      { by: { path: 'to' } },
      '`by` is `to`, so every call is refused: it is never a text, a number or a boolean.',
    ],
  ])('%j', (quota, message) => {
    expect(of(quota)).toEqual([message]);
  });

  test('that can count is not reported', () => {
    for (const quota of [
      { sum: 'count' },
      { sum: 'to.*.account', when: { count: 1 } },
      { by: { path: 'to.account' } },
      { by: [{ path: 'environment' }, 'session'] },
    ] as Partial<Quota>[])
      expect(of(quota).filter((text) => !text.includes('never a number'))).toEqual([]);
    expect(of({ sum: 'x' }, [deploy, toolOf('t', { type: 'object' })])).toEqual([]);
    expect(of({ sum: 'x' }, [])).toEqual([]);
  });
});

describe('the work is bounded', () => {
  test('an intersection of recursive schemas ends', () => {
    const tree = (): z.ZodType => {
      const one: z.ZodType = z.object({
        get left(): z.ZodType {
          return one.optional();
        },
        get right(): z.ZodType {
          return one.optional();
        },
      });
      return one;
    };
    const tool = toolOf('t', z.object({ a: z.intersection(tree(), tree()) }));
    expect(faultsOf({ 'a.left.right': { exists: true } }, [tool])).toEqual([]);
    expect(faultsOf({ b: 1 }, [tool])).toHaveLength(1);
  });

  test('long lists of tests and values cost as many steps as short ones together', () => {
    const far = (count: number): object[] =>
      Array.from({ length: count }, (_, at) => ({ gt: 10 ** 6 + at, lt: -at }));
    expect(faultsOf({ count: { any: far(20) } } as When, [deploy])).toHaveLength(1);
    expect(faultsOf({ count: { any: far(4_000) } } as When, [deploy])).toEqual([]);
  });

  test('a search that is cut short reports nothing', () => {
    expect(faultsOf({ enviroment: 'x' }, [deploy], 'deny', 1)).toEqual([]);
    expect(faultsOf({ enviroment: 'x' }, [deploy], 'deny', 50)).toHaveLength(1);
  });

  test('a schema that multiplies its branches ends', () => {
    const branches = (name: string): object => ({
      anyOf: Array.from({ length: 20 }, (_, at) => ({
        type: 'object',
        properties: { [name]: { const: at } },
      })),
    });
    const tool = toolOf('t', {
      type: 'object',
      allOf: ['a', 'b', 'c', 'd', 'e'].map(branches),
      unevaluatedProperties: false,
    });
    const budget = { left: 10_000 };
    const [rule] = compileRules([{ effect: 'deny', when: { a: 99 } }], 'registry');
    ruleFaults(rule as CompiledRule, [tool], budget);
    expect(budget.left).toBeGreaterThan(5_000);
  });

  test('a list of ten thousand values ends', () => {
    const values = Array.from({ length: 10_000 }, (_, at) => `v${at}`);
    expect(faultsOf({ environment: { in: values } }, [deploy])).toHaveLength(1);
    expect(faultsOf({ label: { in: values } }, [deploy])).toEqual([]);
    const many = toolOf('t', { type: 'object', properties: { a: { enum: values } } });
    expect(faultsOf({ a: 'v1' }, [many])).toEqual([]);
  });
});
