/** What the outer session may not do, no session does that acts for it, whatever is given. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type DelegateOptions,
  defineTool,
  HostToolRegistry,
  type Profile,
  type Rule,
  type ToolSession,
} from '../../../src/index.ts';

const names = ['t0', 't1', 't2', 'nest'] as const;
const scopes = ['s0', 's1'] as const;

const some = <T>(all: readonly T[]): fc.Arbitrary<readonly T[]> => fc.subarray([...all]);
/** Often all, so that enough calls are allowed. */
const most = <T>(all: readonly T[]): fc.Arbitrary<readonly T[]> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(all) }, { weight: 1, arbitrary: some(all) });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const effect = fc.constantFrom('allow', 'allow', 'ask', 'deny');
const rule: fc.Arbitrary<Rule> = fc
  .record({
    effect,
    tools: maybe(fc.constantFrom('*', 't*', ...names)),
    when: maybe(fc.record({ a: fc.record({ gt: fc.nat(3) }) })),
    facts: maybe(fc.constantFrom({ f0: true }, { f1: { exists: false } }, { f1: 'x' })),
    annotations: maybe(fc.constantFrom({ destructive: true }, { destructive: false })),
    actor: maybe(
      fc.constantFrom({ depth: 0 }, { depth: { gte: 1 } }, { agent: 'a' }, { agent: { not: 'b' } }),
    ),
  })
  .map((given) => given as Rule);
const fewRules = fc.oneof(fc.constant([]), fc.array(rule, { maxLength: 2 }));
const overrides = fc.record({
  enable: some(names),
  disable: fc.subarray([...names], { maxLength: 1 }),
});
const changedFacts = fc.record({
  f0: fc.constantFrom(true, false, null),
  f1: fc.constantFrom('x', null),
});
const profile = (id: string): fc.Arbitrary<Profile> =>
  fc
    .record({
      tools: most(names),
      rules: fewRules,
      default: maybe(effect),
      asks: fc.boolean(),
      root: maybe(fc.constantFrom('/a', '/b')),
    })
    .map(({ tools, asks, root, ...rest }) => ({
      id,
      ...rest,
      tools: tools.map((name) => ({
        name,
        ...(asks ? { requiresApproval: true } : {}),
        ...(root === undefined || name === 'nest' ? {} : { knobs: { root } }),
      })),
    })) as fc.Arbitrary<Profile>;
const someProfile = maybe(fc.constantFrom('p', 'q', 'r'));
const narrowing: fc.Arbitrary<DelegateOptions> = fc.record({
  agent: fc.constantFrom('a', 'b'),
  tools: maybe(most(names)),
  rules: fewRules,
  profile: someProfile,
  scopes: maybe(most(scopes)),
});
const change = fc.oneof(
  fc.record({ kind: fc.constant('facts' as const), value: changedFacts }),
  fc.record({ kind: fc.constant('overrides' as const), value: overrides }),
  fc.record({ kind: fc.constant('profile' as const), value: fc.constantFrom('p', 'q', 'r') }),
  fc.record({ kind: fc.constant('rules' as const), value: fewRules }),
  fc.record({ kind: fc.constant('scope' as const), value: fc.constantFrom(...scopes) }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
const step = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    tool: fc.constantFrom(...names, 'own'),
    a: fc.nat(4),
    deep: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('outer' as const), change }),
  fc.record({ kind: fc.constant('inner' as const), change, deep: fc.boolean() }),
  fc.record({ kind: fc.constant('own' as const) }),
);

