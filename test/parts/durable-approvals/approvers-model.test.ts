/** Random approvers and answers against a small model, by registries that share a store. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Approvers,
  defineTool,
  HostToolRegistry,
  memoryStore,
  type NamedAnswer,
} from '../../../src/index.ts';
import { key } from '../../core/approval/kit.ts';

const names = ['ann', 'bob', 'cleo', 'dan'] as const;
/** Spellings that are the same person's. */
const spell = [
  (name: string) => name,
  (name: string) => name.toUpperCase(),
  (name: string) => ` ${name}\u200b`,
];
const roles = ['x', 'y'] as const;
const approvers: fc.Arbitrary<Approvers> = fc
  .record({
    any: fc.uniqueArray(fc.constantFrom(...names, 'role:x', 'role:y'), {
      minLength: 1,
      maxLength: 4,
    }),
    count: fc.integer({ min: 1, max: 3 }),
    notPrincipal: fc.constantFrom(true as const, undefined),
  })
  .map(({ any, count, notPrincipal }) => ({
    any,
    count: any.some((one) => one.startsWith('role:')) ? count : Math.min(count, any.length),
    ...(notPrincipal === undefined ? {} : { notPrincipal }),
  }));
const step = fc.record({
  who: fc.constantFrom(...names),
  spelling: fc.nat({ max: spell.length - 1 }),
  roles: fc.subarray([...roles]),
  rejects: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
  at: fc.nat({ max: 1 }),
});

type Outcome = 'hidden' | 'counted' | 'ran' | 'rejected' | 'over';

function model(sets: readonly Approvers[]) {
  const allowed = new Map<string, readonly string[]>();
  let isOver = false;
  const isOne = ({ any, notPrincipal }: Approvers, who: string, has: readonly string[]) =>
    !(notPrincipal === true && who === 'cleo') &&
    (any.includes(who) || has.some((role) => any.includes(`role:${role}`)));
  return (who: string, has: readonly string[], rejects: boolean): Outcome => {
    if (isOver) return 'over';
    if (!sets.some((one) => isOne(one, who, has))) return 'hidden';
    if (rejects) {
      isOver = true;
      return 'rejected';
    }
    allowed.set(who, has);
    const enough = sets.every(
      (one) => [...allowed].filter(([by, had]) => isOne(one, by, had)).length >= (one.count ?? 1),
    );
    isOver = enough;
    return enough ? 'ran' : 'counted';
  };
}

function twoRegistries(sets: readonly Approvers[]) {
  const store = memoryStore();
  let runs = 0;
  const made = [0, 1].map(() => {
    const registry: HostToolRegistry = new HostToolRegistry({
      approvals: {
        secret: key,
        store,
        session: ({ sessionId, principal }) =>
          registry.createSession({ sessionId, principal, approvalMode: 'suspend' }),
      },
      rules: sets.map((one, index) => ({ id: `r${index}`, effect: 'ask', approvers: one })),
    });
    registry.register(
      defineTool({
        name: 't',
        description: 'Runs.',
        parameters: z.object({}),
        handler: () => ++runs,
      }),
    );
    return registry;
  }) as [HostToolRegistry, HostToolRegistry];
  return { made, runs: () => runs };
}

async function ask([registry]: readonly [HostToolRegistry, HostToolRegistry]): Promise<string> {
  const session = registry.createSession({
    sessionId: 's',
    principal: 'cleo',
    approvalMode: 'suspend',
  });
  const asked = await session.call('t', {});
  return asked.success ? '' : (asked.approval?.id ?? '');
}

const outcomes: Readonly<Record<string, Outcome>> = {
  unknown_approval: 'hidden',
  approvers_missing: 'counted',
  rejected: 'rejected',
  token_used: 'over',
};

test('an answer does what the approvers say, whoever gives it, in any order and process', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(approvers, { minLength: 1, maxLength: 3 }),
      fc.array(step, { maxLength: 8 }),
      async (sets, steps) => {
        const { made, runs } = twoRegistries(sets);
        const id = await ask(made);
        const expected = model(sets);
        let ran = 0;
        for (const { who, spelling, roles: has, rejects, at } of steps) {
          const by = (spell[spelling] as (name: string) => string)(who);
          const answer: NamedAnswer = {
            decision: rejects ? 'reject_once' : 'allow_once',
            by,
            roles: has,
          };
          const registry = made[at] as HostToolRegistry;
          const wanted = expected(who, has, rejects);
          const isShown = wanted !== 'over' && wanted !== 'hidden';
          expect((await registry.approvals.get(id, { by, roles: has })) !== undefined).toBe(
            isShown,
          );
          const result = await registry.approvals.answer(id, answer);
          const got = result.success ? 'ran' : outcomes[result.error.reason ?? ''];
          expect(got).toBe(wanted);
          if (wanted === 'ran') ran++;
        }
        expect(runs()).toBe(ran);
      },
    ),
    { numRuns: 150 },
  );
});

test('of people who answer at once in two processes, just enough are counted, and it runs once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 4 }),
      fc.array(fc.nat({ max: 1 }), { minLength: 5, maxLength: 5 }),
      async (count, at) => {
        const { made, runs } = twoRegistries([{ any: ['role:x'], count }]);
        const id = await ask(made);
        const results = await Promise.all(
          at.map((place, index) =>
            (made[place] as HostToolRegistry).approvals.answer(id, {
              decision: 'allow_once',
              by: `person ${index}`,
              roles: ['x'],
            }),
          ),
        );
        const got = results.map((result) =>
          result.success ? 'ran' : outcomes[result.error.reason ?? ''],
        );
        expect(got.filter((one) => one === 'ran')).toHaveLength(1);
        expect(got.filter((one) => one === 'counted')).toHaveLength(count - 1);
        expect(got.filter((one) => one === 'over')).toHaveLength(5 - count);
        expect(runs()).toBe(1);
      },
    ),
    { numRuns: 50 },
  );
});
