/**
 * The law: a rule that is reported never matches a valid input. Schemas, inputs and conditions are
 * random, and the rule is judged by the code that judges calls.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/api/rule.ts';
import { compileRules } from '../../../src/assembly/compile.ts';
import { type CompiledRule, maxRuleSteps } from '../../../src/core/rules/rule.ts';
import { judgeCondition, type Verdict } from '../../../src/parts/rule-review/condition.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { schemaEngine } from '../../../src/values/json-schema/engine.ts';
import { type BoundSchema, bindSchema } from '../../../src/values/schema/bind.ts';
import { declaresPath } from '../../../src/values/schema/local-reference.ts';
import {
  jsonSamples,
  paths,
  type Sample,
  stopping,
  tests,
  zodObjects,
  zodSamples,
} from './samples.ts';

const runs = 500;
const options = { direction: 'input', where: 'test', objectOnly: true, trusted: true } as const;

function boundTo({ schema }: Sample<unknown>): BoundSchema {
  const bound = bindSchema(schema, options);
  bound.prepare(() => schemaEngine);
  return bound;
}

/** A valid input, as it was sent and as the handler gets it. */
interface Valid {
  readonly input: JsonObject;
  readonly parsed: unknown;
}

/** The inputs that the schema accepts. */
async function validOf(schema: BoundSchema, values: readonly JsonValue[]): Promise<Valid[]> {
  const valid: Valid[] = [];
  for (const value of values) {
    const outcome = await schema.validate(structuredClone(value));
    if (outcome.issues !== undefined) continue;
    // A JSON Schema fills its defaults into the input; another schema makes a value of its own.
    const input = schema.kind === 'json' ? outcome.value : value;
    valid.push({ input: input as JsonObject, parsed: outcome.value });
  }
  return valid;
}

function matches(rule: CompiledRule, schema: BoundSchema, { input, parsed }: Valid): boolean {
  return rule.matches({
    input,
    parsed,
    declares: (...path) => declaresPath(schema.json, path),
    facts: {},
    surface: '',
    call: undefined,
    attributes: undefined,
    left: maxRuleSteps,
  });
}

type Effect = 'deny' | 'allow';
type Path = readonly string[];

/** Judges one condition twice: by the schema, and by a call. */
function trial(schema: BoundSchema, path: Path, written: JsonValue, effect: Effect) {
  const rule = { effect, when: [{ path, ...wrapped(written) }] } as unknown as Rule;
  const [compiled] = compileRules([rule], 'registry') as readonly [CompiledRule];
  const [condition] = compiled.when;
  if (condition === undefined) throw new Error('the rule has one condition');
  const tool = {
    name: 't',
    summary: { name: 't', source: 'host', tags: [], annotations: {}, fingerprint: '' },
    internals: { input: schema, attributes: undefined },
  };
  const reading = effect === 'deny' ? 'wide' : 'narrow';
  const verdict = judgeCondition(condition, tool, reading, { left: 100_000 });
  const check = (valid: Valid): void => {
    if (verdict === 'may') return;
    const matched = matches(compiled, schema, valid);
    if (matched !== (verdict === 'always'))
      expect({ schema: schema.json, rule, ...valid, verdict, matched }).toBe('no false alarm');
  };
  return { verdict, check };
}

/** The list form of conditions has its tests beside the path. */
function wrapped(test: JsonValue): JsonObject {
  return typeof test === 'object' && test !== null && !Array.isArray(test)
    ? (test as JsonObject)
    : { equals: test };
}

/** JSON Schemas of objects. */
const jsonRoots = jsonSamples
  .filter(({ schema }) => isObject(schema) && schema.type === 'object')
  .map(treeOf);
const zodRoots: fc.Arbitrary<Sample<unknown>> = zodObjects(zodSamples);
const effects = fc.constantFrom<Effect>('deny', 'allow');
const judgements: fc.Arbitrary<readonly [Effect, JsonValue]> = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(effects, tests) },
  { weight: 1, arbitrary: fc.tuple(fc.constant<Effect>('deny'), stopping) },
);

