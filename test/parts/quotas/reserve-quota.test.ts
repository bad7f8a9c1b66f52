import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import {
  type AnyTool,
  defineTool,
  type JsonObject,
  memoryQuotas,
  type Quota,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
} from '../../../src/index.ts';
import type { QuotaSpend } from '../../../src/parts/quotas/quotas-in.ts';
import { fixedClock } from '../../../src/surfaces/testing/index.ts';
import { gate, tool, turns, type World, world } from '../../core/call/world.ts';
import { memoryQuotaPort, type QuotaPort, quotaStoreOf } from '../../stores/shared/ports.ts';

const daily: Quota = { id: 'daily', tools: 'pay', max: 2, per: 'day', by: 'session' };
const spent: Quota = { ...daily, id: 'spent', sum: 'amount', max: 100 };

interface Setup extends World {
  readonly runs: unknown[];
  pay(input?: unknown, more?: object): Promise<ToolResult>;
}

function setup(
  quotas: readonly Quota[],
  options: { registry?: RegistryOptions; session?: Partial<SessionOptions>; tool?: object } = {},
): Setup {
  const runs: unknown[] = [];
  const w = world(options.session, { quotas, ...options.registry });
  w.add(
    tool(
      (input) => {
        runs.push(input);
        return 'paid';
      },
      { name: 'pay', ...options.tool },
    ),
  );
  const pay = (input: unknown = {}, more?: object): Promise<ToolResult> =>
    w.session.call('pay', input, more);
  return { ...w, runs, pay };
}

const reasonOf = ({ error, output }: ToolResult): unknown =>
  error === undefined ? output : (error.reason ?? error.code);

async function reasons(calls: readonly Promise<ToolResult>[]): Promise<unknown[]> {
  return (await Promise.all(calls)).map(reasonOf);
}

/** A store that notes what is asked of it, and whose reservations a test may hold up. */
function watched(): {
  readonly store: Store;
  readonly reserved: QuotaSpend[][];
  readonly backs: object[];
  hold: Promise<unknown> | undefined;
} {
  const inner = memoryQuotaPort();
  const self: ReturnType<typeof watched> = {
    reserved: [] as QuotaSpend[][],
    backs: [] as object[],
    hold: undefined as Promise<unknown> | undefined,
    store: quotaStoreOf({
      reserve: (spends) => {
        self.reserved.push([...spends]);
        const { hold } = self;
        return hold === undefined ? inner.reserve(spends) : hold.then(() => inner.reserve(spends));
      },
      giveBack: (reservation) => {
        self.backs.push(reservation);
        return inner.giveBack(reservation);
      },
      look: (spends) => inner.look(spends),
    }),
  };
  return self;
}

async function usedOf({ session }: World, input: JsonObject = {}): Promise<number | undefined> {
  return (await session.explain('pay', input)).quotas?.[0]?.used;
}

