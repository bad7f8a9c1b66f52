/** Polls of a session, over one store and one bus, on a faked clock. */
import { describe, expect, test } from 'vitest';
import { changeSession } from '../../../../src/surfaces/relay/calls/session-document.ts';
import type { StreamEvent } from '../../../../src/surfaces/relay/events/ports.ts';
import {
  keys,
  type LogRecord,
  type SessionDocument,
  type Side,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import { listen, type Node } from '../relay-world.ts';
import { kept, on } from '../watched-store.ts';
import { append, call, ids, leaseMs, nodeOf, pass, result, streamWorld } from './stream-world.ts';

const now = streamWorld();
const poll = (
  on: Node,
  { code, expiresAt }: SessionDocument,
  more: { side?: Side; after?: number; client?: string; continues?: boolean } = {},
  waitMs = 1_000,
  signal = new AbortController().signal,
) => on.streams.poll({ code, expiresAt, side: 'application', ...more }, waitMs, signal);

describe('a poll', () => {
  test('returns the events after a place at once', async () => {
    const session = await now.world.session();
    for (const id of ['a', 'b', 'c']) await result(now, session, id);
    const one = nodeOf(now);
    expect(ids(await poll(one, session, { side: 'agent', after: 1 }))).toEqual(['b', 'c']);
    expect(ids(await poll(one, session, { side: 'agent' }, 0))).toEqual([]);
    expect([one.streams.count, now.ports.listening]).toEqual([0, 0]);
  });

  test('waits for the first event, but not longer than its time', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const first = poll(one, session, { side: 'agent' });
    await pass(500);
    await result(now, session, 'r');
    expect(ids(await first)).toEqual(['r']);
    let empty: readonly StreamEvent[] | undefined;
    void poll(one, session, { side: 'agent' }).then((events) => {
      empty = events;
    });
    await pass(990);
    expect(empty).toBeUndefined();
    await pass(10);
    expect([empty, one.streams.count, now.ports.listening]).toEqual([[], 0, 0]);
  });

  test.each(['application', 'agent'] as const)('of the %s ends with the session', async (side) => {
    const session = await now.world.session(undefined, 500);
    let events: readonly StreamEvent[] | undefined;
    void poll(nodeOf(now), session, { side }).then((given) => {
      events = given;
    });
    await pass(490);
    expect(events).toBeUndefined();
    await pass(10);
    expect(events).toEqual([
      { event: 'goodbye', data: { reason: 'session_expired', reconnect: false } },
    ]);
  });

  test('continues if the host has extended its session', async () => {
    const session = await now.world.session(undefined, 500);
    const events = poll(nodeOf(now), session, { side: 'agent' });
    const expiresAt = session.expiresAt + 60_000;
    await on(now.world.store).extend(session.code, expiresAt);
    await changeSession(kept(now.world.store), session.code, (one) => ({ ...one, expiresAt }));
    await pass(1_000);
    expect(await events).toEqual([]);
  });

  test('returns by its end the events whose wake-ups a bus lost', async () => {
    const session = await now.world.session();
    now.ports.deaf = true;
    const waiting = poll(nodeOf(now), session, { side: 'agent' });
    await pass(10);
    await result(now, session, 'r');
    await pass(1_000);
    expect(ids(await waiting)).toEqual(['r']);
  });

  test.each([false, true])(
    'ends when its client disconnects (before the poll began: %s)',
    async (before) => {
      const session = await now.world.session();
      const controller = new AbortController();
      if (before) controller.abort();
      const waiting = poll(nodeOf(now), session, {}, 60_000, controller.signal);
      await pass(10);
      controller.abort();
      expect(await waiting).toEqual([]);
    },
  );

  test('ends with a goodbye if its connection is over', async () => {
    const session = await now.world.session();
    const [one, other] = [nodeOf(now), nodeOf(now)];
    const first = poll(one, session);
    await pass(10);
    const second = poll(other, session);
    expect(await first).toMatchObject([
      { event: 'goodbye', data: { reason: 'replaced', reconnect: false } },
    ]);
    await pass(10);
    other.streams.close();
    expect(await second).toMatchObject([
      { event: 'goodbye', data: { reason: 'shutting_down', reconnect: true } },
    ]);
    const third = poll(one, session);
    await pass(10);
    await on(now.world.store).drop(session.code);
    one.hub.wake(session.code, 'closed');
    expect(await third).toMatchObject([
      { event: 'goodbye', data: { reason: 'session_closed', reconnect: false } },
    ]);
    await expect(poll(one, session)).rejects.toMatchObject({ status: 404 });
  });

  test('finds out without a wake-up that it was replaced', async () => {
    const session = await now.world.session();
    now.ports.deaf = true;
    const first = poll(nodeOf(now), session, {}, 60_000);
    await pass(10);
    await listen(nodeOf(now), session);
    await pass(leaseMs);
    expect(await first).toMatchObject([{ event: 'goodbye', data: { reason: 'replaced' } }]);
  });

  test('that continues takes no calls from an application that connected in between', async () => {
    const session = await now.world.session();
    const [one, other] = [nodeOf(now), nodeOf(now)];
    expect(await poll(one, session, { client: 'a' }, 0)).toEqual([]);
    // Its client pauses before the next one.
    const second = poll(other, session, { client: 'b' }, 60_000);
    await pass(10);
    expect(await poll(one, session, { client: 'a', continues: true })).toEqual([
      { event: 'goodbye', data: { reason: 'replaced', reconnect: false } },
    ]);
    await call(now, session, 'c');
    expect(ids(await second)).toEqual(['c']);
    const again = await poll(other, session, { client: 'b', continues: true, after: 1 }, 0);
    expect(again).toEqual([]);
  });

  test('keeps the application connected until the next one is due', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const present = () => on(now.world.store).find(session.code, keys.applicationLease);
    const first = poll(one, session, {}, leaseMs * 5 - 10);
    for (let beat = 0; beat < 4; beat++) {
      await pass(leaseMs - 1);
      expect(await present()).toBeDefined();
    }
    await pass(leaseMs - 6);
    expect(await first).toEqual([]);
    await pass(leaseMs - 1);
    expect(await present()).toBeDefined();
    await pass(2);
    expect(await present()).toBeUndefined();
  });

  test('whose answer was lost is repeated by the next one', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const id = await call(now, session, 'call-1');
    expect(await poll(one, session, { after: 0, client: 'c' })).toMatchObject([
      { data: { requestId: id, attempt: 1 } },
    ]);
    const [again] = await poll(one, session, { after: 0, client: 'c' });
    expect(again).toMatchObject({ data: { requestId: id, attempt: 2 } });
    expect(await poll(one, session, { after: again?.id as number, client: 'c' }, 0)).toEqual([]);
  });

  test.each([
    [1_000, ['log']],
    [60_000, ['late', 'log']],
  ])('that a slow store delays returns no call after its deadline (%i ms)', async (ms, given) => {
    const session = await now.world.session();
    const one = nodeOf(now);
    await call(now, session, 'late', { deadline: Date.now() + ms });
    await append(now, session, { kind: 'cancel', id: 'log', reason: 'timeout' }, 'application');
    // The first write is the claim of the call, the second one stores how far the side has read.
    const wait = () => new Promise((resolve) => setTimeout(resolve, 2_000));
    now.ports.holdUp('set', () => now.ports.holdUp('set', wait));
    const events = poll(one, session, { after: 0, client: 'c' });
    await pass(3_000);
    expect(ids(await events)).toEqual(given);
  });

  test('leaves events above 1 MB for the next one', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const record: LogRecord = {
      kind: 'approval',
      approvalId: 'a',
      id: 'r',
      title: 'x'.repeat(600_000),
    };
    for (let index = 0; index < 5; index++) await append(now, session, record);
    const lengths: number[] = [];
    for (let round = 0; round < 4; round++)
      lengths.push((await poll(one, session, { side: 'agent' }, 0)).length);
    expect(lengths).toEqual([2, 2, 1, 0]);
  });

  test('rejects if the store fails, and leaves nothing behind', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const waiting = poll(one, session, { side: 'agent' });
    const outcome = expect(waiting).rejects.toMatchObject({ error: 'store_unavailable' });
    await pass(10);
    now.ports.holdUp('read', () => Promise.reject(new Error('away')));
    await result(now, session, 'r');
    await outcome;
    expect([one.streams.count, now.ports.listening]).toEqual([0, 0]);
  });
});
