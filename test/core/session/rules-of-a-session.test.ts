/** Rules about whom a session acts for, what came with it, and what is true in it. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, type Rule } from '../../../src/index.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  handler: () => 'paid',
});

function registryWith(...rules: readonly Rule[]): HostToolRegistry {
  const registry = new HostToolRegistry({ rules, logger: { warn: () => {}, error: () => {} } });
  registry.register(pay);
  return registry;
}

describe('`principal`', () => {
  const registry = registryWith({
    effect: 'deny',
    principal: { glob: 'intern:*' },
    reason: 'interns_may_not',
  });

  test('a deny hides the tool from whom it is about, and from them alone', async () => {
    const intern = registry.createSession({ sessionId: 'i', principal: 'intern:bo' });
    const clerk = registry.createSession({ sessionId: 'c', principal: 'clerk:ann' });
    expect(intern.effectiveTools().names).toEqual([]);
    expect(clerk.effectiveTools().names).toEqual(['pay']);
    expect((await intern.call('pay', { amount: 1 })).error?.reason).toBe('interns_may_not');
    expect((await clerk.call('pay', { amount: 1 })).output).toBe('paid');
    expect((await intern.explain('pay')).hiddenBy).toBe('denied');
  });

  test('a session without a principal has the principal `""`', async () => {
    const strict = registryWith({ effect: 'deny', principal: '', reason: 'nameless' });
    const session = strict.createSession({ sessionId: 's' });
    expect((await session.call('pay', { amount: 1 })).error?.reason).toBe('nameless');
    const named = strict.createSession({ sessionId: 'n', principal: 'ann' });
    expect((await named.call('pay', { amount: 1 })).success).toBe(true);
  });

  test('an ask without conditions makes the host tool require approval', () => {
    const asking = registryWith({ effect: 'ask', principal: 'ann' });
    const requires = (principal: string): unknown =>
      asking.createSession({ sessionId: principal, principal }).tools()[0]?.requiresApproval;
    expect(requires('ann')).toBe(true);
    expect(requires('bo')).toBe(false);
  });
});

describe('`facts`', () => {
  test('a deny holds while the fact does', async () => {
    const session = registryWith({ effect: 'deny', facts: { locked: true } }).createSession({
      sessionId: 's',
    });
    expect((await session.call('pay', { amount: 1 })).success).toBe(true);
    session.setFacts({ locked: true });
    expect(session.effectiveTools().names).toEqual([]);
    expect((await session.call('pay', { amount: 1 })).error?.code).toBe('policy_denied');
    session.setFacts({ locked: null });
    expect((await session.call('pay', { amount: 1 })).success).toBe(true);
  });

  test('an absent fact satisfies only `exists: false` and `not`', async () => {
    for (const [fact, denied] of [
      [{ exists: false }, true],
      [{ not: 'x' }, true],
      [{ exists: true }, false],
      [{ gt: 0 }, false],
      [{ in: ['x'] }, false],
    ] as const) {
      const session = registryWith({ effect: 'deny', facts: { level: fact } }).createSession({
        sessionId: 's',
      });
      expect((await session.call('pay', { amount: 1 })).success).toBe(!denied);
    }
  });

  test('an allow needs every one of its facts', async () => {
    const registry = new HostToolRegistry({
      default: 'deny',
      rules: [{ effect: 'allow', facts: { open: true, level: { gte: 2 } } }],
    });
    registry.register(pay);
    const session = registry.createSession({ sessionId: 's', facts: { open: true, level: '2' } });
    expect((await session.call('pay', { amount: 1 })).success).toBe(false);
    session.setFacts({ level: 2 });
    expect((await session.call('pay', { amount: 1 })).success).toBe(true);
  });

  test('a list in a fact is read at each call', async () => {
    const session = registryWith({
      effect: 'deny',
      when: { amount: { not: { in: { fact: 'amounts' } } } },
    }).createSession({ sessionId: 's' });
    expect((await session.call('pay', { amount: 1 })).success).toBe(false);
    session.setFacts({ amounts: [1] });
    expect((await session.call('pay', { amount: 1 })).success).toBe(true);
    expect((await session.call('pay', { amount: 2 })).success).toBe(false);
  });
});

describe('`surface`', () => {
  test('a rule looks at the adapter of the call, and never hides the tool', async () => {
    const registry = registryWith({ effect: 'deny', surface: '', reason: 'only_through_mcp' });
    const session = registry.createSession({ sessionId: 's' });
    expect(session.effectiveTools().names).toEqual(['pay']);
    expect((await session.call('pay', { amount: 1 })).error?.reason).toBe('only_through_mcp');
    const named = { name: 'mcp' };
    const through = await session.call('pay', { amount: 1 }, { surface: named });
    expect(through.output).toBe('paid');
  });
});

test('rules that are added later count for sessions that exist', async () => {
  const registry = registryWith();
  const session = registry.createSession({ sessionId: 's', principal: 'ann' });
  expect(session.effectiveTools().names).toEqual(['pay']);
  const remove = registry.addRules([{ effect: 'deny', principal: 'ann' }]);
  expect(session.effectiveTools().names).toEqual([]);
  remove();
  expect(session.effectiveTools().names).toEqual(['pay']);
});

test('`explain` without an input says nothing of rules that look at it', async () => {
  const session = registryWith({
    effect: 'deny',
    when: { memo: { exists: false } },
  }).createSession({ sessionId: 's' });
  expect((await session.explain('pay')).decision?.effect).toBe('allow');
  expect((await session.explain('pay', { amount: 1 })).decision?.effect).toBe('deny');

  const tried = registryWith({
    effect: 'deny',
    when: { memo: { exists: false } },
    shadow: true,
  }).createSession({ sessionId: 't' });
  expect((await tried.explain('pay')).steps.some(({ shadow }) => shadow === true)).toBe(false);
  expect((await tried.explain('pay', { amount: 1 })).steps).toContainEqual(
    expect.objectContaining({ shadow: true, wouldBe: 'deny' }),
  );
});
