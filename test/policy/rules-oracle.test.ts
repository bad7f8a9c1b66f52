/**
 * Random rules over random calls: what a session does must be what a second reading of the
 * documentation says (`oracle.ts`).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  type Effect,
  HostToolRegistry,
  type JsonObject,
  type JsonValue,
  type Rule,
  type RuleTest,
} from '../../src/index.ts';
import { ruleMatches } from './oracle.ts';

const effects: readonly Effect[] = ['deny', 'ask', 'allow'];
const declared = ['a', 'b', 'a.b'];

/** What a schema may do to its input. The first leaves it alone, and is a raw JSON Schema. */
const schemas: Readonly<Record<string, ((input: JsonObject) => unknown) | undefined>> = {
  raw: undefined,
  copies: (input) => structuredClone(input),
  trims: (input) => mapped(input, (value) => (typeof value === 'string' ? value.trim() : value)),
  'makes numbers': (input) =>
    mapped(input, (value) => (value !== '' && Number(value) > 0 ? Number(value) : value)),
  'makes texts': (input) =>
    mapped(input, (value) => (typeof value === 'number' ? String(value) : value)),
  strips: (input) =>
    Object.fromEntries(Object.entries(input).filter(([key]) => declared.includes(key))),
  drops: ({ a: _dropped, ...rest }) => rest,
  renames: ({ a, ...rest }) => ({ ...rest, c: a ?? 'x' }),
  defaults: (input) => filled({ a: 'x', b: [7], ...input }),
  splits: (input) =>
    mapped(input, (value) => (typeof value === 'string' ? Array.from(value) : value)),
  'makes sets': (input) => mapped(input, (value) => new Set([value])),
  'makes maps': (input) => mapped(input, (value) => new Map([['a', value]])),
  'makes big integers': (input) =>
    mapped(input, (value) => (Number.isInteger(value) ? BigInt(value as number) : value)),
  'makes dates': (input) =>
    mapped(input, (value) => (typeof value === 'number' ? new Date(value) : value)),
};

/** A copy with other scalars. */
function mapped(value: JsonValue, change: (scalar: JsonValue) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapped(item, change));
  if (typeof value !== 'object' || value === null) return change(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapped(item as JsonValue, change)]),
  );
}

/** A copy in which each object below the root has a `b`. */
function filled(value: JsonValue, root = true): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => filled(item, false));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.entries(value).map(([key, item]) => [key, filled(item as JsonValue, false)]);
  return { ...(root ? {} : { b: 'y' }), ...Object.fromEntries(copy) };
}

const scalar = fc.constantFrom<string | number | boolean | null>(
  ...['', 'x', 'y', ' x', 'xy', '7', '7.0', '-1', '1e1', 'true', 'null', '😀'],
  ...[7, 0, 10, -1, 1.5, true, false, null],
);
const bound = fc.constantFrom(-1, 0, 1, 2, 7, 10, 1.5);
const factName = fc.constantFrom('list', 'other.list', 'text', 'number', 'gone');

const { ruleTest } = fc.letrec<{ ruleTest: RuleTest; one: RuleTest }>((tie) => ({
  ruleTest: fc.oneof(
    { weight: 1, arbitrary: scalar },
    { weight: 5, arbitrary: tie('one') },
    // Tests that must hold together.
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('one'), tie('one'))
        .map(([first, second]) => Object.assign({}, first, second) as RuleTest),
    },
  ),
  one: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    scalar.map((equals) => ({ equals })),
    fc.array(scalar, { minLength: 1, maxLength: 3 }).map((list) => ({ in: list })),
    factName.map((fact) => ({ in: { fact } })),
    fc.constantFrom('*', 'x*', '?', '*7*', 'true').map((glob) => ({ glob })),
    fc.constantFrom('^x', '7', '.', '^$', 'e$').map((matches) => ({ matches })),
    fc
      .tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), bound)
      .map(([name, value]) => ({ [name]: value })),
    fc.boolean().map((exists) => ({ exists })),
    tie('ruleTest').map((size) => ({ size })),
    bound.map((size) => ({ size })),
    tie('ruleTest').map((not) => ({ not })),
    tie('ruleTest').map((not) => ({ not })),
    fc.array(tie('ruleTest'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
  ),
}));

