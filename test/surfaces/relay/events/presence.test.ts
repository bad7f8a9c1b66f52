/** What agents hear of whether an application is connected. */
import { describe, expect, test } from 'vitest';
import { createPresence } from '../../../../src/surfaces/relay/events/presence.ts';
import type { Hub } from '../../../../src/surfaces/relay/hub.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import { type Listener, listen } from '../relay-world.ts';
import { on } from '../watched-store.ts';
import { heartbeatMs, leaseMs, nodeOf, pass, streamWorld } from './stream-world.ts';

const now = streamWorld();
const heard = (agent: Listener) =>
  agent.of('application-status').map(({ id, data }) => {
    expect([id, typeof data.timestamp]).toEqual([undefined, 'string']);
    return data.connected;
  });

describe('agents', () => {
  test('on every node learn whether an application is connected when they connect and at each change', async () => {
    const session = await now.world.session();
    const [one, other] = [nodeOf(now), nodeOf(now)];
    const early = await listen(one, session, { side: 'agent' });
    await pass(0);
    expect(heard(early)).toEqual([false]);
    const application = await listen(other, session);
    await pass(0);
    const late = await listen(other, session, { side: 'agent' });
    await pass(0);
    expect([heard(early), heard(late)]).toEqual([[false, true], [true]]);
    application.close();
    await pass(0);
    expect([heard(early), heard(late)]).toEqual([
      [false, true, false],
      [true, false],
    ]);
    expect(application.of('application-status')).toEqual([]);
  });

  test('get no event while an application stays connected or is replaced', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const agent = await listen(one, session, { side: 'agent' });
    await listen(one, session);
    await pass(0);
    await listen(nodeOf(now), session);
    await pass(leaseMs * 20);
    expect(heard(agent)).toEqual([false, true]);
  });

  test("learn within a lease that the application's node has died", async () => {
    const session = await now.world.session();
    const agent = await listen(nodeOf(now), session, { side: 'agent' });
    await on(now.world.store).lease(session.code, keys.applicationLease, 'dead', leaseMs);
    await pass(heartbeatMs);
    await on(now.world.store).lease(session.code, keys.applicationLease, 'dead', leaseMs);
    await pass(heartbeatMs * 2);
    expect(heard(agent).at(-1)).toBe(false);
  });

  test('get no event while the store is unavailable', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const agent = await listen(one, session, { side: 'agent' });
    await listen(one, session);
    await pass(0);
    now.ports.away = true;
    await pass(leaseMs * 2);
    expect(heard(agent)).toEqual([false, true]);
    now.ports.away = false;
    await pass(heartbeatMs * 2);
    expect(heard(agent).at(-1)).toBe(true);
  });

  test('that poll learn of a change while they wait, but not of the state before', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const { code, expiresAt } = session;
    const poll = () =>
      one.streams.poll({ code, side: 'agent', expiresAt }, 60_000, new AbortController().signal);
    const waiting = poll();
    await pass(10);
    await listen(one, session);
    await pass(10);
    expect(await waiting).toMatchObject([
      { event: 'application-status', data: { connected: true } },
    ]);
  });

  test('of one session share one lookup of its lease', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    for (let agents = 0; agents < 20; agents++) await listen(one, session, { side: 'agent' });
    await pass(0);
    const looks = now.ports.operations.filter((each) => each === `get application ${session.code}`);
    expect(looks.length).toBeLessThanOrEqual(2);
  });

  test('that disconnect leave nothing behind', async () => {
    const session = await now.world.session();
    const one = nodeOf(now);
    const agents = [
      await listen(one, session, { side: 'agent' }),
      await listen(one, session, { side: 'agent' }),
    ];
    await pass(0);
    for (const agent of agents) agent.close();
    await pass(0);
    expect(now.ports.listening).toBe(0);
    const before = now.ports.operations.length;
    await pass(heartbeatMs * 5);
    expect(
      now.ports.operations.slice(before).filter((each) => each.startsWith('get application')),
    ).toEqual([]);
  });

  test('of one session all get the error of a failed subscription, and the next agent subscribes again', async () => {
    const session = await now.world.session();
    const { settings, hub } = nodeOf(now);
    let fails = true;
    const watch: Hub['watch'] = async (code, listener) => {
      if (fails) throw new Error('The bus is away.');
      return hub.watch(code, listener);
    };
    const presence = createPresence(settings, { ...hub, watch });
    const seen: boolean[] = [];
    const follow = () => presence.watch(session.code, (connected) => seen.push(connected));
    const outcomes = await Promise.allSettled([follow(), follow()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    const stop = await follow();
    await pass(0);
    expect(seen).toEqual([false]);
    stop();
    await pass(0);
    expect(now.ports.listening).toBe(0);
  });
});
