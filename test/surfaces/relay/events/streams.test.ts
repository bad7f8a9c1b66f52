/** Streams of a session, over one store and one bus, on a faked clock. */
import { describe, expect, test, vi } from 'vitest';
import { changeSession } from '../../../../src/surfaces/relay/calls/session-document.ts';
import type { StreamEvent } from '../../../../src/surfaces/relay/events/ports.ts';
import { createHub } from '../../../../src/surfaces/relay/hub.ts';
import {
  keys,
  type SessionDocument,
  type Side,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import { type Listener, listen, type Node, relayed } from '../relay-world.ts';
import { kept, on } from '../watched-store.ts';
import {
  call,
  goodbyeOf,
  heartbeatMs,
  ids,
  leaseMs,
  nodeOf,
  pass,
  result,
  streamWorld,
} from './stream-world.ts';

const now = streamWorld();
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

describe('a stream', () => {
  test('starts with connected, then sends missed events, new events and heartbeats', async () => {
    const session = await now.world.session([relayed('x')]);
    await result(now, session, 'missed');
    const agent = await listen(nodeOf(now), session, { side: 'agent', after: 1 });
    await pass(0);
    await result(now, session, 'live');
    await pass(heartbeatMs);
    expect(agent.events.map(({ id, event }) => [id, event])).toEqual([
      [undefined, 'connected'],
      [undefined, 'application-status'],
      [2, 'tool-result'],
      [3, 'tool-result'],
      [undefined, 'heartbeat'],
    ]);
    expect(agent.events[0]?.data).toMatchObject({
      sessionCode: session.code,
      toolsRevision: 1,
      heartbeatMs,
      leaseMs,
    });
  });

  test('of a session that is gone does not open, and leaves nothing behind', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    await on(now.world.store).drop(session.code);
    for (const side of ['application', 'agent'] as const)
      await expect(listen(one, session, { side })).rejects.toMatchObject({ status: 404 });
    expect([one.streams.count, now.ports.listening]).toEqual([0, 0]);
  });

  test.each(['get', 'set application'] as const)(
    'that cannot open because the store fails (%s) leaves nothing behind, not even a lease',
    async (operation) => {
      const one = nodeOf(now);
      const session = await now.world.session();
      now.ports.holdUp(operation, () => Promise.reject(new Error('away')));
      await expect(listen(one, session)).rejects.toMatchObject({ error: 'store_unavailable' });
      await pass(0);
      expect([
        one.streams.count,
        now.ports.listening,
        await on(now.world.store).find(session.code, keys.applicationLease),
      ]).toEqual([0, 0, undefined]);
    },
  );

  test('that cannot read its cursor releases its lease', async () => {
    const session = await now.world.session();
    now.ports.holdUp('set application', () =>
      now.ports.holdUp('get', () => Promise.reject(new Error('away'))),
    );
    await expect(listen(nodeOf(now), session)).rejects.toMatchObject({
      error: 'store_unavailable',
    });
    await pass(0);
    expect(await on(now.world.store).find(session.code, keys.applicationLease)).toBeUndefined();
  });

  test.each(['application', 'agent'] as const)(
    'of the %s costs nothing once it is closed',
    async (side) => {
      const one = nodeOf(now);
      const session = await now.world.session();
      const listener = await listen(one, session, { side });
      await pass(10);
      expect([one.streams.count, now.ports.listening]).toEqual([1, 1]);
      listener.close();
      listener.close();
      await pass(10);
      expect([one.streams.count, now.ports.listening]).toEqual([0, 0]);
      const [operations, events] = [now.ports.operations.length, listener.events.length];
      await pass(60_000);
      // What the node does for all sessions is no stream's.
      expect(
        now.ports.operations
          .slice(operations)
          .filter((operation) => operation.endsWith(session.code)),
      ).toEqual([]);
      expect([listener.events.length, listener.ended]).toEqual([events, false]);
    },
  );

  test('whose sink refuses an event ends silently, and the next stream gets that event', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    // For `connected`, whether an application is, and one result.
    let room = 3;
    const agent = await listen(one, session, { side: 'agent', after: 0, accept: () => room-- > 0 });
    await pass(0);
    for (const id of ['a', 'b', 'c']) await result(now, session, id);
    await pass(heartbeatMs * 3);
    expect(ids(agent.events)).toEqual(['connected', 'a']);
    expect([agent.ended, one.streams.count, now.ports.listening]).toEqual([false, 0, 0]);
    const next = await listen(one, session, { side: 'agent' });
    await pass(0);
    expect(ids(next.events)).toEqual(['connected', 'b', 'c']);
  });

  test('waits for room between events, and reads no more if it is closed while it waits', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    for (const id of ['a', 'b', 'c']) await result(now, session, id);
    const events: StreamEvent[] = [];
    let release = (): void => {};
    const stream = await one.streams.open(
      { code: session.code, side: 'agent', expiresAt: session.expiresAt },
      {
        send: (event) => events.push(event) > 0,
        ready: () => new Promise((resolve) => (release = resolve)),
        end() {},
      },
    );
    await pass(0);
    expect(ids(events)).toEqual(['connected', 'a']);
    release();
    await pass(0);
    expect(ids(events)).toEqual(['connected', 'a', 'b']);
    stream.close();
    await pass(0);
    const before = now.ports.operations.length;
    release();
    await pass(0);
    expect([ids(events), now.ports.operations.length]).toEqual([['connected', 'a', 'b'], before]);
  });

  test('reads the events that came while it was reading', async () => {
    const session = await now.world.session();
    const agent = await listen(nodeOf(now), session, { side: 'agent' });
    await pass(0);
    now.ports.holdUp('get', () => result(now, session, 'b'));
    await result(now, session, 'a');
    await pass(0);
    expect(ids(agent.events)).toEqual(['connected', 'a', 'b']);
  });

  test('gets every event with the heartbeat if the bus loses all messages', async () => {
    const session = await now.world.session();
    now.ports.deaf = true;
    const listeners = [
      await listen(nodeOf(now), session),
      await listen(nodeOf(now), session, { side: 'agent' }),
      await listen(nodeOf(now), session, { side: 'agent' }),
    ];
    await pass(10);
    const id = await call(now, session, 'call-1');
    await result(now, session, 'r');
    await pass(heartbeatMs);
    expect(listeners.map(({ events }) => ids(events))).toEqual([
      ['connected', id],
      ['connected', 'r'],
      ['connected', 'r'],
    ]);
  });

  test('reads at once when the bus says that messages may have been lost', async () => {
    const session = await now.world.session();
    const agent = await listen(nodeOf(now), session, { side: 'agent' });
    now.ports.deaf = true;
    await result(now, session, 'r');
    now.ports.lost();
    await pass(0);
    expect(ids(agent.events)).toEqual(['connected', 'r']);
  });

  test("survives an outage of the store: it logs the outage once, and continues within a lease of the store's return", async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const [application, agent] = [
      await listen(one, session),
      await listen(one, session, { side: 'agent' }),
    ];
    await pass(0);
    now.ports.away = true;
    createHub(kept(now.world.store), () => {}).wake(session.code, 'log:agent');
    await pass(heartbeatMs * 5);
    now.ports.away = false;
    now.ports.deaf = true;
    await result(now, session, 'r');
    const id = await call(now, session, 'call-2');
    await pass(leaseMs);
    expect([ids(application.events), ids(agent.events)]).toEqual([
      ['connected', id],
      ['connected', 'r'],
    ]);
    expect(one.lines.filter((line) => line.includes('could not read'))).toHaveLength(2);
    expect(await on(now.world.store).find(session.code, keys.applicationLease)).toBeDefined();
  });
});