describe.each([
  ['a JSON Schema', jsonRoots],
  ['a zod schema', zodRoots],
] as const)('for a tool with %s', (_, roots) => {
  test('a condition that is reported never holds', async () => {
    const counts: Record<Verdict, number> = { may: 0, 'no path': 0, always: 0, 'no value': 0 };
    await fc.assert(
      fc.asyncProperty(roots, paths, judgements, async (sample, path, [effect, written]) => {
        const schema = boundTo(sample);
        const { verdict, check } = trial(schema, path, written, effect);
        counts[verdict]++;
        if (verdict !== 'may') (await validOf(schema, drawn(sample, 8))).forEach(check);
      }),
      { numRuns: runs },
    );
    // Some conditions of each kind are reported, and others are not.
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(runs / 100);
  });

  test('a condition that is made for a valid input is not reported', async () => {
    await fc.assert(
      fc.asyncProperty(roots, effects, async (sample, effect) => {
        const schema = boundTo(sample);
        for (const valid of await validOf(schema, drawn(sample, 6)))
          for (const [path, value] of leavesOf(valid))
            for (const written of testsFor(value, effect))
              for (const spelt of spellingsOf(path))
                trial(schema, spelt, written, effect).check(valid);
        for (const valid of await validOf(schema, drawn(sample, 6)))
          for (const name of ['a', 'b', 'c'])
            for (const written of [{ exists: false }, { not: 'q' }])
              trial(schema, [name], written, effect).check(valid);
      }),
      { numRuns: runs / 5 },
    );
  });
});

function drawn({ values }: Sample<unknown>, count: number): readonly JsonValue[] {
  return fc.sample(values, { numRuns: count, seed: 7 });
}

/** The scalars of a call with their paths, and those of what the schema made of it. */
function leavesOf({ input, parsed }: Valid): (readonly [Path, JsonValue])[] {
  const found: (readonly [Path, JsonValue])[] = [];
  const walk = (value: unknown, path: Path): void => {
    if (found.length > 12) return;
    if (Array.isArray(value))
      for (const [at, one] of value.entries()) walk(one, [...path, `${at}`]);
    else if (isObject(value))
      for (const [key, one] of Object.entries(value)) walk(one, [...path, key]);
    else if (value !== undefined && path.length > 0) found.push([path, value as JsonValue]);
  };
  walk(input, []);
  // Dates and such are judged as the JSON that they write.
  walk(JSON.parse(JSON.stringify(parsed)), []);
  return found;
}

/** Tests of which most hold for the value, in one way or another. */
function testsFor(value: JsonValue, effect: Effect): JsonValue[] {
  const made: JsonValue[] = [
    value,
    { in: [value, 'other'] },
    { not: { not: value } },
    { not: 'q' },
  ];
  if (typeof value === 'string')
    made.push(
      { glob: `${value.slice(0, 1)}*` },
      { size: [...value].length },
      { size: { lt: [...value].length + 1 } },
      { any: ['q', { matches: '.' }] },
    );
  if (typeof value === 'string' && value.trim() !== '' && effect === 'deny')
    made.push({ alike: value }, { alike: [` ${value.toUpperCase()}`] }, { alike: { fact: 'f' } });
  if (typeof value === 'number')
    made.push({ gt: value - 1, lt: value + 1 }, { lte: value }, `${value}`, { not: { gt: value } });
  return made;
}

/** Other ways to write a path: with stars, and without the places in arrays. */
function spellingsOf(path: Path): Path[] {
  return [
    path,
    path.map((name) => (/^\d+$/.test(name) ? '*' : name)),
    path.filter((name) => !/^\d+$/.test(name)),
    path.join('.').split('.'),
  ].filter(({ length }) => length > 0);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** References of the samples lead to `#/properties/in`, which is there only at the root. */
function treeOf({ schema, values }: Sample<JsonValue>): Sample<unknown> {
  const root = schema as JsonObject;
  if (!JSON.stringify(root).includes('#/properties/in')) return { schema, values };
  const properties = { in: { ...root }, ...(root.properties as JsonObject | undefined) };
  return {
    schema: { type: 'object', properties, additionalProperties: false },
    values: fc.oneof(values, fc.record({ in: values })),
  };
}
