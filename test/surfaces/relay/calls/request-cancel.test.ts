/** What happens to a request that its agent cancels, on the node that runs it and on another. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import { listen, type Node, relayed, relayWorld, type World } from '../relay-world.ts';
import { on, watchedStore } from '../watched-store.ts';

let world: World;
beforeEach(() => {
  world = relayWorld();
});
afterEach(() => world.close());

const cancelled = { success: false, error: { code: 'cancelled' } };

/** A tool of the host that ends when its signal aborts. */
function waitingTool(seen: { aborted: boolean; started: boolean }) {
  return defineTool({
    name: 'wait',
    description: 'Waits.',
    parameters: { type: 'object' },
    handler: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        seen.started = true;
        signal.addEventListener('abort', () => {
          seen.aborted = true;
          reject(signal.reason);
        });
      }),
  });
}

describe('a cancelled call to the application', () => {
  test('ends as cancelled, and the application and waiting clients learn of it', async () => {
    const node = world.node();
    const session = await world.session([relayed('slow')]);
    const application = await listen(node, session);
    const agent = await listen(node, session, { side: 'agent' });
    const waiting = node.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
    expect(await node.requests.cancel(session, 'r')).toEqual({
      requestId: 'r',
      status: 'done',
      result: {
        success: false,
        error: {
          code: 'cancelled',
          message: 'The agent cancelled the call to `slow`. It may have run.',
          retryable: true,
        },
        metadata: {
          callId: 'r',
          toolName: 'slow',
          status: 'cancelled',
          attempt: 1,
          durationMs: expect.any(Number),
        },
      },
    });
    expect(await waiting).toMatchObject({ requestId: 'r', result: cancelled });
    await vi.waitFor(() => {
      expect(application.of('tool-cancel')).toMatchObject([
        { data: { requestId: 'r', reason: 'cancelled' } },
      ]);
      expect(agent.of('tool-result')).toMatchObject([
        { data: { requestId: 'r', result: cancelled } },
      ]);
    });
  });

  test('is aborted on the node that runs it, whichever node gets the cancellation', async () => {
    const [one, other] = [world.node(), world.node()];
    const session = await world.session([relayed('slow')]);
    const application = await listen(other, session);
    const settled: string[] = [];
    const waiting = one.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
    const { session: governed } = await one.live.get(session);
    governed.events.on('tool:error', ({ status }) => void settled.push(status));
    expect(await other.requests.cancel(session, 'r')).toMatchObject({ result: cancelled });
    expect(await waiting).toMatchObject({ result: cancelled });
    await vi.waitFor(() => expect(settled).toEqual(['cancelled']));
    await vi.waitFor(() => expect(application.of('tool-cancel')).toHaveLength(1));
  });

  test('can be cancelled again with the same result, and a late answer changes nothing', async () => {
    const node = world.node();
    const session = await world.session([relayed('slow')]);
    const application = await listen(node, session);
    await node.requests.submit(session, { requestId: 'r', tool: 'slow', wait: false });
    await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
    const first = await node.requests.cancel(session, 'r');
    expect(await node.calls.answer(session.code, 'r', { result: 'late' })).toBe(true);
    expect(await node.requests.cancel(session, 'r')).toEqual(first);
    expect(await node.requests.status(session.code, 'r')).toEqual(first);
    expect(application.of('tool-cancel')).toHaveLength(1);
  });

  test('that is done keeps its result, and the application gets no cancellation', async () => {
    const node = world.node();
    const session = await world.session([relayed('echo')]);
    const application = await listen(node, session, { answer: () => 'said' });
    await node.requests.submit(session, { requestId: 'r', tool: 'echo', wait: true });
    expect(await node.requests.cancel(session, 'r')).toMatchObject({
      status: 'done',
      result: { success: true, output: 'said' },
    });
    expect(application.of('tool-cancel')).toEqual([]);
  });

  test.each(['r-2', '__proto__', 'constructor', ''])(
    'with the unknown id %j is not found',
    async (id) => {
      const node = world.node();
      const session = await world.session([relayed('echo')]);
      expect(await node.requests.cancel(session, id)).toBeUndefined();
    },
  );

  test('of another session is not found, and goes on', async () => {
    const node = world.node();
    const session = await world.session([relayed('slow')]);
    const foreign = await world.session([relayed('slow')]);
    const application = await listen(node, session);
    const waiting = node.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
    expect(await node.requests.cancel(foreign, 'r')).toBeUndefined();
    await node.calls.answer(session.code, 'r', { result: 'here' });
    expect(await waiting).toMatchObject({ result: { success: true, output: 'here' } });
  });

  test('is cancelled once, however many cancellations come at the same time', async () => {
    const nodes: Node[] = [world.node(), world.node(), world.node()];
    const session = await world.session([relayed('slow')]);
    const application = await listen(nodes[0] as Node, session);
    const agent = await listen(nodes[0] as Node, session, { side: 'agent' });
    await nodes[1]?.requests.submit(session, { requestId: 'r', tool: 'slow', wait: false });
    await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
    const told = await Promise.all(
      Array.from({ length: 12 }, (_, at) => nodes[at % 3]?.requests.cancel(session, 'r')),
    );
    for (const one of told) expect(one).toMatchObject({ status: 'done', result: cancelled });
    await vi.waitFor(() => expect(agent.of('tool-result')).toHaveLength(1));
    expect(application.of('tool-cancel')).toHaveLength(1);
  });
});