describe('the end of a stream', () => {
  test('by the deletion of the session is announced once', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const listeners = [await listen(one, session), await listen(one, session, { side: 'agent' })];
    await on(now.world.store).drop(session.code);
    one.hub.wake(session.code, 'closed');
    await pass(heartbeatMs * 2);
    for (const listener of listeners)
      expect([goodbyeOf(listener), listener.ended]).toEqual([['session_closed false'], true]);
    expect([one.streams.count, now.ports.listening]).toEqual([0, 0]);
  });

  test('by a deletion without a wake-up is noticed at the heartbeat, and no update is invented', async () => {
    const one = nodeOf(now);
    const session = await now.world.session([relayed('x')]);
    const listeners = [await listen(one, session), await listen(one, session, { side: 'agent' })];
    await pass(10);
    await on(now.world.store).drop(session.code);
    await pass(heartbeatMs);
    for (const listener of listeners) {
      expect([goodbyeOf(listener), listener.ended]).toEqual([['session_closed false'], true]);
      expect(listener.of('tool-availability-update')).toHaveLength(1);
    }
  });

  test('by expiry is announced in time', async () => {
    const one = nodeOf(now);
    const session = await now.world.session(undefined, 5_000);
    const listeners = [await listen(one, session), await listen(one, session, { side: 'agent' })];
    await pass(4_990);
    expect(listeners.map(({ ended }) => ended)).toEqual([false, false]);
    await pass(10);
    for (const listener of listeners)
      expect([goodbyeOf(listener), listener.ended]).toEqual([['session_expired false'], true]);
  });

  test('by expiry waits for the end to which the host has extended the session', async () => {
    const one = nodeOf(now);
    const session = await now.world.session(undefined, 5_000);
    const listener = await listen(one, session, { side: 'agent' });
    const expiresAt = session.expiresAt + 5_000;
    await on(now.world.store).extend(session.code, expiresAt);
    await changeSession(kept(now.world.store), session.code, (one) => ({ ...one, expiresAt }));
    await pass(9_990);
    expect(listener.ended).toBe(false);
    await pass(10);
    expect([goodbyeOf(listener), listener.ended]).toEqual([['session_expired false'], true]);
  });

  test('by expiry waits for an unavailable store, because the host may have extended the session', async () => {
    const one = nodeOf(now);
    const session = await now.world.session(undefined, 5_000);
    const listener = await listen(one, session, { side: 'agent' });
    now.ports.away = true;
    await pass(5_000);
    expect(listener.ended).toBe(false);
    now.ports.away = false;
    await pass(leaseMs);
    expect(goodbyeOf(listener)).toEqual(['session_expired false']);
  });

  test('does not come at once for a session that lasts longer than the longest timer', async () => {
    const one = nodeOf(now);
    const session = await now.world.session(undefined, 2 ** 31 + 10_000);
    const agent = await listen(one, session, { side: 'agent' });
    await pass(heartbeatMs);
    expect(agent.ended).toBe(false);
  });

  test('by a closing node asks the client to reconnect', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const agent = await listen(one, session, { side: 'agent' });
    one.streams.close();
    one.streams.close();
    expect(agent.of('goodbye')).toMatchObject([
      { data: { reason: 'shutting_down', reconnect: true, retryMs: 500 } },
    ]);
    expect([agent.ended, one.streams.count]).toEqual([true, 0]);
    await expect(listen(one, session)).rejects.toMatchObject({
      status: 503,
      error: 'shutting_down',
    });
    const request = { code: session.code, side: 'agent', expiresAt: session.expiresAt } as const;
    await expect(one.streams.poll(request, 0, new AbortController().signal)).rejects.toMatchObject({
      status: 503,
    });
  });

  test.each([
    ['the node closes', (one: Node) => one.streams.close(), 'shutting_down true'],
    [
      'the session is deleted',
      (one: Node, { code }: SessionDocument) => one.hub.wake(code, 'closed'),
      'session_closed false',
    ],
  ])('while it opens, because %s, leaves nothing behind', async (_name, act, goodbye) => {
    const one = nodeOf(now);
    const session = await now.world.session();
    now.ports.holdUp('set application', async () => {
      act(one, session);
      await Promise.resolve();
    });
    const listener = await listen(one, session);
    await pass(heartbeatMs * 3);
    expect([
      goodbyeOf(listener),
      listener.ended,
      listener.of('heartbeat'),
      listener.of('connected'),
    ]).toEqual([[goodbye], true, [], []]);
    expect([
      one.streams.count,
      now.ports.listening,
      await on(now.world.store).find(session.code, keys.applicationLease),
    ]).toEqual([0, 0, undefined]);
  });
});