function worldOf(given: {
  readonly rules: readonly Rule[];
  readonly default: 'allow' | 'ask' | 'deny';
  readonly isLater: boolean;
}) {
  const asked: string[] = [];
  const registry = new HostToolRegistry({
    rules: given.rules,
    default: given.default,
    policies: given.isLater ? [{ id: 'later', check: async () => undefined }] : [],
  });
  const simple = (name: string, more: object) =>
    defineTool({
      name,
      description: name,
      parameters: z.object({ a: z.number() }),
      policy: { knobs: z.object({ root: z.string().default('/') }) },
      handler: (_input: unknown, { knobs }: { knobs: unknown }) => knobs,
      ...more,
    });
  registry.registerAll([
    simple('t0', { annotations: { destructive: true }, requires: [{ fact: 'f0', equals: true }] }),
    simple('t1', { scopes: ['s0'] }),
    simple('t2', { requiresApproval: true, scopes: ['s1'] }),
    defineTool({
      name: 'nest',
      description: 'Calls others.',
      parameters: z.object({ a: z.number() }),
      uses: ['t0', 't1', 't2'],
      handler: async ({ a }, { tools }) =>
        (await Promise.all(['t0', 't1', 't2'].map((name) => tools.call(name, { a })))).map(
          ({ success }) => success,
        ),
    }),
  ]);
  return { registry, asked };
}

function apply(registry: HostToolRegistry, session: ToolSession, { kind, value }: Change): void {
  if (kind === 'facts') session.setFacts(value);
  else if (kind === 'overrides') session.setOverrides(value);
  else if (kind === 'profile') session.setProfile(value);
  else if (kind === 'scope') session.setFacts({ [`scope.${value}`]: true });
  else registry.addRules(value);
}

/** Whether one output shows nothing that the other does not. */
function isWithin(inner: unknown, outer: unknown): boolean {
  if (Array.isArray(inner) && Array.isArray(outer))
    return inner.every((is, index) => !is || outer[index] === true);
  return JSON.stringify(inner) === JSON.stringify(outer);
}

test('what a sub-agent does and sees, its outer session could have done and seen', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ rules: fewRules, default: effect, isLater: fc.boolean() }),
      fc.tuple(profile('p'), profile('q'), profile('r')),
      fc.record({
        profile: someProfile,
        rules: fewRules,
        facts: fc.constantFrom({ f0: true }, { f0: true }, {}),
        overrides: maybe(overrides),
        scopes: most(scopes),
      }),
      narrowing,
      narrowing,
      fc.array(step, { minLength: 4, maxLength: 10 }),
      async (given, profiles, options, narrow, narrower, steps) => {
        const { registry, asked } = worldOf(given);
        for (const one of profiles) registry.defineProfile(one);
        const session = registry.createSession({
          sessionId: 's',
          ...options,
          approver: ({ tool }) => {
            asked.push(tool.name);
            return 'allow_once';
          },
        });
        const inner = session.delegate(narrow);
        const deep = inner.delegate(narrower);
        let own = false;
        for (const one of steps) {
          if (one.kind === 'outer') apply(registry, session, one.change);
          else if (one.kind === 'inner') apply(registry, one.deep ? deep : inner, one.change);
          else if (one.kind === 'own') {
            if (!own)
              session.register(
                defineTool({
                  name: 'own',
                  description: 'Of the session.',
                  parameters: z.object({ a: z.number() }),
                  handler: () => 1,
                }),
              );
            own = true;
          } else {
            const acting = one.deep ? deep : inner;
            const above = one.deep ? inner : session;
            const shown = new Set(above.effectiveTools().names);
            expect(acting.effectiveTools().names.filter((name) => !shown.has(name))).toEqual([]);
            const explained = await acting.explain(one.tool, { a: one.a });
            asked.length = 0;
            const result = await acting.call(one.tool, { a: one.a });
            const questions = [...asked];
            expect(result.success).toBe(explained.code === undefined);
            if (!result.success) continue;
            asked.length = 0;
            const twin = await above.call(one.tool, { a: one.a });
            expect(twin.success, JSON.stringify(twin)).toBe(true);
            expect(isWithin(result.output, twin.output)).toBe(true);
            if (one.tool !== 'nest') expect(questions.length).toBeGreaterThanOrEqual(asked.length);
            expect(questions.length).toBeLessThanOrEqual(one.tool === 'nest' ? 4 : 1);
          }
        }
        await session.close();
      },
    ),
    { numRuns: 150 },
  );
});
