/** Requests of agents, from the spine to the application and back, on one node and on two. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { defineTool, memoryStore, type ToolResult } from '../../../../src/index.ts';
import { keys, type SessionDocument } from '../../../../src/surfaces/relay/ports/documents.ts';
import { listen, relayed, relayWorld, type World } from '../relay-world.ts';
import { beforeOp, on, watchedStore } from '../watched-store.ts';

let world: World;
beforeEach(() => {
  world = relayWorld();
});
afterEach(() => world.close());

const resultOf = (submitted: object): ToolResult => (submitted as { result: ToolResult }).result;

describe('a request', () => {
  test('reaches the application, and its answer is the result', async () => {
    const node = world.node();
    const session = await world.session([relayed('double')]);
    const application = await listen(node, session, {
      answer: ({ args }) => ({ twice: Number(args.n) * 2 }),
    });
    const submitted = await node.requests.submit(session, {
      requestId: 'r-1',
      tool: 'double',
      args: { n: 21 },
      wait: true,
    });
    expect(submitted).toMatchObject({
      requestId: 'r-1',
      result: {
        success: true,
        output: { twice: 42 },
        metadata: { callId: 'r-1', toolName: 'double' },
      },
    });
    expect(application.of('tool-request')).toMatchObject([
      { id: 2, data: { requestId: 'r-1', tool: 'double', args: { n: 21 }, attempt: 1 } },
    ]);
    expect(await node.requests.status(session.code, 'r-1')).toMatchObject({
      requestId: 'r-1',
      status: 'done',
      result: { success: true },
    });
  });

  test.each([0, false, '', null, [], { a: [1] }])('may be answered by %j', async (value) => {
    const node = world.node();
    const session = await world.session([relayed('echo')]);
    await listen(node, session, { answer: () => value });
    expect(
      resultOf(await node.requests.submit(session, { tool: 'echo', wait: true })),
    ).toMatchObject({ success: true, output: value });
  });

  test("that the application answers with an error has the application's message", async () => {
    const node = world.node();
    const session = await world.session([relayed('breaks')]);
    await listen(node, session, {
      answer: () => {
        throw new Error('the table has no such column');
      },
    });
    expect(
      resultOf(await node.requests.submit(session, { tool: 'breaks', wait: true })),
    ).toMatchObject({
      success: false,
      error: { code: 'handler_error', message: 'the table has no such column' },
    });
  });

  test('passes the gates: input that the schema refuses never reaches the application', async () => {
    const node = world.node();
    const session = await world.session([
      relayed('strict', {
        parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      }),
    ]);
    const application = await listen(node, session);
    expect(
      resultOf(
        await node.requests.submit(session, { tool: 'strict', args: { n: 'x' }, wait: true }),
      ),
    ).toMatchObject({ error: { code: 'invalid_input' } });
    expect(application.of('tool-request')).toEqual([]);
  });

  test('without an application ends as executor_lost after the lease', async () => {
    const node = world.node({ leaseMs: 80 });
    const session = await world.session([relayed('alone')]);
    expect(
      resultOf(await node.requests.submit(session, { tool: 'alone', wait: true })),
    ).toMatchObject({
      error: { code: 'executor_lost', message: 'No application is connected to the session.' },
    });
  });

  test('without an answer is delivered again, and ends as a timeout that the application learns of', async () => {
    const node = world.node({ leaseMs: 120, requestTimeoutMs: 1_500 });
    const session = await world.session([relayed('silent')]);
    const application = await listen(node, session);
    expect(
      resultOf(await node.requests.submit(session, { tool: 'silent', wait: true })),
    ).toMatchObject({ error: { code: 'timeout' } });
    const attempts = application.of('tool-request').map(({ data }) => data.attempt);
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts).toEqual(attempts.map((_, index) => index + 1));
    await vi.waitFor(() =>
      expect(application.of('tool-cancel')).toMatchObject([{ data: { reason: 'timeout' } }]),
    );
  });

  test('with a known id is the same request, but with other arguments it is a conflict', async () => {
    const node = world.node();
    const session = await world.session([relayed('once')]);
    let ran = 0;
    await listen(node, session, { answer: () => ++ran });
    const ask = (args: object) =>
      node.requests.submit(session, {
        requestId: 'same',
        tool: 'once',
        args: args as never,
        wait: true,
      });
    const [first, second] = await Promise.all([ask({ a: 1 }), ask({ a: 1 })]);
    expect(second).toEqual(first);
    expect(await ask({ a: 1 })).toEqual(first);
    await expect(ask({ a: 2 })).rejects.toMatchObject({
      status: 409,
      error: 'request_id_conflict',
    });
    expect(ran).toBe(1);
  });

  test('that does not wait is queued once it has passed its gates, or answered if a gate refuses it', async () => {
    const node = world.node();
    const session = await world.session([
      relayed('slow', { parameters: { type: 'object', required: ['a'] } }),
    ]);
    let answer = (_value: string): void => {};
    const answered = new Promise<string>((resolve) => {
      answer = resolve;
    });
    await listen(node, session, { answer: () => answered });
    const agent = await listen(node, session, { side: 'agent' });
    expect(
      await node.requests.submit(session, {
        requestId: 'q',
        tool: 'slow',
        args: { a: 1 },
        wait: false,
      }),
    ).toEqual({ requestId: 'q', status: 'queued' });
    await vi.waitFor(async () =>
      expect(await node.requests.status(session.code, 'q')).toEqual({
        requestId: 'q',
        status: 'running',
      }),
    );
    answer('there');
    await vi.waitFor(() =>
      expect(agent.of('tool-result')).toMatchObject([
        { data: { requestId: 'q', result: { success: true, output: 'there' } } },
      ]),
    );
    expect(await node.requests.submit(session, { tool: 'slow', wait: false })).toMatchObject({
      result: { error: { code: 'invalid_input' } },
    });
  });

  test('for a host tool runs on this node, and needs no application', async () => {
    const clock = defineTool({
      name: 'clock',
      description: 'Tells the time.',
      parameters: { type: 'object' },
      handler: () => 'noon',
    });
    const node = world.node({ session: { tools: [clock] } });
    const session = await world.session();
    expect(
      resultOf(await node.requests.submit(session, { tool: 'clock', wait: true })),
    ).toMatchObject({ success: true, output: 'noon' });
  });
});

test('a call that takes longer than the idle time keeps its session open', async () => {
  vi.useFakeTimers();
  const node = world.node({ requestTimeoutMs: 3_600_000, leaseMs: 10_000 });
  const session = await world.session([relayed('long')]);
  const application = await listen(node, session);
  const asked = node.requests.submit(session, { requestId: 'l', tool: 'long', wait: true });
  await vi.advanceTimersByTimeAsync(1_800_000);
  expect(application.of('tool-request').length).toBeGreaterThan(0);
  await node.calls.answer(session.code, 'l', { result: 'at last' });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(resultOf(await asked)).toMatchObject({ success: true, output: 'at last' });
  await vi.advanceTimersByTimeAsync(1_200_000);
  expect(node.live.count).toBe(0);
  application.close();
});

test('if live sessions have too many definitions, unused ones close, longest unused first, and open again at their next use', async () => {
  vi.useFakeTimers();
  const definition = relayed('large', { description: 'x'.repeat(5_000) });
  const node = world.node({ maxChars: 16_000, leaseMs: 60_000, requestTimeoutMs: 600_000 });
  const sessions = [
    await world.session([definition]),
    await world.session([definition]),
    await world.session([definition]),
  ];
  const [first, second, third] = sessions as [SessionDocument, SessionDocument, SessionDocument];
  const busy = await listen(node, first);
  const asked = node.requests.submit(first, { requestId: 'runs', tool: 'large', wait: true });
  await vi.advanceTimersByTimeAsync(70_000);
  const closed = new Set<string>();
  for (const session of [second, third]) {
    (await node.live.get(session)).onClose(() => void closed.add(session.code));
    await vi.advanceTimersByTimeAsync(70_000);
  }
  expect([node.live.count, closed.size]).toEqual([3, 0]);
  await node.live.get(await world.session([definition]));
  await vi.advanceTimersByTimeAsync(0);
  expect([...closed]).toEqual([second.code]);
  expect((await node.live.get(second)).isRelayed('large')).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect([...closed]).toEqual([second.code, third.code]);
  // The longest unused of all is in use: its call runs.
  await node.calls.answer(first.code, 'runs', { result: 'done' });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(resultOf(await asked)).toMatchObject({ success: true, output: 'done' });
  busy.close();
});

test('a live session is not closed to free memory while it reads its tools', async () => {
  vi.useFakeTimers();
  await world.close();
  const watched = watchedStore();
  world = relayWorld(watched.store);
  const definition = relayed('large', { description: 'x'.repeat(5_000) });
  const node = world.node({ maxChars: 6_000, leaseMs: 600_000 });
  const [slow, quick] = [await world.session([definition]), await world.session([definition])];
  let go = (): void => {};
  watched.holdUp('get', () => new Promise<void>((resolve) => (go = resolve)));
  const opening = node.live.get(slow);
  await vi.advanceTimersByTimeAsync(200_000);
  await node.live.get(quick);
  await vi.advanceTimersByTimeAsync(200_000);
  go();
  expect((await opening).isRelayed('large')).toBe(true);
});

test('a request whose result does not fit into the store ends with an error that says so', async () => {
  vi.useFakeTimers();
  await world.close();
  world = relayWorld(memoryStore({ maxChars: 50_000 }));
  let ran = 0;
  const large = defineTool({
    name: 'large',
    description: 'Gives much.',
    parameters: { type: 'object' },
    annotations: { idempotent: true },
    handler: () => `${++ran} ${'x'.repeat(60_000)}`,
  });
  const node = world.node({ session: { tools: [large] }, leaseMs: 100 });
  const session = await world.session();
  await expect(
    node.requests.submit(session, { requestId: 'much', tool: 'large', wait: true }),
  ).rejects.toMatchObject({ cause: { message: expect.stringMatching(/full/) } });
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await node.requests.status(session.code, 'much'))?.result).toMatchObject({
    error: {
      code: 'executor_lost',
      reason: 'result_not_kept',
      message: expect.stringContaining('Do not repeat the call unless it may run twice.'),
    },
  });
  expect(ran).toBe(4);
});

test('a client that waits at a node that closes is sent to another one', async () => {
  const hang = defineTool({
    name: 'hang',
    description: 'Hangs.',
    parameters: { type: 'object' },
    handler: () => new Promise<never>(() => {}),
  });
  const node = world.node({ session: { tools: [hang] } });
  const session = await world.session();
  const asked = node.requests.submit(session, { requestId: 'h', tool: 'hang', wait: true });
  await vi.waitFor(async () =>
    expect(await node.requests.status(session.code, 'h')).toMatchObject({ status: 'running' }),
  );
  await node.requests.close(0);
  const over = expect(asked).rejects.toMatchObject({ status: 503, error: 'shutting_down' });
  await node.live.closeAll();
  await over;
  await expect(node.live.get(session)).rejects.toMatchObject({
    status: 503,
    error: 'shutting_down',
  });
});

test('a client that waits at a closed node for a request of another node is sent elsewhere', async () => {
  // Leases are long, so that the call does not end for want of an application.
  const [owner, closed] = [world.node({ leaseMs: 60_000 }), world.node({ leaseMs: 60_000 })];
  const session = await world.session([relayed('act')]);
  await owner.requests.submit(session, { requestId: 'r', tool: 'act', wait: false });
  const asked = closed.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
  const over = expect(asked).rejects.toMatchObject({ status: 503, error: 'shutting_down' });
  await closed.requests.close(0);
  await over;
});

describe('two nodes', () => {
  test('serve any side of any session', async () => {
    const [one, other] = [world.node(), world.node()];
    const session = await world.session([relayed('far')]);
    await listen(one, session, { answer: ({ args }) => args });
    expect(
      resultOf(await other.requests.submit(session, { tool: 'far', args: { x: 1 }, wait: true })),
    ).toMatchObject({ output: { x: 1 } });
    const joined = await Promise.all(
      [one, other].map((node) =>
        node.requests.submit(session, { requestId: 'j', tool: 'far', args: { y: 2 }, wait: true }),
      ),
    );
    expect(joined[0]).toEqual(joined[1]);
  });

  test('if a node dies, another one finishes its call, which reaches the application once', async () => {
    const [dying, heir] = [world.node({ leaseMs: 300 }), world.node({ leaseMs: 300 })];
    const session = await world.session([relayed('patient')]);
    let answer = (_value: string): void => {};
    const answered = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const application = await listen(heir, session, { client: 'app', answer: () => answered });
    await dying.requests.submit(session, { requestId: 'left', tool: 'patient', wait: false });
    // Dead: it neither renews nor takes its answer.
    dying.calls.leave();
    await dying.requests.close(0);
    await dying.live.closeAll();
    const joined = heir.requests.submit(session, {
      requestId: 'left',
      tool: 'patient',
      wait: true,
    });
    await vi.waitFor(() => expect(heir.lines.join()).toMatch(/taken over/));
    answer('still here');
    expect(resultOf(await joined)).toMatchObject({ success: true, output: 'still here' });
    expect(new Set(application.of('tool-request').map(({ data }) => data.requestId))).toEqual(
      new Set(['left']),
    );
  });

  test("a dead node's call of a host tool that must not run twice ends as executor_lost", async () => {
    let ran = 0;
    const handler = (): Promise<never> => {
      ran++;
      return new Promise(() => {});
    };
    const hang = defineTool({
      name: 'hang',
      description: 'Hangs.',
      parameters: { type: 'object' },
      handler,
    });
    const [dying, heir] = [
      world.node({ session: { tools: [hang] }, leaseMs: 80 }),
      world.node({ session: { tools: [hang] }, leaseMs: 80 }),
    ];
    const session = await world.session();
    await dying.requests.submit(session, { requestId: 'h', tool: 'hang', wait: false });
    await dying.requests.close(0);
    await dying.live.closeAll();
    const result = resultOf(
      await heir.requests.submit(session, { requestId: 'h', tool: 'hang', wait: true }),
    );
    expect(result).toMatchObject({ error: { code: 'executor_lost', reason: 'node_lost' } });
    expect(ran).toBe(1);
  });
});

describe('a call that was delivered to an application that is gone', () => {
  const run = async (idempotent: boolean) => {
    const node = world.node({ leaseMs: 5_000 });
    const session = await world.session([
      relayed('act', idempotent ? { annotations: { idempotent: true } } : {}),
    ]);
    const first = await listen(node, session, { client: 'first' });
    const asked = node.requests.submit(session, { tool: 'act', wait: true });
    await vi.waitFor(() => expect(first.of('tool-request')).toHaveLength(1));
    first.close();
    const second = await listen(node, session, { client: 'second', answer: () => 'done again' });
    return { result: resultOf(await asked), given: second.of('tool-request').length };
  };

  test('is delivered to the next application if it may run twice', async () => {
    expect(await run(true)).toMatchObject({
      result: { success: true, output: 'done again' },
      given: 1,
    });
  });

  test('is lost if it must not run twice', async () => {
    expect(await run(false)).toMatchObject({
      result: { error: { code: 'executor_lost' } },
      given: 0,
    });
  });

  test('is delivered again to the same application, which can recognize it', async () => {
    const node = world.node({ leaseMs: 2_000 });
    const session = await world.session([relayed('act')]);
    const first = await listen(node, session, { client: 'same' });
    const asked = node.requests.submit(session, { tool: 'act', wait: true });
    await vi.waitFor(() => expect(first.of('tool-request')).toHaveLength(1));
    first.close();
    const second = await listen(node, session, { client: 'same', answer: () => 'back' });
    expect(resultOf(await asked)).toMatchObject({ output: 'back' });
    expect(second.of('tool-request')).toMatchObject([{ data: { attempt: 2 } }]);
  });
});

describe('a request that begins slowly', () => {
  const counting = () => {
    let ran = 0;
    const count = defineTool({
      name: 'count',
      description: 'Counts.',
      parameters: { type: 'object' },
      handler: () => ++ran,
    });
    return { options: { session: { tools: [count] }, leaseMs: 100 }, ran: () => ran };
  };

  test('runs once and only on its node, although its session takes many leases to open', async () => {
    vi.useFakeTimers();
    const inner = memoryStore();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let holdsUp = true;
    const slow: Store = {
      ...inner,
      async listen(space, listener) {
        if (holdsUp) await gate;
        return inner.listen(space, listener);
      },
    };
    await world.close();
    world = relayWorld(slow);
    const { options, ran } = counting();
    const [own, other] = [world.node(options), world.node(options)];
    const session = await world.session();
    const asked = own.requests.submit(session, { requestId: 'c', tool: 'count', wait: true });
    await vi.advanceTimersByTimeAsync(2_000);
    holdsUp = false;
    open();
    await vi.advanceTimersByTimeAsync(200);
    expect(resultOf(await asked)).toMatchObject({ success: true, output: 1 });
    expect(ran()).toBe(1);
    expect([...own.lines, ...other.lines].join()).not.toMatch(/taken over/);
  });

  test('is taken over even if another node looked before it was stored', async () => {
    vi.useFakeTimers();
    const { options } = counting();
    const [dying, heir] = [world.node(options), world.node(options)];
    const session = await world.session();
    // What a node does that stands still after it has said what it will write, and dies once it is
    // written.
    await world.store.schedule([{ owner: session.code, key: 'late' }], 1);
    await vi.advanceTimersByTimeAsync(1_000);
    const document = {
      tool: 'count',
      args: {},
      hash: 'none',
      status: 'queued',
      createdAt: Date.now(),
    };
    await on(world.store).set(session.code, keys.request('late'), JSON.stringify(document), 0);
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await heir.requests.status(session.code, 'late'))?.result).toMatchObject({
      error: { code: 'executor_lost', reason: 'node_lost' },
    });
    expect([...dying.lines, ...heir.lines].join()).toMatch(/taken over/);
  });
});

test('all requests of a dead node are taken over at once', async () => {
  vi.useFakeTimers();
  const node = world.node({ leaseMs: 60_000 });
  const session = await world.session();
  const ids = Array.from({ length: 50 }, (_, index) => `left-${index}`);
  for (const id of ids) {
    await world.store.schedule([{ owner: session.code, key: id }], 1);
    const document = {
      tool: 'gone',
      args: {},
      hash: 'none',
      status: 'queued',
      createdAt: Date.now(),
    };
    await on(world.store).set(session.code, keys.request(id), JSON.stringify(document), 0);
  }
  // A node takes nothing over before it has seen the store for as long as others have to renew
  // theirs.
  await node.requests.takeOver();
  expect((await node.requests.status(session.code, 'left-0'))?.status).toBe('queued');
  await vi.advanceTimersByTimeAsync(4_000);
  const all = await Promise.all(ids.map((id) => node.requests.status(session.code, id)));
  expect(all.filter((one) => one?.status === 'done')).toHaveLength(50);
});

describe('suspended approvals', () => {
  const approvals = { secret: 'a secret of thirty-two characters!', ttlMs: 60_000 };

  test('are announced and can be answered on any node, and the call runs once', async () => {
    const options = {
      session: { approvalMode: 'suspend', approvals, rules: [{ effect: 'ask', tools: 'act' }] },
    } as const;
    const node = world.node(options);
    const session = await world.session([relayed('act')]);
    await listen(node, session, { answer: ({ args }) => args });
    const agent = await listen(node, session, { side: 'agent' });
    const submitted = await node.requests.submit(session, {
      requestId: 'ask-1',
      tool: 'act',
      args: { a: 1 },
      wait: true,
    });
    expect(resultOf(submitted)).toMatchObject({ error: { code: 'approval_pending' } });
    await vi.waitFor(() =>
      expect(agent.of('approval-required')).toMatchObject([{ data: { requestId: 'ask-1' } }]),
    );
    expect(await node.requests.status(session.code, 'ask-1')).toEqual({
      requestId: 'ask-1',
      status: 'queued',
    });
    const approvalId = String(agent.of('approval-required')[0]?.data.approvalId);
    expect(await node.requests.decide(session, 'no-such', 'allow_once')).toBeUndefined();
    expect(await node.requests.decide(session, approvalId, 'allow_once')).toMatchObject({
      approvalId,
      requestId: 'ask-1',
    });
    await vi.waitFor(() =>
      expect(agent.of('tool-result')).toMatchObject([
        { data: { requestId: 'ask-1', result: { success: true, output: { a: 1 } } } },
      ]),
    );
    expect(await node.requests.status(session.code, 'ask-1')).toMatchObject({ status: 'done' });
    expect(await node.requests.decide(session, approvalId, 'allow_once')).toBeUndefined();
  });
});

test('a call that was just approved is not ended by earlier work of its first node', async () => {
  const store = memoryStore();
  let giveUp = (): void => {};
  const held = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  let isSlow = true;
  const slow = relayWorld(
    beforeOp(store, 'get', ({ keys: wanted }) =>
      isSlow && wanted[0] === keys.call('r') ? held : undefined,
    ),
  );
  const node = slow.node({
    session: {
      approvalMode: 'suspend',
      approvals: { secret: 'a secret of thirty-two characters!' },
      rules: [{ effect: 'ask', tools: 'act' }],
    },
  });
  const session = await slow.session([relayed('act')]);
  const application = await listen(node, session);
  const agent = await listen(node, session, { side: 'agent' });
  const submitted = node.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
  expect(resultOf(await submitted)).toMatchObject({ error: { code: 'approval_pending' } });
  isSlow = false;
  await vi.waitFor(() => expect(agent.of('approval-required')).toHaveLength(1));
  const approvalId = String(agent.of('approval-required')[0]?.data.approvalId);
  await node.requests.decide(session, approvalId, 'allow_once');
  await vi.waitFor(() => expect(application.of('tool-request')).toHaveLength(1));
  giveUp();
  await new Promise((resolve) => setImmediate(resolve));
  await node.calls.answer(session.code, 'r', { result: 'ran' });
  await vi.waitFor(() =>
    expect(agent.of('tool-result')).toMatchObject([
      { data: { result: { success: true, output: 'ran' } } },
    ]),
  );
  await slow.close();
});

describe('the document that is kept', () => {
  test('of an ended call has neither its arguments nor its answer', async () => {
    const node = world.node();
    const session = await world.session([relayed('echo')]);
    await listen(node, session, { answer: () => 'SECRET ANSWER' });
    await node.requests.submit(session, {
      requestId: 'k',
      tool: 'echo',
      args: { s: 'SECRET ARGUMENT' },
      wait: true,
    });
    await vi.waitFor(async () => {
      const [call] = await on(world.store).get(session.code, [keys.call('k')]);
      expect(JSON.parse(call?.value ?? '{}')).toMatchObject({ state: 'ended' });
      expect(call?.value).not.toMatch(/SECRET/);
    });
    const [request] = await on(world.store).get(session.code, [keys.request('k')]);
    expect(request?.value).not.toMatch(/ARGUMENT/);
    expect(await world.store.due(10, 1)).toEqual([]);
  });
});
