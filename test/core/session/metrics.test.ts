/** What `session.metrics()` and `registry.metrics()` count, and which rules are unused. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Counters, countEnd, countReason } from '../../../src/core/call/counters.ts';
import { metricsOf } from '../../../src/core/session/metrics.ts';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  deny,
  fail,
  HostToolRegistry,
  type JsonObject,
  type Policy,
  type Rule,
} from '../../../src/index.ts';
import { define, setup } from '../call/define.ts';
import { gate, turns } from '../call/world.ts';

const ids = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

describe('a tool is counted', () => {
  test('by status and by reason, and so is the registry', async () => {
    const { registry, session } = setup([
      define('a', {
        parameters: { type: 'object', properties: { x: { type: 'number' } } },
        handler: ({ x }: { x: number }) =>
          x === 1 ? fail({ message: 'no', reason: 'broken' }) : x,
      }),
      define('b'),
    ]);
    await session.call('a', { x: 0 });
    await session.call('a', { x: 1 });
    await session.call('a', { x: 'no' });
    await session.call('b');
    await session.call('nobody');
    const { byTool, byReason, calls } = session.metrics();
    expect(byTool).toMatchObject({
      a: {
        calls: 3,
        succeeded: 1,
        failed: 1,
        rejected: 1,
        cancelled: 0,
        pending: 0,
        denied: 0,
        byReason: { broken: 1, invalid_input: 1 },
      },
      b: { calls: 1, succeeded: 1, byReason: {} },
    });
    expect(Object.keys(byTool)).toEqual(['a', 'b']);
    expect(byReason).toEqual({ broken: 1, invalid_input: 1, tool_not_found: 1 });
    expect(calls).toBe(5);
    expect(registry.metrics()).toEqual(session.metrics());
  });

  test('under the same name after it was replaced or removed', async () => {
    const { registry, session } = setup([define('a')]);
    await session.call('a');
    registry.registerOrReplace(define('a', { handler: () => fail('no') }));
    await session.call('a');
    registry.unregister('a');
    await session.call('a');
    for (const one of [session, registry])
      expect(one.metrics()).toMatchObject({
        calls: 3,
        rejected: 1,
        byTool: { a: { calls: 2, succeeded: 1, failed: 1 } },
      });
  });

  test('with calls that began before it was replaced', async () => {
    const held = gate();
    const { registry, session } = setup([define('a', { handler: () => held.promise })]);
    const called = session.call('a');
    registry.registerOrReplace(define('a'));
    await session.call('a');
    held.open();
    await called;
    expect(session.metrics().byTool.a).toMatchObject({ calls: 2, succeeded: 2 });
  });

  test('with names that objects inherit', async () => {
    const { session, registry } = setup([define('constructor'), define('a')], {
      rules: [{ id: '__proto__', effect: 'allow' }],
    });
    await session.call('constructor');
    for (const { byTool, byRule } of [session.metrics(), registry.metrics()]) {
      expect(Object.keys(byTool)).toEqual(['constructor']);
      expect(Object.entries(byRule)).toEqual([['__proto__', { matched: 1, shadow: 0 }]]);
    }
  });
});

describe('`durationMs`', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const waiting = define('wait', {
    handler: ({ ms }: { ms: number }) =>
      new Promise((resolve, reject) =>
        setTimeout(() => (ms === 7 ? reject(new Error('x')) : resolve('done')), ms),
      ),
    timeoutMs: 1_000_000,
  });

  test('is a histogram of the calls that succeeded or failed, from arrival to end', async () => {
    const { registry, session } = setup([waiting], {
      rules: [{ effect: 'deny', when: { ms: 3 } }],
    });
    for (const ms of [1, 2, 3, 5, 7, 30, 400_000]) {
      const called = session.call('wait', { ms });
      await vi.advanceTimersByTimeAsync(ms);
      await called;
    }
    const cancelling = new AbortController();
    const cancelled = session.call('wait', { ms: 100 }, { signal: cancelling.signal });
    await vi.advanceTimersByTimeAsync(50);
    cancelling.abort();
    await cancelled;
    for (const { byTool } of [session.metrics(), registry.metrics()]) {
      const { calls, durationMs } = byTool.wait ?? {};
      expect(calls).toBe(8);
      expect(durationMs).toMatchObject({ count: 6, sum: 1 + 2 + 5 + 7 + 30 + 400_000 });
      const counts = durationMs?.buckets.map(({ le, count }) => `${le}: ${count}`);
      expect(counts).toEqual([
        ...['1: 1', '5: 3', '10: 4', '25: 4', '50: 5', '100: 5', '250: 5', '500: 5', '1000: 5'],
        ...['2500: 5', '5000: 5', '10000: 5', '30000: 5', '60000: 5', '300000: 5'],
      ]);
    }
    await vi.advanceTimersByTimeAsync(50);
  });

  test('has every bucket for a tool whose calls were all refused', async () => {
    const { session } = setup([waiting], { rules: [{ effect: 'deny' }] });
    await session.call('wait');
    const { durationMs } = session.metrics().byTool.wait ?? {};
    expect(durationMs).toMatchObject({ count: 0, sum: 0 });
    expect(durationMs?.buckets).toHaveLength(15);
    expect(durationMs?.buckets.every(({ count }) => count === 0)).toBe(true);
  });
});

describe('`registry.metrics()`', () => {
  test('has the calls of all sessions, and outlives them', async () => {
    const { registry, session } = setup(
      [define('a')],
      {},
      {
        rules: [{ id: 'no', effect: 'deny', when: { x: 1 } }],
      },
    );
    const other = registry.createSession({ sessionId: 'other' });
    await session.call('a');
    await session.call('a', { x: 1 });
    await other.call('a', { x: 1 });
    await Promise.all([session.close(), other.close()]);
    await registry.close();
    expect(registry.metrics()).toMatchObject({
      calls: 3,
      succeeded: 1,
      rejected: 2,
      denied: 2,
      denyRate: 2 / 3,
      byReason: { denied_by_rule: 2 },
      byRule: { no: { matched: 2, shadow: 0 } },
      byTool: { a: { calls: 3, denied: 2, byReason: { denied_by_rule: 2 } } },
    });
    expect(session.metrics()).toMatchObject({ calls: 2, denied: 1 });
  });

  test('counts handlers that settle after their call', async () => {
    const held = gate();
    const { registry, session } = setup([define('a', { handler: () => held.promise })]);
    const called = session.call('a');
    await session.close();
    await called;
    held.open();
    await turns();
    expect(registry.metrics()).toMatchObject({ calls: 1, cancelled: 1, lateSettles: 1 });
  });

  test('is plain JSON, and a copy', async () => {
    const { registry, session } = setup([define('a')], { rules: [{ effect: 'allow' }] });
    expect(registry.metrics()).toEqual(new HostToolRegistry().metrics());
    await session.call('a');
    const metrics = registry.metrics();
    const before: JsonObject = metrics;
    expect(JSON.parse(JSON.stringify(before))).toEqual(metrics);
    await session.call('a');
    expect([metrics.calls, registry.metrics().calls]).toEqual([1, 2]);
  });
});

describe('`byRule` counts', () => {
  test('every rule that matched, also those that did not decide', async () => {
    const rules: Rule[] = [
      { id: 'ask', effect: 'ask' },
      { id: 'deny', effect: 'deny' },
      { id: 'after', effect: 'allow' },
      { id: 'not', effect: 'deny', when: { x: 1 } },
      { id: 'nor', effect: 'deny', tools: 'other' },
    ];
    const { session } = setup(
      [define('a')],
      { rules: [{ id: 'later', effect: 'allow' }] },
      { rules },
    );
    await session.call('a');
    const once = { matched: 1, shadow: 0 };
    expect(session.metrics().byRule).toEqual({
      ask: once,
      deny: once,
      after: once,
      later: once,
    });
  });

  test('rules of later layers after a denial, and asks no policy for that', async () => {
    const asked: string[] = [];
    const policy = (id: string, denies = false): Policy => ({
      id,
      check: () => {
        asked.push(id);
        return denies ? deny('no') : undefined;
      },
    });
    const check = vi.fn();
    const { session } = setup(
      [define('a', { policy: { check } })],
      { rules: [{ id: 'later', effect: 'deny', reason: 'mine' }], policies: [policy('own')] },
      { policies: [policy('first', true), policy('second')] },
    );
    expect(await session.call('a')).toMatchObject({ error: { reason: 'no', ruleId: 'first' } });
    expect(asked).toEqual(['first']);
    expect(check).not.toHaveBeenCalled();
    expect(session.metrics().byRule).toEqual({ later: { matched: 1, shadow: 0 } });
  });

  test('as far as the steps of the layer reach, which changes no denial', async () => {
    const text = 'a'.repeat(900_000);
    const costly = (id: string): Rule => ({ id, effect: 'ask', when: { text: { glob: '*b' } } });
    const { session } = setup([define('a')], {
      rules: [
        { id: 'no', effect: 'deny' },
        ...[...'abcdef'].map(costly),
        { id: 'last', effect: 'allow' },
      ],
    });
    expect(await session.call('a', { text })).toMatchObject({
      error: { code: 'policy_denied', ruleId: 'no' },
    });
    expect(session.metrics().byRule).toEqual({ no: { matched: 1, shadow: 0 } });
  });

  test('a call once, however often it was judged, and whichever rules were there', async () => {
    const answer = gate<'allow_once'>();
    const { registry, session } = setup([define('a')], {
      rules: [{ id: 'mine', effect: 'ask' }],
      approver: () => answer.promise,
    });
    const removed = registry.addRules([{ id: 'old', effect: 'allow' }]);
    const called = session.call('a');
    await turns();
    removed();
    registry.addRules([{ id: 'new', effect: 'allow' }]);
    answer.open('allow_once');
    expect(await called).toMatchObject({ success: true });
    const once = { matched: 1, shadow: 0 };
    expect(session.metrics().byRule).toEqual({ mine: once, old: once, new: once });
    expect(registry.metrics().byRule).toEqual({ mine: once, old: once, new: once });
  });

  test('a call once for an id that several rules have', async () => {
    const twins: Rule[] = [
      { id: 'twin', effect: 'allow' },
      { id: 'twin', effect: 'ask' },
    ];
    const { session } = setup(
      [define('a')],
      { rules: twins, approver: () => 'allow_once' },
      { rules: twins },
    );
    await session.call('a');
    expect(session.metrics().byRule).toEqual({ twin: { matched: 1, shadow: 0 } });
  });

  test('a call that was cancelled while it was judged', async () => {
    const never = gate<undefined>();
    const { session } = setup(
      [define('a')],
      { policies: [{ id: 'slow', check: () => never.promise }] },
      { rules: [{ id: 'first', effect: 'allow' }] },
    );
    const controller = new AbortController();
    const called = session.call('a', {}, { signal: controller.signal });
    controller.abort();
    expect(await called).toMatchObject({ error: { code: 'cancelled' } });
    expect(session.metrics().byRule).toEqual({ first: { matched: 1, shadow: 0 } });
  });

  test('a resumed call again, as `calls` does', async () => {
    const { session } = setup(
      [define('a')],
      { rules: [{ id: 'asks', effect: 'ask' }], approvalMode: 'suspend', principal: 'ann' },
      { approvals: { secret: 'x'.repeat(32) } },
    );
    const suspended = await session.call('a');
    const { token } = (suspended as unknown as { approval: { token: string } }).approval;
    expect(await session.approvals.resume(token, 'allow_once')).toMatchObject({ success: true });
    expect(session.metrics()).toMatchObject({ calls: 2, byRule: { asks: { matched: 2 } } });
  });

  test('no call that ended before it was judged, and nothing of `explain`', async () => {
    const parameters = { type: 'object', properties: { x: { type: 'number' } } };
    const { registry, session } = setup([define('a', { parameters })], {
      rules: [{ effect: 'allow' }],
    });
    await session.call('a', { x: 'no' });
    await session.explain('a', { x: 1 });
    expect(session.metrics().byRule).toEqual({});
    expect(registry.metrics().byRule).toEqual({});
  });

  test('a hidden tool that is called by its name', async () => {
    const { session } = setup([define('a')], { rules: [{ id: 'hides', effect: 'deny' }] });
    await session.call('a');
    expect(session.metrics().byRule).toEqual({ hides: { matched: 1, shadow: 0 } });
  });
});

describe('`registry.unusedRules()`', () => {
  const rule = (id: string, more: Partial<Rule> = {}): Rule => ({ id, effect: 'allow', ...more });

  test('lists rules of the registry, of scopes and of profiles, each once', async () => {
    const registry = new HostToolRegistry({ rules: [rule('used'), rule('a', { tools: 'x' })] });
    registry.addRules([{ effect: 'ask', when: { x: 1 } }]);
    registry.scope('plugin', { rules: [rule('b')] }).register(define('p'));
    registry.register(define('t'));
    registry.defineProfile({
      id: 'parent',
      tools: ['t'],
      rules: [rule('c'), rule('d', { when: { x: 2 } })],
    });
    registry.defineProfile({ id: 'child', extends: 'parent', tools: [], rules: [rule('e')] });
    registry.defineProfile({ id: 'twin', extends: 'parent', tools: [] });
    const session = registry.createSession({
      sessionId: 's',
      profile: 'child',
      rules: [rule('own', { when: { x: 9 } })],
    });
    expect(ids(registry.unusedRules())).toEqual(['used', 'a', 'registry#2', 'b', 'c', 'd', 'e']);
    await session.call('t');
    expect(registry.unusedRules()).toEqual([
      { id: 'a', layer: 'registry' },
      { id: 'registry#2', layer: 'registry' },
      { id: 'b', layer: 'scope:plugin' },
      { id: 'd', layer: 'profile:parent' },
    ]);
  });

  test('knows rules of the same id apart by their layers', async () => {
    const registry = new HostToolRegistry({ rules: [rule('same', { tools: 'x' })] });
    registry.register(define('t'));
    registry.defineProfile({ id: 'p', tools: ['t'], rules: [rule('same')] });
    await registry.createSession({ sessionId: 's', profile: 'p' }).call('t');
    expect(registry.unusedRules()).toEqual([{ id: 'same', layer: 'registry' }]);
  });

  test('forgets nothing when a profile is defined again, or a parent of it', async () => {
    const registry = new HostToolRegistry();
    registry.register(define('t'));
    const parent = {
      id: 'parent',
      tools: ['t'],
      rules: [rule('a'), rule('b', { when: { x: 1 } })],
    };
    const child = { id: 'child', extends: 'parent', tools: [], rules: [rule('c')] };
    registry.defineProfile(parent);
    registry.defineProfile(child);
    await registry.createSession({ sessionId: 's', profile: 'child' }).call('t');
    for (const profile of [child, parent, child]) {
      registry.defineProfile(profile);
      expect(ids(registry.unusedRules())).toEqual(['b']);
    }
  });

  test('forgets nothing when rules are added again before the old ones are removed', async () => {
    const { registry, session } = setup([define('t')]);
    const remove = registry.addRules([rule('a'), rule('b', { tools: 'x' })]);
    await session.call('t');
    registry.addRules([rule('a'), rule('b', { tools: 'y' })]);
    remove();
    expect(ids(registry.unusedRules())).toEqual(['b']);
  });

  test('does not list a deny that hides a tool, although no call meets it', () => {
    const hides: Rule[] = [
      { id: 'hides', effect: 'deny', tools: 't' },
      { id: 'tries', effect: 'deny', tools: 't', shadow: true },
      { id: 'stray', effect: 'deny', tools: 'x' },
    ];
    const { registry, session } = setup([define('t')], {}, { rules: hides });
    expect(session.effectiveTools().names).toEqual([]);
    expect(ids(registry.unusedRules())).toEqual(['tries', 'stray']);
  });

  test('does not list a shadow rule that has matched, nor rules that are gone', async () => {
    const { registry, session } = setup(
      [define('t')],
      {},
      { rules: [rule('s', { shadow: true })] },
    );
    const remove = registry.addRules([rule('gone', { tools: 'x' })]);
    await session.call('t');
    remove();
    expect(registry.unusedRules()).toEqual([]);
  });
});

describe('where calls run is counted', () => {
  const on = (kind?: string) => ({ executor: { kind, execute: async () => 1 } });

  test('by what the executor says, with the durations', async () => {
    const { registry, session } = setup([
      define('a'),
      define('b', on('thread')),
      define('c', on()),
      define('d', on('thread')),
    ]);
    for (const name of ['a', 'b', 'b', 'c', 'd', 'nobody']) await session.call(name);
    const { byExecutor, calls } = registry.metrics();
    expect(byExecutor).toMatchObject({
      inline: { calls: 1, succeeded: 1, durationMs: { count: 1 } },
      thread: { calls: 3, succeeded: 3, durationMs: { count: 3 } },
      custom: { calls: 1, succeeded: 1, durationMs: { count: 1 } },
    });
    expect([Object.keys(byExecutor), calls]).toEqual([['inline', 'thread', 'custom'], 6]);
    expect(session.metrics()).toEqual(registry.metrics());
  });

  test('the place of execution at the time, and one count for each tool', async () => {
    const { registry, session } = setup([define('a')]);
    await session.call('a');
    registry.registerOrReplace(
      define('a', {
        executor: {
          kind: 'fleet',
          execute: async () => {
            throw new Error('no');
          },
        },
      }),
    );
    await session.call('a');
    await session.call('a');
    registry.registerOrReplace(define('a', { handler: () => fail('no') }));
    await session.call('a');
    for (const one of [session, registry])
      expect(one.metrics()).toMatchObject({
        calls: 4,
        byTool: {
          a: { calls: 4, succeeded: 1, failed: 3, byReason: { handler_error: 3 } },
        },
        byExecutor: { inline: { calls: 2, failed: 1 }, fleet: { calls: 2, failed: 2 } },
      });
  });

  test('an external tool counts as such', async () => {
    const { registry, session } = setup([define('a', { external: true })]);
    const permission = await session.authorize('a', {});
    if (permission.allowed) await permission.settle({ output: 1 });
    expect(registry.metrics().byExecutor).toMatchObject({ external: { calls: 1 } });
  });

  test('the words are few: sixteen of a tool, a hundred altogether', () => {
    const counters = new Counters(undefined);
    const end = (name: string, runsIn: string): void =>
      countEnd(
        counters.tool({ name, owner: 'host', internals: { runsIn } } as never),
        'succeeded',
        1,
      );
    for (let index = 0; index < 50; index++) end('a', `word${index}`);
    const { byTool, byExecutor } = metricsOf(counters);
    expect(byTool.a?.calls).toBe(50);
    expect(Object.keys(byExecutor)).toHaveLength(16);
    expect(byExecutor.word15?.calls).toBe(35);
    for (let index = 0; index < 200; index++) end(`t${index}`, `place${index}`);
    const many = metricsOf(counters).byExecutor;
    expect(Object.keys(many)).toHaveLength(101);
    expect(many._other?.calls).toBe(116);
  });
});

describe('nothing that a client or a model chooses makes the counts grow without a bound', () => {
  test('unknown names count in the totals only', async () => {
    const { registry, session } = setup([define('a')]);
    for (let index = 0; index < 50; index++) await session.call(`no_${index}`);
    expect(registry.metrics()).toMatchObject({ calls: 50, rejected: 50, byTool: {} });
  });

  test('tools of sessions: a thousand by name; those of the registry all', () => {
    const registry = new Counters(undefined);
    const session = new Counters(registry);
    const internals = { runsIn: 'inline' };
    const end = (name: string, owner: string): void =>
      countEnd(session.tool({ name, owner, internals } as never), 'succeeded', 1);
    for (let index = 0; index < 1_500; index++) end(`s${index}`, 'session');
    for (let index = 0; index < 1_500; index++) end(`h${index}`, 'host');
    for (const one of [session, registry]) {
      expect(one.byTool?.size).toBe(2_500);
      expect(one.others.succeeded).toBe(500);
    }
    for (let index = 0; index < 10_000; index++) end(`h${index}`, 'host');
    expect(registry.byTool?.size).toBe(11_000);
    expect(registry.others.succeeded).toBe(500);
  });

  test('rules: ten thousand ids', async () => {
    const { registry, session } = setup([define('a')]);
    const { counts } = stateOf(session).registry.sessions;
    for (let index = 0; index < 10_000; index++) counts.rule(`r${index}`);
    registry.addRules([{ id: 'one-more', effect: 'allow' }]);
    await session.call('a');
    expect(session.metrics().byRule).toEqual({ 'one-more': { matched: 1, shadow: 0 } });
    expect(counts.byRule?.size).toBe(10_000);
    expect(registry.unusedRules()).toEqual([]);
  });

  test('reasons: a hundred of a tool, a thousand altogether', () => {
    const registry = new Counters(undefined);
    const session = new Counters(registry);
    const internals = { runsIn: 'inline' };
    for (let index = 0; index < 1_500; index++)
      for (const name of ['a', 'b'])
        countReason(session.tool({ name, owner: 'host', internals } as never), `r${index}`);
    for (const one of [session, registry]) {
      expect(one.byReason?.size).toBe(1_000);
      expect([...(one.byReason?.values() ?? [])].every(({ count }) => count === 2)).toBe(true);
      expect(one.byTool?.get('a')?.byReason?.size).toBe(100);
    }
  });
});