const key = fc.constantFrom('a', 'a', 'b', 'c', 'a.b', '0', '1', '*');
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    scalar,
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const input = fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true });
const segment = fc.constantFrom('a', 'a', 'b', 'c', '0', '1', '*', '*');
const path = fc.array(segment, { minLength: 1, maxLength: 4 });
const when = fc.oneof(
  fc.dictionary(
    path.map((names) => names.join('.')),
    ruleTest,
    { minKeys: 1, maxKeys: 2, noNullPrototype: true },
  ),
  fc.array(
    fc
      .tuple(
        fc.array(fc.oneof(segment, fc.constant('a.b')), { minLength: 1, maxLength: 3 }),
        ruleTest,
      )
      .map(([names, test]) => ({
        path: names,
        ...(typeof test === 'object' && test !== null ? test : { equals: test }),
      })),
    { minLength: 1, maxLength: 2 },
  ),
);
const facts = fc.record(
  {
    list: fc.array(scalar, { maxLength: 4 }),
    'other.list': fc.oneof(fc.array(scalar, { maxLength: 4 }), fc.constant({ 0: 'x' })),
    text: fc.constantFrom('x', '7'),
    number: fc.constantFrom(0, 7),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const context = fc.record(
  {
    principal: ruleTest,
    surface: ruleTest,
    facts: fc.dictionary(factName, ruleTest, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const sample = fc.record({
  rule: fc.oneof(
    { weight: 4, arbitrary: when.map((conditions) => ({ when: conditions })) },
    { weight: 1, arbitrary: context },
    {
      weight: 1,
      arbitrary: fc
        .tuple(when, context)
        .map(([conditions, rest]) => ({ when: conditions, ...rest })),
    },
  ),
  input,
  schema: fc.constantFrom(...Object.keys(schemas)),
  facts,
  principal: fc.constantFrom(undefined, 'x', '7'),
  surface: fc.constantFrom(undefined, 'mcp', 'x'),
});
type Sample = typeof sample extends fc.Arbitrary<infer Value> ? Value : never;

/** Whether a rule of each effect matches, as a session shows it. */
async function observed({ rule, schema, ...given }: Sample): Promise<boolean[]> {
  const change = schemas[schema];
  const members = z.looseObject(
    Object.fromEntries(declared.map((name) => [name, z.any().optional()])),
  );
  const parameters =
    change === undefined
      ? { type: 'object', properties: Object.fromEntries(declared.map((name) => [name, {}])) }
      : members.transform((read) => change(read as JsonObject));
  // What no rule matches is denied, for another reason than that of the rule.
  const registry = new HostToolRegistry({ default: 'deny' });
  for (const effect of effects) {
    registry.register(
      defineTool({
        name: effect,
        description: 'Runs.',
        parameters: parameters as z.ZodType<Record<string, unknown>>,
        handler: () => 'ran',
      }),
    );
    registry.addRules([{ effect, tools: effect, ...rule } as Rule]);
  }
  let asked = 0;
  const session = registry.createSession({
    sessionId: 's',
    ...(given.principal !== undefined && { principal: given.principal }),
    facts: given.facts as JsonObject,
    approver: () => {
      asked++;
      return 'allow_once';
    },
  });
  const call = async (name: Effect) =>
    await session.call(
      name,
      structuredClone(given.input),
      given.surface === undefined ? {} : { surface: { name: given.surface } },
    );
  const [deny, ask, allow] = [await call('deny'), await call('ask'), await call('allow')];
  expect([deny, ask, allow].filter(({ success }) => !success)).toEqual(
    [deny, ask, allow]
      .filter(({ success }) => !success)
      .map(() =>
        expect.objectContaining({ error: expect.objectContaining({ code: 'policy_denied' }) }),
      ),
  );
  return [deny.error?.reason === 'denied_by_rule', asked === 1 && ask.success, allow.success];
}

function expected({ rule, schema, ...given }: Sample): boolean[] {
  return effects.map((effect) =>
    ruleMatches({ effect, ...rule } as Rule, {
      input: given.input,
      parsed: schemas[schema]?.(given.input) ?? given.input,
      declared,
      facts: given.facts,
      principal: given.principal ?? '',
      surface: given.surface ?? '',
    }),
  );
}

test('a session judges as the documentation says', async () => {
  await fc.assert(
    fc.asyncProperty(sample, async (one) => {
      expect(await observed(one)).toEqual(expected(one));
    }),
    { numRuns: Number(process.env.ORACLE_RUNS ?? 2000) },
  );
});