describe('a quota', () => {
  test('of calls lets as many through as it allows, and refuses the next as data', async () => {
    const clock = fixedClock();
    const w = setup([daily], { registry: { now: clock.now } });
    expect(await reasons([w.pay(), w.pay()])).toEqual(['paid', 'paid']);
    clock.advance(60_000);
    const { error } = await w.pay();
    expect(error).toEqual({
      code: 'policy_denied',
      message:
        'The call was denied: the quota `daily` allows 2 per day, of which 2 is used, and this ' +
        'call needs 1. Try again in 23 hours and 59 minutes.',
      reason: 'quota_exceeded',
      ruleId: 'daily',
      source: 'registry',
      retryable: true,
      details: { quota: 'daily', max: 2, used: 2, retryAfterMs: 86_340_000 },
    });
    expect(w.runs).toHaveLength(2);
    expect(w.of('policy:violation')).toMatchObject([{ reason: 'quota_exceeded', ruleId: 'daily' }]);
    await w.settle();
  });

  test('of amounts: two calls at the same time cannot both spend the last of it', async () => {
    const w = setup([{ ...spent, max: 10_000 }]);
    expect(await reasons([w.pay({ amount: 6_000 }), w.pay({ amount: 6_000 })])).toEqual([
      'paid',
      'quota_exceeded',
    ]);
    expect(await usedOf(w, { amount: 0 })).toBe(6_000);
  });

  test('slides: what is older than its window no longer counts', async () => {
    const clock = fixedClock();
    const w = setup([{ ...daily, per: 'hour' }], { registry: { now: clock.now } });
    await w.pay();
    clock.advance(1_800_000);
    await w.pay();
    clock.advance(1_799_999);
    expect(reasonOf(await w.pay())).toBe('quota_exceeded');
    clock.advance(1);
    expect(await reasons([w.pay(), w.pay()])).toEqual(['paid', 'quota_exceeded']);
  });

  test.each([
    ['minute', 60_000],
    ['hour', 3_600_000],
    ['day', 86_400_000],
    [{ ms: 1_234 }, 1_234],
  ] as const)('per %j counts for %i ms', async (per, ms) => {
    const clock = fixedClock();
    const w = setup([{ ...daily, max: 1, per }], { registry: { now: clock.now } });
    await w.pay();
    clock.advance(ms - 1);
    expect((await w.pay()).error?.details).toMatchObject({ retryAfterMs: 1 });
    clock.advance(1);
    expect(reasonOf(await w.pay())).toBe('paid');
  });

  test('per session never slides, and waiting does not help', async () => {
    const clock = fixedClock();
    const w = setup([{ ...daily, per: 'session' }], { registry: { now: clock.now } });
    await reasons([w.pay(), w.pay()]);
    clock.advance(1_000 * 86_400_000);
    const { error } = await w.pay();
    expect(error).toMatchObject({
      retryable: false,
      details: { quota: 'daily', max: 2, used: 2, retryAfterMs: null },
      message: expect.stringContaining('Do not retry it unchanged.'),
    });
  });

  test('an amount above all that is allowed is not worth a retry', async () => {
    const w = setup([spent]);
    const { error } = await w.pay({ amount: 1e308 });
    expect(error).toMatchObject({
      reason: 'quota_exceeded',
      retryable: false,
      details: { used: 0, retryAfterMs: null },
    });
    expect(reasonOf(await w.pay({ amount: 100 }))).toBe('paid');
  });

  test('sums are exact and do not drift', async () => {
    const w = setup([{ ...spent, max: 100 }]);
    for (let index = 0; index < 1_000; index++)
      expect((await w.pay({ amount: 0.1 })).success).toBe(true);
    expect(reasonOf(await w.pay({ amount: 1e-9 }))).toBe('quota_exceeded');
    expect(await usedOf(w, { amount: 0 })).toBe(100);
  });

  test('has its own reason, where it has one', async () => {
    const w = setup([{ ...daily, max: 0, reason: 'no_more_today' }]);
    expect(reasonOf(await w.pay())).toBe('no_more_today');
  });

  test('only the tools that it names count, and other tools do not ask the store', async () => {
    const { store, reserved } = watched();
    const w = setup([{ ...daily, tools: ['pa?', 'send_*'] }], { registry: { quotaStore: store } });
    await w.session.call('still_alive');
    expect(reserved).toEqual([]);
    await w.pay();
    expect(reserved).toHaveLength(1);
  });

  test('only calls that match `when` count, in either of the two values', async () => {
    const parameters = z.object({ kind: z.string().trim() });
    const w = setup([{ ...daily, when: { kind: { in: ['gift', 'loan'] } } }], {
      tool: { parameters },
    });
    const kinds = ['gift', 'other', ' loan', 'other', 'gift'];
    const ended: unknown[] = [];
    for (const kind of kinds) ended.push(reasonOf(await w.pay({ kind })));
    expect(ended).toEqual(['paid', 'paid', 'paid', 'paid', 'quota_exceeded']);
  });

  test('a call without an amount spends nothing, and does not ask the store', async () => {
    const { store, reserved } = watched();
    const w = setup([{ ...spent, max: 0 }], { registry: { quotaStore: store } });
    expect(await reasons([w.pay({}), w.pay({ amount: 0 })])).toEqual(['paid', 'paid']);
    expect(reserved).toEqual([]);
    expect(reasonOf(await w.pay({ amount: 1 }))).toBe('quota_exceeded');
  });

  test('the larger of what was sent and what the handler gets is spent', async () => {
    const parameters = z.object({
      amount: z.number().transform((cents) => (cents < 50 ? cents * 2 : cents / 2)),
    });
    const w = setup([spent], { tool: { parameters } });
    await w.pay({ amount: 20 });
    expect(await usedOf(w, { amount: 0 })).toBe(40);
    await w.pay({ amount: 60 });
    expect(await usedOf(w, { amount: 0 })).toBe(100);
    expect(w.runs).toEqual([{ amount: 40 }, { amount: 30 }]);
  });

  test('a default counts, which only the handler gets', async () => {
    const parameters = z.object({ amount: z.number().default(70) });
    const w = setup([spent], { tool: { parameters } });
    expect(await reasons([w.pay(), w.pay()])).toEqual(['paid', 'quota_exceeded']);
  });

  test('several values at a path are added', async () => {
    const w = setup([{ ...spent, sum: 'items.*.amount' }]);
    await w.pay({ items: [{ amount: 30 }, {}, { amount: 40.5 }] });
    expect(await usedOf(w, { items: [] })).toBe(70.5);
  });

  test.each<[unknown]>([[-1], ['5'], ['abc'], [null], [true], [{ n: 1 }], [[1, '2']], ['NaN']])(
    'an amount of %j is refused as unreadable',
    async (amount) => {
      const { store, reserved } = watched();
      const w = setup([spent], { registry: { quotaStore: store } });
      const { error } = await w.pay({ amount });
      expect(error).toMatchObject({
        code: 'policy_denied',
        reason: 'quota_unreadable',
        ruleId: 'spent',
        source: 'registry',
        retryable: false,
        details: { quota: 'spent' },
      });
      expect(reserved).toEqual([]);
      expect(w.runs).toEqual([]);
    },
  );

  test('so is what a schema turns into no number', async () => {
    for (const made of [Number.NaN, Number.POSITIVE_INFINITY, -0.5, 'x', {}]) {
      const parameters = z.object({ amount: z.number().transform(() => made as never) });
      const w = setup([spent], { tool: { parameters } });
      expect(reasonOf(await w.pay({ amount: 1 }))).toBe('quota_unreadable');
    }
  });

  test('a member called `__proto__` in the path is an own member or none', async () => {
    const parameters = z.looseObject({});
    const w = setup([{ ...spent, sum: '__proto__.amount' }], { tool: { parameters } });
    expect(reasonOf(await w.pay({ amount: 500 }))).toBe('paid');
    expect(reasonOf(await w.pay('{"__proto__":{"amount":500}}'))).not.toBe('paid');
  });
});

