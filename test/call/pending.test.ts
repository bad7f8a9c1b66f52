import { describe, expect, test, vi } from 'vitest';
import { pendingOf } from '../../src/call/pending.ts';
import type { ApprovalStore, JsonObject } from '../../src/index.ts';
import { stateOf } from '../../src/session.ts';
import { key, suspending, suspendOne } from '../approval/kit.ts';

/** A store that gives all it has to whoever asks, as `change` makes it. */
const sharing = (change: (record: JsonObject) => JsonObject = (record) => record) => {
  const records: JsonObject[] = [];
  const list = vi.fn(() => records.map(change));
  const store: ApprovalStore = { put: (record) => void records.push(record), take: () => undefined, list };
  return { store, list };
};

describe('the suspended calls of a session', () => {
  test('are asked of no store for a session that has nobody', async () => {
    const { store, list } = sharing();
    const { registry } = suspending({ store });
    expect(await registry.createSession({ sessionId: 'conversation' }).approvals.pending()).toEqual([]);
    expect(list).not.toHaveBeenCalled();
  });

  test('are those of its own id and principal, whatever the store gives', async () => {
    const { store } = sharing();
    const bench = suspending({ store });
    await suspendOne(bench);
    const others = [
      { sessionId: 'conversation', principal: 'user:bob' },
      { sessionId: 'other', principal: 'user:ann' },
    ];
    for (const other of others) expect(await bench.registry.createSession(other).approvals.pending()).toEqual([]);
    expect(await bench.session.approvals.pending()).toHaveLength(1);
  });

  test.each<[string, (record: JsonObject) => unknown]>([
    ['of another principal', (record) => ({ ...record, principal: 'user:bob' })],
    ['without a principal', ({ principal: _principal, ...record }) => record],
    ['that only inherit theirs', (record) => Object.assign(Object.create({ principal: record.principal }), { ...record, principal: undefined })],
    ['that are none', () => 'record'],
    ['that are null', () => null],
    ['whose input is another', (record) => ({ ...record, input: { amount: 1 } })],
  ])('are no records %s', async (_, change) => {
    const { store } = sharing(change as never);
    const bench = suspending({ store });
    await suspendOne(bench);
    expect(await bench.session.approvals.pending()).toEqual([]);
  });

  test('end with their time, to the millisecond', async () => {
    const { store } = sharing();
    const bench = suspending({ store });
    const { expiresAt } = await suspendOne(bench);
    const left = expiresAt - bench.clock.now();
    bench.clock.advance(left - 1);
    expect(await bench.session.approvals.pending()).toHaveLength(1);
    bench.clock.advance(1);
    expect(await bench.session.approvals.pending()).toEqual([]);
  });

  test('are looked for no further than is asked, and are frozen', async () => {
    const { store } = sharing();
    const bench = suspending({ store });
    for (const callId of ['1', '2', '3']) await suspendOne(bench, { amount: 5 }, callId);
    expect((await pendingOf(stateOf(bench.session), 2)).map(({ callId }) => callId)).toEqual(['1', '2']);
    const all = await pendingOf(stateOf(bench.session));
    expect(all).toHaveLength(3);
    expect(Object.isFrozen(all[0]) && Object.isFrozen(all[0]?.input)).toBe(true);
  });

  test('that another secret signed are not genuine', async () => {
    const { store } = sharing();
    await suspendOne(suspending({ store, secret: `another-${key}` }));
    expect(await suspending({ store }).session.approvals.pending()).toEqual([]);
  });
});