describe("a cancelled call to the host's tool", () => {
  test('gets its signal aborted, also from another node', async () => {
    const seen = { aborted: false, started: false };
    const node = world.node({ session: { tools: [waitingTool(seen)] } });
    const session = await world.session();
    const waiting = node.requests.submit(session, { requestId: 'r', tool: 'wait', wait: true });
    await vi.waitFor(() => expect(seen.started).toBe(true));
    await world.node().requests.cancel(session, 'r');
    expect(await waiting).toMatchObject({ result: cancelled });
    await vi.waitFor(() => expect(seen.aborted).toBe(true));
  });

  test('gets its signal aborted even if no message arrives', async () => {
    const watched = watchedStore();
    watched.deaf = true;
    const deaf = relayWorld(watched.store);
    const seen = { aborted: false, started: false };
    const node = deaf.node({ session: { tools: [waitingTool(seen)] }, leaseMs: 100 });
    const session = await deaf.session();
    const waiting = node.requests.submit(session, { requestId: 'r', tool: 'wait', wait: true });
    await vi.waitFor(() => expect(seen.started).toBe(true));
    await deaf.node().requests.cancel(session, 'r');
    await vi.waitFor(() => expect(seen.aborted).toBe(true));
    expect(await waiting).toMatchObject({ result: cancelled });
    await deaf.close();
  });
});

const asking = {
  approvalMode: 'suspend',
  approvals: { secret: 'a secret of thirty-two characters!' },
  rules: [{ effect: 'ask', tools: 'act' }],
} as const;
const notRun = {
  result: {
    error: {
      code: 'cancelled',
      message:
        'The agent cancelled the call to `act` while it waited for approval. It has not run.',
    },
  },
};

describe('a cancelled call that waits for approval', () => {
  test.each([
    ['by default', {}],
    ['with four eyes', { fourEyes: true }],
  ])('says that it has not run (%s)', async (_how, approvals) => {
    const node = world.node({
      session: { ...asking, approvals: { ...asking.approvals, ...approvals } },
    });
    const session = await world.session([relayed('act')]);
    await node.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
    const { session: governed } = await node.live.get(session);
    expect(await governed.approvals.pending()).toHaveLength(1);
    expect(await node.requests.cancel(session, 'r')).toMatchObject(notRun);
    expect(await governed.approvals.pending()).toEqual([]);
    expect(await node.requests.cancel(session, 'r')).toMatchObject(notRun);
    expect(await node.requests.status(session.code, 'r')).toMatchObject(notRun);
  });

  test('says that it may have run if the host has answered it by other means', async () => {
    let ran = 0;
    const act = defineTool({
      name: 'act',
      description: 'Acts.',
      parameters: { type: 'object' },
      handler: () => ++ran,
    });
    const node = world.node({ session: { ...asking, tools: [act] } });
    const session = await world.session();
    await node.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
    const { session: governed } = await node.live.get(session);
    const [asked] = await governed.approvals.pending();
    await governed.approvals.resume(asked?.token ?? '', { decision: 'allow_once' });
    expect(ran).toBe(1);
    expect(await node.requests.cancel(session, 'r')).toMatchObject({
      result: { error: { message: 'The agent cancelled the call to `act`. It may have run.' } },
    });
  });

  test('is either cancelled or answered, if both happen at once', async () => {
    const node = world.node({ session: asking });
    const session = await world.session([relayed('act')]);
    const application = await listen(node, session, { answer: () => 'done' });
    for (const id of ['a', 'b', 'c', 'd']) {
      await node.requests.submit(session, { requestId: id, tool: 'act', wait: true });
      const { session: governed } = await node.live.get(session);
      const [asked] = await governed.approvals.pending();
      const before = application.of('tool-request').length;
      await Promise.all([
        node.requests.decide(session, asked?.id ?? '', { decision: 'allow_once' }),
        node.requests.cancel(session, id),
      ]);
      const status = await node.requests.status(session.code, id);
      const delivered = application.of('tool-request').length - before;
      const message = status?.result?.success === false ? status.result.error.message : '';
      if (message.includes('It has not run')) expect(delivered).toBe(0);
      else expect(message).not.toContain('token');
    }
  });
});

test('a cancelled call that waits for approval is never run by an answer', async () => {
  const node = world.node({ session: asking });
  const session = await world.session([relayed('act')]);
  const application = await listen(node, session);
  const agent = await listen(node, session, { side: 'agent' });
  await node.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
  await vi.waitFor(() => expect(agent.of('approval-required')).toHaveLength(1));
  const approvalId = String(agent.of('approval-required')[0]?.data.approvalId);
  const { session: governed } = await node.live.get(session);
  expect(await node.requests.cancel(session, 'r')).toMatchObject({ result: cancelled });
  expect(
    await node.requests.decide(session, approvalId, { decision: 'allow_once' }),
  ).toBeUndefined();
  await vi.waitFor(async () => expect(await governed.approvals.pending()).toEqual([]));
  expect(application.of('tool-request')).toEqual([]);
  expect(await node.requests.status(session.code, 'r')).toMatchObject({ result: cancelled });
});

test('nothing of a cancelled request is left running or scheduled', async () => {
  const node = world.node();
  const session = await world.session([relayed('slow')]);
  const application = await listen(node, session);
  const waiting = node.requests.submit(session, {
    requestId: 'r',
    tool: 'slow',
    args: { s: 'SECRET' },
    wait: true,
  });
  await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
  await node.requests.cancel(session, 'r');
  await waiting;
  await vi.waitFor(async () => {
    const [call, request] = await on(world.store).get(session.code, [
      keys.call('r'),
      keys.request('r'),
    ]);
    expect(JSON.parse(call?.value ?? '{}')).toMatchObject({ state: 'ended' });
    expect(request?.value).not.toContain('SECRET');
    expect(await world.store.due(10, 1)).toEqual([]);
  });
});