describe('whose calls count together', () => {
  const pay = (w: World, options: Partial<SessionOptions>, input: unknown = {}) =>
    w.registry.createSession({ sessionId: 'x', ...options }).call('pay', input);

  test('by session: those of the same session id', async () => {
    const w = setup([{ ...daily, max: 1 }]);
    expect(
      await reasons([
        pay(w, { sessionId: 'a' }),
        pay(w, { sessionId: 'b' }),
        pay(w, { sessionId: 'a' }),
      ]),
    ).toEqual(['paid', 'paid', 'quota_exceeded']);
  });

  test('by principal: those of sessions with the same principal, or with none', async () => {
    const w = setup([{ ...daily, max: 1, by: 'principal' }]);
    const calls = ['ann', 'bob', undefined, 'ann', undefined].map((principal, index) =>
      pay(w, { sessionId: `s${index}`, ...(principal === undefined ? {} : { principal }) }),
    );
    expect(await reasons(calls)).toEqual([
      'paid',
      'paid',
      'paid',
      'quota_exceeded',
      'quota_exceeded',
    ]);
  });

  test('by registry: those of every registry with the same store', async () => {
    const quotaStore = memoryQuotas();
    const quotas: Quota[] = [{ ...daily, by: 'registry' }];
    const [a, b] = [
      setup(quotas, { registry: { quotaStore } }),
      setup(quotas, { registry: { quotaStore } }),
    ];
    expect(await reasons([a.pay(), b.pay(), a.pay()])).toEqual(['paid', 'paid', 'quota_exceeded']);
    const other = setup(quotas);
    expect(reasonOf(await other.pay())).toBe('paid');
  });

  test('by a path: calls share the sum of a value; each of several values spends', async () => {
    const w = setup([{ ...spent, by: { path: 'to.*' } }]);
    const ended: unknown[] = [];
    for (const [to, amount] of [
      [['ann', 'bob'], 60],
      [['ann'], 40],
      [['cat', 'bob'], 41],
      [['cat'], 100],
      [['bob'], 40],
    ] as const)
      ended.push(reasonOf(await w.pay({ to, amount })));
    expect(ended).toEqual(['paid', 'paid', 'quota_exceeded', 'paid', 'paid']);
  });

  test('by a path: `22` and `"22"` are one value', async () => {
    const w = setup([{ ...daily, max: 1, by: { path: 'to' } }]);
    expect(reasonOf(await w.pay({ to: 22 }))).toBe('paid');
    expect(reasonOf(await w.pay({ to: '22' }))).toBe('quota_exceeded');
  });

  test('by a path: a call with no value, null or an object there is refused', async () => {
    const w = setup([{ ...daily, by: { path: 'to' } }]);
    for (const input of [{}, { to: null }, { to: [] }, { to: {} }, { to: ['ann', {}] }])
      expect(reasonOf(await w.pay(input))).toBe('quota_unreadable');
    expect(w.runs).toEqual([]);
  });

  test('by a path: more than a hundred values are refused', async () => {
    const w = setup([{ ...daily, by: { path: 'to' } }]);
    const to = Array.from({ length: 101 }, (_, index) => index);
    const { error } = await w.pay({ to });
    expect([error?.reason, error?.message]).toEqual([
      'quota_unreadable',
      'The call was denied, since the quota `daily` cannot be applied to it: `to` has more than ' +
        '100 values to count for. Send fewer.',
    ]);
    expect(reasonOf(await w.pay({ to: to.slice(1) }))).toBe('paid');
  });

  test('by a list: each combination has a sum of its own', async () => {
    const w = setup([{ ...daily, max: 1, by: ['session', { path: 'to' }] }]);
    const other = (to: unknown) => pay(w, { sessionId: 'other' }, { to });
    expect(reasonOf(await w.pay({ to: 'ann' }))).toBe('paid');
    expect(reasonOf(await w.pay({ to: 'ann' }))).toBe('quota_exceeded');
    expect(reasonOf(await w.pay({ to: 'bob' }))).toBe('paid');
    expect(reasonOf(await other('ann'))).toBe('paid');
    expect(reasonOf(await other(['cat', 'ann']))).toBe('quota_exceeded');
    // A call that was refused has spent nothing.
    expect(reasonOf(await other('cat'))).toBe('paid');
  });

  test('by a list: per session, and by session and principal', async () => {
    const w = setup([
      { ...daily, id: 'each', max: 1, per: 'session', by: ['session', { path: 'to' }] },
      { ...daily, id: 'both', max: 2, by: ['principal', 'session'] },
    ]);
    expect(reasonOf(await w.pay({ to: 'ann' }))).toBe('paid');
    expect((await w.pay({ to: 'ann' })).error?.ruleId).toBe('each');
    expect(reasonOf(await w.pay({ to: 'bob' }))).toBe('paid');
    expect((await w.pay({ to: 'cat' })).error?.ruleId).toBe('both');
    const again = (principal: string) => pay(w, { sessionId: 's', principal }, { to: 'dan' });
    expect(reasonOf(await again('kim'))).toBe('paid');
  });

  test('by a list of paths: each pair of values counts, and at most a hundred of them', async () => {
    const w = setup([{ ...daily, max: 1, by: [{ path: 'to' }, { path: 'kind' }] }]);
    expect(reasonOf(await w.pay({ to: ['ann', 'bob'], kind: ['gift', 'loan'] }))).toBe('paid');
    expect(reasonOf(await w.pay({ to: 'bob', kind: 'loan' }))).toBe('quota_exceeded');
    expect(reasonOf(await w.pay({ to: 'bob', kind: 'fee' }))).toBe('paid');
    expect(reasonOf(await w.pay({ to: 'bob' }))).toBe('quota_unreadable');
    const many = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
    expect(reasonOf(await w.pay({ to: many(10), kind: many(10) }))).toBe('paid');
    const { error } = await w.pay({ to: many(11), kind: many(10) });
    expect([error?.reason, error?.message]).toEqual([
      'quota_unreadable',
      'The call was denied, since the quota `daily` cannot be applied to it: `to` has more than ' +
        '100 values to count for. Send fewer.',
    ]);
  });

  test('names that could be confused are distinguished', async () => {
    const w = setup([
      { ...daily, id: 'a', max: 1, by: 'principal' },
      { ...daily, id: 'a"]', max: 1, by: 'session' },
    ]);
    const sessions = ['s', '"s"', 's"', '["s"]', '__proto__', 's\u0000', 'S'];
    const calls = sessions.map((sessionId) => pay(w, { sessionId, principal: sessionId }));
    expect(await reasons(calls)).toEqual(sessions.map(() => 'paid'));
  });
});