describe('two connections of the application', () => {
  test('the newer one gets the calls; the older one is told that it was replaced, and loses no call', async () => {
    const session = await now.world.session();
    const first = await listen(nodeOf(now), session);
    await pass(10);
    const second = await listen(nodeOf(now), session);
    await pass(10);
    expect([goodbyeOf(first), first.ended, goodbyeOf(second)]).toEqual([
      ['replaced false'],
      true,
      [],
    ]);
    first.close();
    await pass(leaseMs * 4);
    expect(await on(now.world.store).find(session.code, keys.applicationLease)).toBeDefined();
    const id = await call(now, session, 'call-3');
    await pass(10);
    expect([
      first.of('tool-request').length,
      second.of('tool-request').map(({ data }) => data.requestId),
    ]).toEqual([0, [id]]);
  });

  test('if the wake-up is lost, the older one takes no call of the newer one, and ends', async () => {
    const session = await now.world.session();
    const first = await listen(nodeOf(now), session, { client: 'old' });
    await pass(10);
    now.ports.deaf = true;
    const second = await listen(nodeOf(now), session, { client: 'new' });
    now.ports.deaf = false;
    const id = await call(now, session, 'call-4');
    await pass(0);
    expect([goodbyeOf(first), first.of('tool-request'), ids(second.of('tool-request'))]).toEqual([
      ['replaced false'],
      [],
      [id],
    ]);
    now.ports.deaf = true;
    const third = await listen(nodeOf(now), session, { client: 'newest' });
    await pass(leaseMs);
    expect([goodbyeOf(second), goodbyeOf(third)]).toEqual([['replaced false'], []]);
  });

  test('that open at the same time: exactly one gets each call', async () => {
    const session = await now.world.session();
    const nodes = [nodeOf(now), nodeOf(now)];
    const known = [await call(now, session, 'call-5'), await call(now, session, 'call-6')];
    const both = await Promise.all(
      [0, 1, 0, 1].map((index) => listen(nodes[index] as Node, session, { client: 'same' })),
    );
    await pass(leaseMs);
    expect(both.filter(({ ended }) => !ended)).toHaveLength(1);
    const id = await call(now, session, 'call-7');
    await pass(10);
    expect(both.flatMap(({ events }) => ids(events).filter((one) => one === id))).toEqual([id]);
    const last = both.find(({ ended }) => !ended) as Listener;
    expect(ids(last.of('tool-request'))).toEqual([...known, id]);
  });

  test('of which one lost its lease while the store was unavailable: that one takes it again', async () => {
    const session = await now.world.session();
    const application = await listen(nodeOf(now), session);
    await pass(10);
    now.ports.away = true;
    await pass(leaseMs * 5);
    now.ports.away = false;
    expect(await on(now.world.store).find(session.code, keys.applicationLease)).toBeUndefined();
    await pass(leaseMs);
    expect([
      goodbyeOf(application),
      await on(now.world.store).find(session.code, keys.applicationLease),
    ]).toEqual([[], expect.anything()]);
    const id = await call(now, session, 'call-8');
    await pass(10);
    expect(ids(application.of('tool-request'))).toEqual([id]);
  });
});

