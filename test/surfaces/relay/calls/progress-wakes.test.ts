/** Progress on its way from the application to those agents that listen. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import { progressIn } from '../../../../src/surfaces/relay/calls/apply-and-wake.ts';
import type { CallProgress } from '../../../../src/surfaces/relay/ports/documents.ts';
import { type Listener, listen, relayed, relayWorld, type World } from '../relay-world.ts';

let world: World;
beforeEach(() => {
  world = relayWorld();
});
afterEach(() => world.close());

async function delivered(application: Listener): Promise<void> {
  await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
}

describe('the progress of a call', () => {
  test("goes from the application's node to the call's node, and from there to the agents' nodes", async () => {
    const [calls, applications, agents] = [world.node(), world.node(), world.node()];
    const session = await world.session([relayed('slow')]);
    const application = await listen(applications, session);
    const agent = await listen(agents, session, { side: 'agent' });
    const waiting = calls.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    await delivered(application);
    const report = (progress: CallProgress) =>
      applications.calls.progress(session.code, 'r', progress);
    expect(await report({ done: 1, total: 3, message: 'reading' })).toBe(true);
    expect(await report({ done: 2 })).toBe(true);
    await vi.waitFor(() =>
      expect(agent.of('tool-progress')).toEqual([
        {
          event: 'tool-progress',
          data: { requestId: 'r', done: 1, total: 3, message: 'reading' },
        },
        { event: 'tool-progress', data: { requestId: 'r', done: 2 } },
      ]),
    );
    expect(application.of('tool-progress')).toEqual([]);
    await applications.calls.answer(session.code, 'r', { result: 'done' });
    await waiting;
    // The call is over: nothing of it is told any more.
    expect(await report({ done: 3 })).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(agent.of('tool-progress')).toHaveLength(2);
  });

  test("also ends the wait of an agent's poll, and has no place in the log", async () => {
    const node = world.node();
    const session = await world.session([relayed('slow')]);
    const application = await listen(node, session);
    const { code, expiresAt } = session;
    await node.streams.poll({ code, side: 'agent', expiresAt }, 1, new AbortController().signal);
    void node.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    await delivered(application);
    const polled = node.streams.poll(
      { code, side: 'agent', expiresAt },
      60_000,
      new AbortController().signal,
    );
    const told = polled.then((events) => events);
    let ended = false;
    void told.then(() => {
      ended = true;
    });
    await vi.waitFor(
      async () => {
        await node.calls.progress(code, 'r', { done: 1 });
        expect(ended).toBe(true);
      },
      { interval: 20 },
    );
    const [first] = await told;
    expect(first).toEqual({ event: 'tool-progress', data: { requestId: 'r', done: 1 } });
    await node.calls.answer(code, 'r', { result: 1 });
  });

  test.each(['r-2', '__proto__', 'r {"done":1}', ''])(
    'of the unknown call %j is refused',
    async (id) => {
      const node = world.node();
      const session = await world.session([relayed('slow')]);
      const agent = await listen(node, session, { side: 'agent' });
      const application = await listen(node, session);
      void node.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
      await delivered(application);
      expect(await node.calls.progress(session.code, id, { done: 1 })).toBe(false);
      const foreign = await world.session([relayed('slow')]);
      expect(await node.calls.progress(foreign.code, 'r', { done: 1 })).toBe(false);
      await new Promise((resolve) => setImmediate(resolve));
      expect(agent.of('tool-progress')).toEqual([]);
      await node.calls.answer(session.code, 'r', { result: 1 });
    },
  );

  test('is limited: agents get at most a thousand reports of one call', async () => {
    const node = world.node();
    const session = await world.session([relayed('slow')]);
    const application = await listen(node, session);
    const agent = await listen(node, session, { side: 'agent' });
    const waiting = node.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    await delivered(application);
    for (let done = 0; done < 1_200; done++)
      await node.calls.progress(session.code, 'r', { done, message: 'x'.repeat(256) });
    await node.calls.answer(session.code, 'r', { result: 1 });
    await waiting;
    await vi.waitFor(() => expect(agent.of('tool-result')).toHaveLength(1));
    const heard = agent.of('tool-progress');
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.length).toBeLessThanOrEqual(1_000);
  });
});

test("agents also get the progress of the host's tools, shortened", async () => {
  const node = world.node({
    session: {
      tools: [
        defineTool({
          name: 'count',
          description: 'Counts.',
          parameters: { type: 'object' },
          handler: (_input, { progress }) => {
            progress(1, 2, `line one\nline two ${'x'.repeat(10_000)}`);
            return 'counted';
          },
        }),
      ],
    },
  });
  const session = await world.session();
  const agent = await listen(node, session, { side: 'agent' });
  await node.requests.submit(session, { requestId: 'r', tool: 'count', wait: true });
  await vi.waitFor(() => expect(agent.of('tool-progress')).toHaveLength(1));
  const data = agent.of('tool-progress')[0]?.data;
  expect(data).toMatchObject({ requestId: 'r', done: 1, total: 2 });
  expect(String(data?.message)).toMatch(/^line one line two x+/);
  expect(Buffer.byteLength(String(data?.message))).toBeLessThanOrEqual(256);
});

test('the progress of a direct call to the session is not sent to agents', async () => {
  const node = world.node();
  const session = await world.session([relayed('slow')]);
  const application = await listen(node, session);
  const agent = await listen(node, session, { side: 'agent' });
  const { session: governed } = await node.live.get(session);
  const waiting = governed.call('slow', {}, { idempotencyKey: 'direct' });
  await delivered(application);
  await node.calls.progress(session.code, 'direct', { done: 1 });
  await node.calls.answer(session.code, 'direct', { result: 1 });
  await waiting;
  expect(agent.of('tool-progress')).toEqual([]);
});

test.each(['tools', 'closed', 'call:progress:', undefined] as const)(
  '%j is not read as progress',
  (wake) => {
    expect(progressIn(wake)).toBeUndefined();
  },
);