describe('where quotas are written', () => {
  test('those of registry, profile and session all apply; parents keep theirs', async () => {
    const w = setup([{ ...daily, max: 5 }]);
    w.registry.defineProfile({ id: 'p', tools: ['pay'], quotas: [{ ...daily, max: 3 }] });
    w.registry.defineProfile({ id: 'c', extends: 'p', tools: [], quotas: [{ ...daily, max: 4 }] });
    const session = w.registry.createSession({
      sessionId: 's',
      profile: 'c',
      quotas: [{ ...daily, max: 2 }],
    });
    const levels = (await session.explain('pay', {})).quotas?.map(({ source, max }) => [
      source,
      max,
    ]);
    expect(levels).toEqual([
      ['registry', 5],
      ['profile:p', 3],
      ['profile:c', 4],
      ['session', 2],
    ]);
    const calls = [1, 2, 3].map(() => session.call('pay', {}));
    expect(await reasons(calls)).toEqual(['paid', 'paid', 'quota_exceeded']);
    const wider = w.registry.createSession({ sessionId: 's', profile: 'p' });
    expect(reasonOf(await wider.call('pay', {}))).toBe('paid');
    expect((await wider.call('pay', {})).error).toMatchObject({ source: 'profile:p' });
  });

  test('added quotas apply to the next call; removed ones no longer do', async () => {
    const w = setup([]);
    expect(reasonOf(await w.pay())).toBe('paid');
    const remove = w.registry.addQuotas([{ ...daily, max: 1 }]);
    expect(await reasons([w.pay(), w.pay()])).toEqual(['paid', 'quota_exceeded']);
    expect(() => w.registry.addQuotas([daily])).toThrow(
      'registry quota 0 (`daily`): Expected `id`',
    );
    remove();
    remove();
    expect(reasonOf(await w.pay())).toBe('paid');
    w.registry.addQuotas([{ ...daily, max: 2 }]);
    expect(await reasons([w.pay(), w.pay()])).toEqual(['paid', 'quota_exceeded']);
  });

  test('a malformed one throws where it is given', () => {
    const wrong = [{ ...daily, max: -1 }];
    expect(() => world({}, { quotas: wrong })).toThrow(
      'registry quota 0 (`daily`): Expected `max`',
    );
    const w = setup([]);
    expect(() => w.registry.createSession({ sessionId: 's', quotas: wrong })).toThrow(
      'session quota 0 (`daily`): Expected `max`',
    );
    expect(() => w.registry.defineProfile({ id: 'p', tools: [], quotas: wrong })).toThrow(
      'profile:p quota 0 (`daily`): Expected `max`',
    );
    expect(() => world({}, { quotaStore: {} as never })).toThrow(
      'expected `quotaStore` to be a store, such as memoryStore() of host-tools',
    );
  });

  test('child calls spend as any call does', async () => {
    const w = setup([daily]);
    w.add(
      tool(
        async (
          _input,
          context: { tools: { call(name: string, input: unknown): Promise<ToolResult> } },
        ) => reasonOf(await context.tools.call('pay', {})),
        { name: 'outer', uses: ['pay'] },
      ),
    );
    const ended: unknown[] = [];
    for (let index = 0; index < 3; index++) ended.push((await w.session.call('outer', {})).output);
    expect(ended).toEqual(['paid', 'paid', 'quota_exceeded']);
  });
});

