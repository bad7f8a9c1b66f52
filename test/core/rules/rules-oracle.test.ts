/**
 * Random rules over random calls: what a session does must be what a second reading of the
 * documentation says (`oracle.ts`).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { compileRules } from '../../../src/assembly/compile.ts';
import { maxRuleSteps } from '../../../src/core/rules/rule.ts';
import {
  defineTool,
  type Effect,
  HostToolRegistry,
  type JsonObject,
  type Origin,
  type Rule,
  type WhenTest,
} from '../../../src/index.ts';
import { callJudgedBy } from '../../parts/origins/helpers.ts';
import { leafOrigins, ruleMatches } from './oracle.ts';
import { declared, type Sample, sample, schemas } from './rule-samples.ts';

const effects: readonly Effect[] = ['deny', 'ask', 'allow'];

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
  const registry = new HostToolRegistry({
    default: 'deny',
    logger: { warn: () => {}, error: () => {} },
  });
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

const call = callJudgedBy({ all: () => [], at: () => leafOrigins });

/** The same, asked of the compiled rules alone: many times faster than a session. */
function compiled({ rule, schema, ...given }: Sample): boolean[] {
  const input = given.input as JsonObject;
  const facts = given.facts as JsonObject;
  return effects.map((effect) => {
    const [one] = compileRules([{ effect, ...rule } as Rule], 'registry');
    return (
      one?.appliesIn(given.principal ?? '', facts) === true &&
      one.matches({
        input,
        parsed: schemas[schema]?.(input) ?? input,
        declares: (...names) => declared.includes(names.join('.')),
        facts,
        surface: given.surface ?? '',
        call,
        attributes: undefined,
        left: maxRuleSteps,
      })
    );
  });
}

test('a compiled rule matches what the documentation says', () => {
  fc.assert(
    fc.property(sample, (one) => {
      const [deny, ask, allow] = compiled(one);
      expect([deny, ask, allow]).toEqual(expected(one));
      // What an allow matches, a deny of the same words matches too.
      expect(allow === true && deny === false).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

const origin = fc
  .subarray<Origin>(['user', 'trusted', 'untrusted', 'unknown'], { minLength: 1 })
  .map((list) => ({ origin: list.length === 1 ? (list[0] as Origin) : list }));
const wraps = fc.constantFrom<(asked: WhenTest, other: WhenTest) => WhenTest>(
  (asked) => asked,
  (asked) => ({ not: asked }),
  (asked, other) => ({ any: [asked, other] }),
  (asked, other) => ({ ...other, ...asked }),
  (asked, other) => ({ not: { any: [{ not: asked }, other] } }),
);

/** A sample whose conditions also ask where the values came from. */
const byOrigin = fc.tuple(sample, origin, wraps).map(([one, asked, wrap]): Sample => {
  const { when = { a: 'x' } } = one.rule as Rule;
  const conditions = Array.isArray(when)
    ? (when as readonly ({ path: readonly string[] } & WhenTest)[])
    : Object.entries(when).map(([path, test]) => ({
        path: path.split('.'),
        ...(typeof test === 'object' && test !== null ? test : { equals: test }),
      }));
  return {
    ...one,
    rule: {
      ...one.rule,
      when: conditions.map(({ path, ...other }) => ({ path, ...wrap(asked, other as WhenTest) })),
    } as Sample['rule'],
  };
});

test('a compiled rule that asks for origins matches what the documentation says', () => {
  fc.assert(
    fc.property(byOrigin, (one) => {
      expect(compiled(one)).toEqual(expected(one));
    }),
    { numRuns: 3_000 },
  );
});

test('a session judges as the documentation says', async () => {
  await fc.assert(
    fc.asyncProperty(sample, async (one) => {
      expect(await observed(one)).toEqual(expected(one));
    }),
    { numRuns: 400 },
  );
});