describe('calls and connections', () => {
  test('open calls are delivered again to a new connection with a growing attempt; answered ones are not', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const [open, answered] = [
      await call(now, session, 'call-9'),
      await call(now, session, 'call-10'),
    ];
    await one.calls.answer(session.code, answered, { result: 1 });
    for (const attempt of [1, 2, 3]) {
      const application = await listen(one, session, { client: 'same' });
      await pass(10);
      expect(
        application.of('tool-request').map(({ data }) => [data.requestId, data.attempt]),
      ).toEqual([[open, attempt]]);
      application.close();
    }
  });

  test('calls whose deadline has passed are not delivered to a new connection', async () => {
    const session = await now.world.session();
    await call(now, session, 'call-11', { deadline: Date.now() });
    const application = await listen(nodeOf(now), session);
    await pass(leaseMs);
    expect(application.of('tool-request')).toEqual([]);
  });

  test.each([3_600_000, -3_600_000])(
    'calls are delivered to a connection that listens when the clock jumps by %i ms',
    async (jump) => {
      const session = await now.world.session(undefined, 86_400_000);
      let skew = 0;
      const one = nodeOf(now, { now: () => Date.now() + skew });
      const application = await listen(one, session);
      await pass(10);
      skew = jump;
      const id = await call(now, session, 'call-12');
      await pass(10);
      expect(ids(application.of('tool-request'))).toEqual([id]);
      await pass(heartbeatMs * 3);
      expect(application.ended).toBe(false);
    },
  );
});