describe('a reservation', () => {
  test('covers all quotas of a call or none', async () => {
    const w = setup([
      { ...daily, id: 'calls', max: 10 },
      { ...spent, max: 50 },
      { ...daily, id: 'last', max: 1 },
    ]);
    await w.pay({ amount: 30 });
    expect((await w.pay({ amount: 30 })).error?.ruleId).toBe('spent');
    expect((await w.pay({ amount: 10 })).error?.ruleId).toBe('last');
    const { quotas } = await w.session.explain('pay', { amount: 1 });
    expect(quotas?.map(({ used }) => used)).toEqual([1, 30, 1]);
  });

  test('with a store that answers at once adds no turn to the call', async () => {
    for (const quotas of [[], [daily]]) {
      const w = setup(quotas);
      const call = w.pay();
      // All gates have run by the time `call` returns.
      expect(w.runs).toHaveLength(1);
      await call;
    }
  });

  test('comes after approval, and after slots and locks', async () => {
    const { store, reserved } = watched();
    const answer = gate<'allow_once'>();
    const held = gate();
    const w = setup([daily], {
      registry: { quotaStore: store, rules: [{ effect: 'ask', tools: 'pay' }] },
      session: { approver: () => answer.promise },
      tool: { resourceKey: 'account' },
    });
    w.add(tool(() => held.promise, { name: 'busy', resourceKey: 'account' }));
    const busy = w.session.call('busy', {});
    const call = w.pay();
    await turns();
    expect(reserved).toEqual([]);
    answer.open('allow_once');
    await turns();
    expect(reserved).toEqual([]);
    held.open();
    await busy;
    expect(reasonOf(await call)).toBe('paid');
    expect(reserved).toHaveLength(1);
    await w.settle();
  });

  test('is kept once the handler has started, whatever its outcome', async () => {
    const w = setup([{ ...daily, max: 1 }], {
      tool: {
        handler: () => {
          throw new Error('no');
        },
      },
    });
    expect(await reasons([w.pay(), w.pay()])).toEqual(['handler_error', 'quota_exceeded']);
  });

  test('is given back if the call is cancelled by its store, a listener or a surface', async () => {
    const { store, reserved, backs } = watched();
    const controller = new AbortController();
    const cancelling: Store = {
      ...store,
      apply(space, operations) {
        const answer = store.apply(space, operations);
        if (operations[0]?.op === 'add') controller.abort();
        return answer;
      },
    };
    const w = setup([daily], { registry: { quotaStore: cancelling } });
    expect(reasonOf(await w.pay({}, { signal: controller.signal }))).toBe('cancelled');
    expect([reserved.length, backs.length, w.runs.length]).toEqual([1, 1, 0]);
    await w.settle();
  });

  test('is given back if a surface ends the call as its handler starts', async () => {
    const { store, backs } = watched();
    const controller = new AbortController();
    const w = setup([daily], { registry: { quotaStore: store } });
    const { stateOf } = await import('../../../src/core/session/session.ts');
    const { callTool } = await import('../../../src/core/call/spine.ts');
    const { readCallOptions } = await import('../../../src/core/call/call-options.ts');
    const surface = { name: 'test', started: () => controller.abort() };
    const result = await callTool(
      stateOf(w.session),
      'pay',
      {},
      readCallOptions({ signal: controller.signal, surface }),
    );
    expect(reasonOf(result)).toBe('cancelled');
    expect([backs.length, w.runs.length]).toEqual([1, 0]);
    await w.settle();
  });

  test('is given back if `create` fails, so that no handler starts', async () => {
    const { store, backs } = watched();
    let fails = true;
    const w = world({}, { quotas: [{ ...daily, max: 1 }], quotaStore: store });
    w.add(
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: { type: 'object' },
        scope: 'session',
        create: async () => {
          if (fails) throw new Error('no connection');
          return { handler: () => 'paid' };
        },
      } as never) as AnyTool<unknown>,
    );
    expect(reasonOf(await w.session.call('pay', {}))).toBe('handler_error');
    expect(backs).toHaveLength(1);
    fails = false;
    expect(reasonOf(await w.session.call('pay', {}))).toBe('paid');
    expect(reasonOf(await w.session.call('pay', {}))).toBe('quota_exceeded');
    expect(backs).toHaveLength(1);
    await w.settle();
  });
});

