/** Random rules, and random calls that they may be about. */
import fc from 'fast-check';
import type { JsonObject, JsonValue, Rule, RuleTest } from '../../../src/index.ts';

/** The paths that each of the schemas declares. */
export const declared = ['a', 'b', 'a.b'];

/** What a schema may do to its input. The first leaves it alone, and is a raw JSON Schema. */
export const schemas: Readonly<Record<string, ((input: JsonObject) => unknown) | undefined>> = {
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
  'makes odd numbers': (input) =>
    mapped(input, (value) => new Map<unknown, unknown>(odd).get(value) ?? value),
  'makes dates': (input) =>
    mapped(input, (value) => (typeof value === 'number' ? new Date(value) : value)),
};

const odd = [
  [0, Number.NaN],
  [7, Number.POSITIVE_INFINITY],
  [10, -0],
] as const;

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
const input = fc.dictionary(key, value, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
const segment = fc.constantFrom('a', 'a', 'b', 'c', '0', '1', '*', '*');
const anyPath = fc.array(segment, { minLength: 1, maxLength: 4 });

/** A path of the input, most times, or another one. */
function pathFor(given: JsonObject): fc.Arbitrary<string[]> {
  const paths = pathsOf(given).filter((path) => path.length > 0);
  if (paths.length === 0) return anyPath;
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...paths) }, anyPath);
}

function pathsOf(given: JsonValue): string[][] {
  const below = Array.isArray(given)
    ? given.flatMap((item: JsonValue, at) => [
        ...pathsOf(item).map((path) => ['*', ...path]),
        ...pathsOf(item).map((path) => [String(at), ...path]),
      ])
    : typeof given === 'object' && given !== null
      ? Object.entries(given).flatMap(([name, item]) =>
          pathsOf(item as JsonValue).map((path) => [name, ...path]),
        )
      : [];
  return [[], ...below];
}

/** Both forms of `when`, with one condition or two. */
function whenFor(given: JsonObject): fc.Arbitrary<Rule['when']> {
  const conditions = fc.array(fc.tuple(pathFor(given), ruleTest), {
    minLength: 1,
    maxLength: 2,
    size: '-1',
  });
  return fc.oneof(
    conditions.map((all) => Object.fromEntries(all.map(([path, test]) => [path.join('.'), test]))),
    conditions.map((all) =>
      all.map(([path, test]) => ({
        path,
        ...(typeof test === 'object' && test !== null ? test : { equals: test }),
      })),
    ),
  );
}

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
    facts: fc.dictionary(factName, ruleTest, {
      minKeys: 1,
      maxKeys: 2,
      size: '-1',
      noNullPrototype: true,
    }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** What a rule says, for which call. */
export const sample = input.chain((given) =>
  fc.record({
    rule: fc.oneof(
      { weight: 6, arbitrary: fc.record({ when: whenFor(given) }) },
      { weight: 1, arbitrary: context },
      {
        weight: 1,
        arbitrary: fc.tuple(whenFor(given), context).map(([when, rest]) => ({ when, ...rest })),
      },
    ),
    input: fc.constant(given),
    schema: fc.constantFrom(...Object.keys(schemas)),
    facts,
    principal: fc.constantFrom(undefined, 'x', '7'),
    surface: fc.constantFrom(undefined, 'mcp', 'x'),
  }),
);
export type Sample = typeof sample extends fc.Arbitrary<infer Value> ? Value : never;
