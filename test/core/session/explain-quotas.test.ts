import { describe, expect, test } from 'vitest';
import type { Quota } from '../../../src/index.ts';
import { fixedClock } from '../../../src/surfaces/testing/index.ts';
import { memoryQuotaPort, quotaStoreOf } from '../../stores/shared/ports.ts';
import { tool, type World, world } from '../call/world.ts';

const spent: Quota = {
  id: 'spent',
  tools: 'pay',
  sum: 'amount',
  max: 100,
  per: 'day',
  by: 'principal',
};

function setup(quotas: readonly Quota[], more: object = {}): World {
  const w = world({ principal: 'ann' }, { quotas, ...more });
  w.add(tool(() => 'paid', { name: 'pay' }));
  return w;
}

describe('explain', () => {
  test('shows what is used and what the call would add, and reserves nothing', async () => {
    const w = setup([spent]);
    await w.session.call('pay', { amount: 40 });
    for (const _ of [1, 2, 3]) {
      const { decision, code, quotas } = await w.session.explain('pay', { amount: 60 });
      expect(decision).toEqual({ effect: 'allow' });
      expect(code).toBeUndefined();
      expect(quotas).toEqual([
        { quota: 'spent', source: 'registry', max: 100, used: 40, amount: 60, retryAfterMs: 0 },
      ]);
      expect(Object.isFrozen(quotas)).toBe(true);
    }
    expect((await w.session.call('pay', { amount: 60 })).success).toBe(true);
  });

  test('says that the call would be refused, by which quota, and for how long', async () => {
    const clock = fixedClock();
    const w = setup([spent], { now: clock.now });
    await w.session.call('pay', { amount: 40 });
    clock.advance(3_600_000);
    const told = await w.session.explain('pay', { amount: 61 });
    expect(told).toMatchObject({
      decision: { effect: 'deny', reason: 'quota_exceeded' },
      code: 'policy_denied',
      ruleId: 'spent',
      source: 'registry',
      quotas: [{ used: 40, amount: 61, retryAfterMs: 82_800_000 }],
    });
    expect(told.steps.at(-1)).toMatchObject({ stage: 'quotas', reason: 'quota_exceeded' });
    const { error } = await w.session.call('pay', { amount: 61 });
    expect([error?.code, error?.ruleId]).toEqual([told.code, told.ruleId]);
  });

  test('says that a person would be asked', async () => {
    const w = setup([{ ...spent, over: 'ask' }]);
    const told = await w.session.explain('pay', { amount: 101 });
    expect(told).toMatchObject({
      decision: { effect: 'ask', prompt: 'Allow `pay` to run beyond the quota `spent`?' },
      ruleId: 'spent',
      quotas: [{ used: 0, amount: 101, retryAfterMs: null }],
    });
    expect(told.code).toBeUndefined();
    expect(told.steps).toContainEqual({ source: 'registry', ruleId: 'spent', effect: 'ask' });
  });

  test('without an input, shows what is used of the quotas that need none', async () => {
    const w = setup([
      spent,
      { ...spent, id: 'asks', over: 'ask', max: 10 },
      { ...spent, id: 'payee', by: { path: 'to' } },
    ]);
    await w.session.call('pay', { amount: 7, to: 'bob' });
    const { quotas, decision } = await w.session.explain('pay');
    expect(decision).toEqual({ effect: 'allow' });
    expect(quotas?.map(({ quota, used, amount }) => [quota, used, amount])).toEqual([
      ['spent', 7, 0],
      ['asks', 7, 0],
    ]);
  });

  test('without an input, a quota of calls decides, since each call is one', async () => {
    const count = { ...spent, sum: undefined, max: 1 };
    for (const over of ['deny', 'ask'] as const) {
      const w = setup([
        { ...count, over },
        { ...count, id: 'some', max: 0, when: { a: 1 } },
      ]);
      await w.session.call('pay', {});
      const { decision, quotas } = await w.session.explain('pay');
      expect(decision).toMatchObject({ effect: over });
      expect(quotas?.map(({ amount }) => amount)).toEqual([1, 0]);
    }
  });

  test('of several values, the one that is used most', async () => {
    const w = setup([{ ...spent, by: { path: 'to' } }]);
    await w.session.call('pay', { to: 'ann', amount: 20 });
    await w.session.call('pay', { to: 'bob', amount: 30 });
    const { quotas } = await w.session.explain('pay', { to: ['cat', 'bob', 'ann'], amount: 1 });
    expect(quotas).toMatchObject([{ used: 30, amount: 1 }]);
  });

  test('says what cannot be read, and that the store is away', async () => {
    const unreadable = await setup([spent]).session.explain('pay', { amount: -1 });
    expect(unreadable).toMatchObject({
      decision: { effect: 'deny', reason: 'quota_unreadable' },
      code: 'policy_denied',
    });
    expect(unreadable.quotas).toBeUndefined();
    const quotaStore = quotaStoreOf({
      ...memoryQuotaPort(),
      look: () => Promise.reject(new Error('down')),
    });
    const away = await setup([spent], { quotaStore }).session.explain('pay', { amount: 1 });
    expect(away).toMatchObject({
      decision: { effect: 'deny', reason: 'quota_unavailable' },
      code: 'policy_denied',
    });
  });

  test('has no `quotas` if none applies, and keeps a denial of the gates', async () => {
    const w = setup([spent], { rules: [{ id: 'no', effect: 'deny', when: { amount: 500 } }] });
    expect(await w.session.explain('still_alive', {})).not.toHaveProperty('quotas');
    expect(await w.session.explain('pay', { amount: 500 })).toMatchObject({
      ruleId: 'no',
      decision: { reason: 'denied_by_rule' },
      quotas: [{ used: 0, amount: 500 }],
    });
  });
});