describe('a store that answers later', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function slow(
    options: Parameters<typeof setup>[1] = {},
  ): Setup & ReturnType<typeof watched> & { readonly open: () => void } {
    const held = gate();
    const own = watched();
    own.hold = held.promise;
    const w = setup([{ ...daily, max: 1 }], {
      ...options,
      registry: { quotaStore: own.store, ...options.registry },
    });
    return Object.assign(own, w, { open: () => held.open() });
  }

  test('is waited for, and the call is judged again before it starts', async () => {
    const w = slow();
    const call = w.pay();
    await turns();
    expect(w.runs).toEqual([]);
    const remove = w.registry.addRules([{ effect: 'deny', tools: 'pay', when: { a: 1 } }]);
    w.open();
    expect(reasonOf(await call)).toBe('paid');
    remove();
    expect([w.reserved.length, w.backs.length]).toEqual([1, 0]);
    expect(reasonOf(await w.pay())).toBe('quota_exceeded');
    await w.settle();
  });

  test('what was reserved is given back if the call is denied meanwhile', async () => {
    const w = slow();
    const call = w.pay();
    await turns();
    w.registry.addRules([{ id: 'stop', effect: 'deny', tools: 'pay', when: { a: { glob: '*' } } }]);
    w.registry.addRules([{ id: 'closed', effect: 'deny', tools: 'pay' }]);
    w.open();
    expect((await call).success).toBe(false);
    expect([w.runs.length, w.reserved.length, w.backs.length]).toEqual([0, 1, 1]);
    await w.settle();
  });

  test('a reservation is given back if a person must be asked, and made again', async () => {
    const asked: string[] = [];
    const w = slow({
      session: {
        approver: ({ title }) => {
          asked.push(title);
          return 'allow_once';
        },
      },
    });
    const call = w.pay();
    await turns();
    w.registry.addRules([{ effect: 'ask', tools: 'pay' }]);
    w.open();
    expect(reasonOf(await call)).toBe('paid');
    expect([asked.length, w.reserved.length, w.backs.length]).toEqual([1, 2, 1]);
    await w.settle();
  });

  test('a call that is cancelled while it waits gives back what is reserved later', async () => {
    const w = slow();
    const controller = new AbortController();
    const call = w.pay({}, { signal: controller.signal });
    await turns();
    controller.abort();
    expect(reasonOf(await call)).toBe('cancelled');
    expect(w.backs).toEqual([]);
    w.open();
    await turns();
    expect([w.runs.length, w.backs.length]).toEqual([0, 1]);
    w.hold = undefined;
    expect(reasonOf(await w.pay())).toBe('paid');
    await w.settle();
  });

  test('so does one whose session is closed, or that ends in the turn of the answer', async () => {
    const w = slow();
    const calls = [w.pay(), w.pay()];
    await turns();
    w.open();
    void w.session.close();
    expect(await reasons(calls)).toEqual(['session_closed', 'session_closed']);
    await turns();
    // Only the first one fitted.
    expect([w.runs.length, w.backs.length]).toEqual([0, 1]);
  });

  test('in whatever turn a call ends, what it had reserved is given back, once', async () => {
    const seen = new Set<string>();
    for (let turn = 0; turn < 40; turn++) {
      const w = slow();
      const controller = new AbortController();
      const call = w.pay({}, { signal: controller.signal });
      await turns();
      w.open();
      await turns(turn);
      controller.abort();
      const reason = reasonOf(await call);
      seen.add(String(reason));
      await turns(60);
      // Its handler runs in the turn in which it starts.
      expect([turn, w.runs.length + w.backs.length]).toEqual([turn, 1]);
      expect(reason).toBe(w.runs.length === 1 ? 'paid' : 'cancelled');
      await w.settle();
    }
    expect(seen).toEqual(new Set(['cancelled', 'paid']));
  });

  test('an answer after `policyTimeoutMs` is given back, and the call refused', async () => {
    const w = slow({ registry: { policyTimeoutMs: 100 } });
    const call = w.pay();
    await vi.advanceTimersByTimeAsync(100);
    const { error } = await call;
    expect(error).toMatchObject({
      code: 'policy_denied',
      reason: 'quota_unavailable',
      retryable: true,
      ruleId: 'daily',
      source: 'registry',
    });
    expect(w.warnings).toContain('the quota store failed, so the call was refused');
    expect(w.backs).toEqual([]);
    w.open();
    await turns();
    expect([w.runs.length, w.backs.length]).toEqual([0, 1]);
    await w.settle();
  });

  test('changes that come while it waits are followed: what is reserved is what runs', async () => {
    const w = slow();
    const call = w.pay();
    await turns();
    w.registry.addQuotas([{ ...daily, id: 'another', max: 5 }]);
    w.open();
    expect(reasonOf(await call)).toBe('paid');
    expect(w.reserved.map((spends) => spends.length)).toEqual([1, 2]);
    expect(w.backs).toHaveLength(1);
    const { quotas } = await w.session.explain('pay', {});
    expect(quotas?.map(({ used }) => used)).toEqual([1, 1]);
    await w.settle();
  });
});