describe('changes of tools', () => {
  test('that no client heard are delivered once and in order; more than 100 become one', async () => {
    const one = nodeOf(now);
    let session = await now.world.session([relayed('t0')]);
    for (let index = 1; index <= 3; index++)
      session = await now.world.tools(session, [relayed(`t${index}`)], `change ${index}`);
    for (const side of ['application', 'agent'] as const) {
      const listener = await listen(one, session, { side });
      await pass(10);
      expect(listener.of('tool-availability-update').map(({ data }) => data.reason)).toEqual([
        'registered',
        'change 1',
        'change 2',
        'change 3',
      ]);
      listener.close();
      await pass(10);
      const next = await listen(one, session, { side });
      await pass(10);
      expect(next.of('tool-availability-update')).toEqual([]);
      next.close();
    }
    for (let index = 1; index <= 101; index++)
      session = await now.world.tools(session, [relayed(`u${index}`)], `change ${index}`);
    const listener = await listen(one, session, { side: 'agent' });
    await pass(10);
    expect(listener.of('tool-availability-update')).toMatchObject([
      {
        data: {
          reason: 'change 101',
          updates: { added: [{ name: 'u101' }], removed: ['t3'], modified: [] },
        },
      },
    ]);
  });

  test('of another session are never delivered, whatever place a client claims', async () => {
    const one = nodeOf(now);
    await now.world.session([relayed('theirs')]);
    const session = await now.world.session([relayed('ours')]);
    const agent = await listen(one, session, { side: 'agent', after: 999 });
    await pass(10);
    expect(agent.of('tool-availability-update')).toMatchObject([
      { id: 1, data: { reason: 'resync', resync: true } },
    ]);
    expect(JSON.stringify(agent.events)).not.toContain('theirs');
  });
});

describe('the cost of streams', () => {
  test('a wake-up costs only its own session, even with a thousand open streams', async () => {
    vi.useRealTimers();
    const one = now.world.node({ leaseMs: 30_000 });
    const sessions = await Promise.all(Array.from({ length: 500 }, () => now.world.session()));
    const open = (side: Side) => sessions.map((session) => listen(one, session, { side }));
    const listeners = await Promise.all([...open('application'), ...open('agent')]);
    await settled();
    expect([one.streams.count, now.ports.listening]).toEqual([1_000, 500]);
    const [target] = sessions as [SessionDocument];
    const before = now.ports.operations.length;
    await result(now, target, 'r');
    await settled();
    const touched = now.ports.operations.slice(before);
    // The test writes a document and an entry; the stream reads the log and the result.
    expect(touched).toEqual(
      ['set request:r', 'append', 'read', 'get request:r'].map((name) => `${name} ${target.code}`),
    );
    for (const { close } of listeners) close();
    await settled();
    expect([one.streams.count, now.ports.listening]).toEqual([0, 0]);
  });

  test('an idle stream costs only its heartbeat and the renewals of its lease', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    await listen(one, session);
    await listen(one, session, { side: 'agent' });
    await pass(10);
    const before = now.ports.operations.length;
    await pass(heartbeatMs * 30);
    const count = new Map<string, number>();
    for (const operation of now.ports.operations
      .slice(before)
      .filter((each) => each.endsWith(session.code)))
      count.set(operation, (count.get(operation) ?? 0) + 1);
    const renewals = (heartbeatMs * 30) / (leaseMs / 3);
    // Whether an application is connected is looked at when its lease would end.
    const looks = count.get(`get application ${session.code}`) ?? 0;
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(renewals / 2 + 2);
    count.delete(`get application ${session.code}`);
    expect(Object.fromEntries(count)).toEqual({
      [`read ${session.code}`]: 60,
      [`get session ${session.code}`]: 30,
      [`touch application ${session.code}`]: renewals + 30,
    });
  });
});