describe('a store that lies, throws or says nothing', () => {
  const failing = (part: Partial<QuotaPort>): Store =>
    quotaStoreOf({ ...memoryQuotaPort(), ...part });

  test.each<[string, () => unknown]>([
    ['throws', () => raise()],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['answers true', () => true],
    ['answers {}', () => ({})],
    ['refuses without saying what', () => ({ refused: [] })],
    ['refuses what would fit', () => ({ refused: [{ used: 0n, retryAfterMs: 0 }] })],
    ['refuses with numbers', () => ({ refused: [{ used: 5, retryAfterMs: 0 }] })],
    ['refuses with a negative sum', () => ({ refused: [{ used: -5n, retryAfterMs: 0 }] })],
    [
      'refuses with a time that is none',
      () => ({ refused: [{ used: 5n ** 30n, retryAfterMs: Number.NaN }] }),
    ],
    ['refuses too much', () => ({ refused: [{ used: 5n ** 30n }, { used: 5n ** 30n }] })],
    [
      'answers with a getter that throws',
      () => ({
        get reservation(): never {
          return raise();
        },
      }),
    ],
    ['answers with a `then` that throws', () => Object.defineProperty({}, 'then', { get: raise })],
  ])('%s: the call is refused, and the host is told', async (_, reserve) => {
    const faults: unknown[] = [];
    const w = setup([{ ...daily, max: 1 }], {
      registry: {
        quotaStore: failing({ reserve: reserve as never }),
        logger: { warn: () => {}, error: (data: object) => void faults.push(data) },
      },
    });
    const { error } = await w.pay();
    expect(error).toMatchObject({ code: 'policy_denied', reason: 'quota_unavailable' });
    expect(error?.message).toBe(
      'The call was denied, since its quotas cannot be checked at the moment. Try again later.',
    );
    expect(Object.keys(error ?? {})).not.toContain('cause');
    expect(error?.cause).toBeInstanceOf(Error);
    expect(faults).toMatchObject([{ source: 'quotaStore', toolName: 'pay', err: {} }]);
    expect(w.runs).toEqual([]);
    await w.settle();
  });

  test.each([
    ['no place', [undefined]],
    ['a number', [5]],
  ])('one that answers a reservation with %s: the call is refused', async (_what, results) => {
    const apply = (() => ({ results })) as Store['apply'];
    const w = setup([daily], { registry: { quotaStore: { ...memoryQuotas(), apply } } });
    expect([reasonOf(await w.pay()), w.runs]).toEqual(['quota_unavailable', []]);
    await w.settle();
  });

  test('one that answers twice is heard once', async () => {
    const inner = memoryQuotas();
    const steps: string[] = [];
    const w = setup([daily], {
      registry: {
        quotaStore: {
          ...inner,
          apply: ((space: Store.Space, operations: readonly Store.Operation[]) => {
            steps.push(operations.map(({ op }) => op).join());
            return {
              // biome-ignore lint/suspicious/noThenProperty: a thenable of the host's own.
              then(resolve: (answer: unknown) => void) {
                resolve(inner.apply(space, operations));
                resolve({ refused: 0 });
                throw new Error('third answer');
              },
            };
          }) as never,
        },
      },
    });
    expect(reasonOf(await w.pay())).toBe('paid');
    expect([w.runs.length, steps]).toEqual([1, ['add']]);
  });

  test.each<[string, () => unknown]>([
    ['throws', () => raise()],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])(
    'one whose giving back %s: the call ends as it would, and the host is told',
    async (_, giveBack) => {
      const controller = new AbortController();
      const inner = memoryQuotaPort();
      const w = setup([daily], {
        registry: {
          quotaStore: quotaStoreOf({
            ...inner,
            giveBack: giveBack as never,
            reserve: (spends) => {
              controller.abort();
              return inner.reserve(spends);
            },
          }),
        },
      });
      expect(reasonOf(await w.pay({}, { signal: controller.signal }))).toBe('cancelled');
      await turns();
      expect(w.warnings).toEqual([
        'what a call had reserved of its quotas could not be given back',
      ]);
      await w.settle();
    },
  );

  test('secrets of the call are not logged with what it threw', async () => {
    const faults: object[] = [];
    const w = setup([daily], {
      registry: {
        redact: ['token'],
        quotaStore: failing({
          reserve: () => {
            throw new Error('cannot reach hunter2-hunter2');
          },
        }),
        logger: { warn: () => {}, error: (data: object) => void faults.push(data) },
      },
    });
    await w.pay({ token: 'hunter2-hunter2' });
    expect(
      JSON.stringify(faults.map((data) => String((data as { err: Error }).err.stack))),
    ).not.toContain('hunter2');
  });
});

function raise(): never {
  throw new Error('down');
}

test.each([
  ['reservation', {}],
  ['refused', []],
  ['unavailable', true],
  ['unreadable', 'sum'],
])('`%s` on a polluted prototype changes no verdict', async (name, value) => {
  const w = setup([{ ...daily, max: 1 }]);
  const polluted = Object.prototype as Record<string, unknown>;
  polluted[name] = value;
  try {
    expect([reasonOf(await w.pay()), reasonOf(await w.pay())]).toEqual(['paid', 'quota_exceeded']);
    expect((await w.session.explain('pay', {})).decision).toEqual({
      effect: 'deny',
      reason: 'quota_exceeded',
    });
  } finally {
    delete polluted[name];
  }
  await w.settle();
});

describe('a store that answers at once, and runs code of the host', () => {
  test('a rule that it adds while it reserves refuses the call, and gives back', async () => {
    const inner = watched();
    const w = setup([daily], {
      registry: {
        quotaStore: {
          ...inner.store,
          apply: (space, operations) => {
            if (operations[0]?.op === 'add')
              w.registry.addRules([{ effect: 'deny', tools: 'pay', reason: 'closed' }]);
            return inner.store.apply(space, operations);
          },
        },
      },
    });
    expect(reasonOf(await w.pay())).toBe('closed');
    expect(w.runs).toEqual([]);
    expect(inner.backs).toHaveLength(1);
    await w.settle();
  });

  test('facts that it sets while it reserves count', async () => {
    const inner = memoryQuotas();
    const w = setup([daily], {
      registry: {
        rules: [{ effect: 'deny', tools: 'pay', facts: { frozen: true }, reason: 'frozen' }],
        quotaStore: {
          ...inner,
          apply: (space, operations) => {
            w.session.setFacts({ frozen: true });
            return inner.apply(space, operations);
          },
        },
      },
    });
    expect(reasonOf(await w.pay())).toBe('frozen');
    expect(w.runs).toEqual([]);
    await w.settle();
  });
});
