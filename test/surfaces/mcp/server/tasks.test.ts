/** Calls that go on as tasks, over the official client and over every store. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { memoryStore } from '../../../../src/index.ts';
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import { demandServers, openStore, servers } from '../../relay/nodes/shared-stores.ts';
import { answerOf, initialize, opened, post } from './kit.ts';
import { type Done, knowsTasks, taskClient, taskHandler, withoutForms } from './task-kit.ts';

demandServers();

const open = opened();
afterEach(() => open.close());

const unknownTask = { code: -32_602, message: expect.stringContaining('There is no such task') };
const lacksTasks = {
  code: -32_021,
  data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
};
const allow = { action: 'accept', content: { decision: 'allow_once' } };

describe('when a call is a task', () => {
  test('a tool that may be one, and takes long: the client looks after it', async () => {
    const { handler, done } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    const task = await ann.call('slow_optional');
    expect(task).toMatchObject({ status: 'working', pollIntervalMs: 1_000 });
    expect(task.taskId).toMatch(/^[\w-]{32}$/);
    expect(task).not.toHaveProperty('result');
    expect(await ann.get(task.taskId)).toMatchObject({ taskId: task.taskId, status: 'working' });
    done.slow[0]?.end('at last');
    expect(await ann.until(task.taskId, 'completed')).toMatchObject({
      result: { content: [{ type: 'text', text: 'at last' }] },
    });
  });

  test('one that answers soon is answered by its own request', async () => {
    const { handler } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    expect(await ann.call('quick')).toMatchObject({ content: [{ text: 'at once' }] });
  });

  test('one that must be a task is one at once, and its failure completes it', async () => {
    const { handler } = taskHandler(open, undefined, undefined, { tasks: { afterMs: 60_000 } });
    const ann = await taskClient(open, handler);
    const { taskId } = await ann.call('fails');
    expect(await ann.until(taskId, 'completed')).toMatchObject({ result: { isError: true } });
  });

  test('a call that is refused is no task', async () => {
    const rules = [{ id: 'never', effect: 'deny', tools: 'slow_required' }] as const;
    const { handler } = taskHandler(open, undefined, undefined, {}, { rules });
    const ann = await taskClient(open, handler);
    expect(await ann.call('slow_required')).toMatchObject({
      isError: true,
      _meta: { 'host-tools/error': { code: 'policy_denied' } },
    });
  });

  test('a client that knows no tasks waits, and cannot call what must be one', async () => {
    const { handler, done } = taskHandler(open, undefined);
    const plain = await taskClient(open, handler, { capabilities: {} });
    const waiting = plain.call('slow_optional');
    await expect.poll(() => done.slow.length).toBe(1);
    done.slow[0]?.end('at last');
    expect(await waiting).toMatchObject({ content: [{ text: 'at last' }] });
    await expect(plain.call('slow_required')).rejects.toMatchObject(lacksTasks);
    for (const asked of [plain.get('any'), plain.update('any', {}), plain.cancel('any')])
      await expect(asked).rejects.toMatchObject(lacksTasks);
  });

  test('nor can one of the 2025 era; a tool that it does not see stays unknown to it', async () => {
    const { handler, done } = taskHandler(open, undefined);
    const headers = { authorization: 'ann' };
    const id = await initialize(handler, headers, '2025-11-25', knowsTasks);
    const call = async (name: string) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } };
      return answerOf(await handler.fetch(post(message, { ...headers, 'mcp-session-id': id })));
    };
    expect(await call('slow_required')).toMatchObject({ error: lacksTasks });
    expect(await call('missing')).toMatchObject({ result: { isError: true } });
    expect(done.slow).toHaveLength(0);
  });

  test('with `tasks: false` nothing is', async () => {
    const { handler, done } = taskHandler(open, undefined, undefined, { tasks: false });
    const ann = await taskClient(open, handler);
    expect(ann.client.getServerCapabilities()).not.toHaveProperty('extensions');
    const waiting = ann.call('slow_optional');
    await expect.poll(() => done.slow.length).toBe(1);
    done.slow[0]?.end('at last');
    expect(await waiting).toMatchObject({ content: [{ text: 'at last' }] });
    await expect(ann.get('any')).rejects.toThrow('Method not found');
  });

  test('with `tasks: false` no client sees what must be one, and the server takes the blame', async () => {
    const warn = vi.fn();
    const more = { logger: { warn, error: vi.fn() } };
    const { handler, done } = taskHandler(open, undefined, undefined, { tasks: false }, more);
    const ann = await taskClient(open, handler);
    for (const _ of [1, 2]) {
      const names = (await ann.client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain('slow_optional');
      expect(names).not.toContain('slow_required');
    }
    await expect(ann.call('slow_required')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('only runs as a task, and this server makes none'),
    });
    const headers = { authorization: 'ann' };
    const id = await initialize(handler, headers, '2025-11-25', knowsTasks);
    const ask = async (method: string, params: object) => {
      const message = { jsonrpc: '2.0', id: 1, method, params };
      return answerOf(await handler.fetch(post(message, { ...headers, 'mcp-session-id': id })));
    };
    expect(JSON.stringify(await ask('tools/list', {}))).not.toContain('slow_required');
    expect(await ask('tools/call', { name: 'slow_required' })).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('this server makes none') },
    });
    expect(done.slow).toEqual([]);
    const told = warn.mock.calls.filter(([data]) => data.toolName === 'slow_required');
    expect(told).toHaveLength(1);
  });
});

describe('whose a task is', () => {
  test('another connection of its principal has it; for anybody else it does not exist', async () => {
    const { handler, done } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    const again = await taskClient(open, handler);
    const eve = await taskClient(open, handler, { token: 'eve' });
    const { taskId } = await ann.call('slow_required');
    expect(await again.get(taskId)).toMatchObject({ status: 'working' });
    for (const asked of [eve.get(taskId), eve.cancel(taskId), eve.update(taskId, {})])
      await expect(asked).rejects.toMatchObject(unknownTask);
    await expect(eve.get('x'.repeat(32))).rejects.toMatchObject(unknownTask);
    await expect(eve.get(undefined)).rejects.toThrow();
    expect(done.slow[0]?.signal.aborted).toBe(false);
    await again.cancel(taskId);
    expect(await ann.get(taskId)).toMatchObject({ status: 'cancelled' });
  });
});

describe('cancelling', () => {
  test('aborts the call; one that goes on all the same changes nothing', async () => {
    const { handler, done } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    const { taskId } = await ann.call('slow_required');
    expect(await ann.cancel(taskId)).not.toHaveProperty('status');
    await expect.poll(() => done.slow[0]?.signal.aborted).toBe(true);
    done.slow[0]?.end('too late');
    expect(await ann.get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(await ann.get(taskId)).not.toHaveProperty('result');
    await ann.cancel(taskId);
  });

  test('withdraws a question, and is acknowledged after the end', async () => {
    const { handler, registry, done } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    const { taskId } = await ann.call('send', { to: 'bob' });
    expect(await registry.approvals.pending()).toHaveLength(1);
    await ann.cancel(taskId);
    expect(await registry.approvals.pending()).toHaveLength(0);
    await ann.update(taskId, { approval: allow });
    expect(await ann.get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(done.sent).toEqual([]);
  });
});

describe('questions of a task', () => {
  test.each([
    ['yes', 'Expected `inputResponses` to be an object, got `yes` (string)'],
    [null, 'Expected `inputResponses` to be an object, got null'],
    [['x'], 'Expected `inputResponses` to be an object, got an array of 1'],
    [{ first: 'yes' }, 'Expected `inputResponses.first` to be the result of elicitation/create'],
    [{ first: null }, 'Expected `inputResponses.first` to be the result of elicitation/create'],
    [{ first: { method: 'x', result: {} } }, 'Expected `inputResponses.first` to be the result'],
    [{ first: {} }, '`action` is accept, decline or cancel, got undefined'],
    [{ first: { action: 'yes' } }, '`action` is accept, decline or cancel, got `yes` (string)'],
    [{ first: { action: 'accept', content: 'Ann' } }, '`content` is an object, got `Ann`'],
    [
      { first: { action: 'accept', content: { name: 7 } } },
      '`content` matches `requestedSchema`: /name must be a string, got a number',
    ],
    [
      { second: { action: 'accept', content: { name: 'Bob' } }, first: null },
      'Expected `inputResponses.first`',
    ],
  ])(
    'an answer that is none is -32602, says what was expected and loses nothing: %j',
    async (given, message) => {
      const { handler } = taskHandler(open, undefined);
      const ann = await taskClient(open, handler);
      const { taskId } = await ann.call('asks');
      await ann.until(taskId, 'input_required');
      await expect(ann.update(taskId, given)).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining(message),
      });
      const task = await ann.get(taskId);
      expect(task.status).toBe('input_required');
      expect(Object.keys(task.inputRequests as object)).toEqual(['first', 'second']);
    },
  );

  test.each(['yes', null, 7, { action: 'accept', content: { decision: 'sure' } }])(
    'an approval that is answered wrongly still waits: %j',
    async (given) => {
      const { handler, done } = taskHandler(open, undefined);
      const ann = await taskClient(open, handler);
      const { taskId } = await ann.call('send', { to: 'bob' });
      await expect(ann.update(taskId, { approval: given })).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining('Expected `inputResponses.approval`'),
      });
      expect((await ann.get(taskId)).status).toBe('input_required');
      await ann.update(taskId, { approval: allow });
      await ann.until(taskId, 'completed');
      expect(done.sent).toEqual(['bob']);
    },
  );

  test('wait for each answer; wrong, unknown and repeated ones change nothing', async () => {
    const { handler } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    const { taskId } = await ann.call('asks');
    const asked = await ann.until(taskId, 'input_required');
    expect(Object.keys(asked.inputRequests as object)).toEqual(['first', 'second']);
    expect(asked.inputRequests?.first).toMatchObject({
      method: 'elicitation/create',
      params: { message: 'first' },
    });
    const wrong = { first: { action: 'accept', content: 'Ann' } };
    await expect(ann.update(taskId, wrong)).rejects.toMatchObject({ code: -32_602 });
    const first = { first: { action: 'accept', content: { name: 'Ann' } }, other: allow };
    await ann.update(taskId, first);
    const left = await ann.get(taskId);
    expect(Object.keys(left.inputRequests as object)).toEqual(['second']);
    await ann.update(taskId, { first: { action: 'accept', content: { name: 'Eve' } } });
    await ann.update(taskId, { second: { action: 'decline' } });
    expect(await ann.until(taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'accept Ann, decline undefined' }] },
    });
  });
});

const memory = {
  kind: 'memory',
  available: true,
  whyNot: '',
  async start() {
    const store = memoryStore();
    return { store, second: store, stop: () => store.close() };
  },
};

const file = {
  kind: 'SQLite',
  available: true,
  whyNot: '',
  async start() {
    const folder = await mkdtemp(join(tmpdir(), 'host-tools-tasks-'));
    const path = join(folder, 'store.db');
    const [store, second] = [sqliteStore({ path }), sqliteStore({ path })];
    await store.migrate();
    const stop = async () => {
      await Promise.all([store.close(), second.close()]);
      await rm(folder, { recursive: true });
    };
    return { store, second, stop };
  },
};

const running = servers.map((server) => ({
  ...server,
  async start() {
    const started = await server.start();
    return { ...started, second: openStore(started) };
  },
}));

for (const { kind, available, whyNot, start } of [memory, file, ...running])
  describe.skipIf(!available)(`two processes with one store in ${kind}${whyNot}`, () => {
    let shared: { store: Store; second: Store; stop(): Promise<void> };
    beforeAll(async () => {
      shared = await start();
    });
    afterAll(() => shared.stop());

    test('a call runs in one; the other shows it, takes answers, and cancels it', async () => {
      const one = taskHandler(open, shared.store);
      const other = taskHandler(open, shared.second);
      const ann = await taskClient(open, one.handler);
      const again = await taskClient(open, other.handler);
      const asks = await ann.call('asks');
      await again.until(asks.taskId, 'input_required');
      const given = { action: 'accept', content: { name: 'Ann' } };
      await again.update(asks.taskId, { first: given, second: given });
      expect(await again.until(asks.taskId, 'completed')).toMatchObject({
        result: { content: [{ text: 'accept Ann, accept Ann' }] },
      });
      const slow = await ann.call('slow_optional');
      await again.cancel(slow.taskId);
      await expect.poll(() => one.done.slow[0]?.signal.aborted).toBe(true);
      expect(await ann.get(slow.taskId)).toMatchObject({ status: 'cancelled' });
    });

    test('a question of a process that is gone is answered in the other, once', async () => {
      const one = taskHandler(open, shared.store);
      const other = taskHandler(open, shared.second);
      const ann = await taskClient(open, one.handler);
      const { taskId } = await ann.call('send', { to: 'bob' });
      await one.handler.close();
      await one.registry.close();
      const again = await taskClient(open, other.handler);
      const asked = await again.get(taskId);
      expect(asked).toMatchObject({
        status: 'input_required',
        inputRequests: { approval: { method: 'elicitation/create' } },
      });
      await Promise.all([
        again.update(taskId, { approval: allow }),
        again.update(taskId, { approval: allow }),
      ]);
      expect(await again.until(taskId, 'completed')).toMatchObject({
        result: { content: [{ text: 'sent to bob' }] },
      });
      expect(other.done.sent).toEqual(['bob']);
    });
  });

describe('approvals as tasks', () => {
  test('a rejection completes the task, and the tool does not run', async () => {
    const { handler, done } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    const { taskId } = await ann.call('send', { to: 'bob' });
    await ann.update(taskId, { approval: { action: 'decline' } });
    expect(await ann.until(taskId, 'completed')).toMatchObject({
      result: { isError: true, _meta: { 'host-tools/error': { code: 'approval_denied' } } },
    });
    expect(done.sent).toEqual([]);
  });

  test.each([
    ['a client without forms', { capabilities: withoutForms }, {}],
    ['approvals of the host', {}, { approvals: 'host' }],
  ] as const)('%s: the host answers, and the task says how it ended', async (_, who, options) => {
    const { handler, registry } = taskHandler(open, undefined, undefined, options);
    const ann = await taskClient(open, handler, who);
    const task = await ann.call('send', { to: 'bob' });
    const { taskId } = task;
    expect(task).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('A person must answer it in the host application'),
    });
    const [question] = await registry.approvals.pending();
    await ann.update(taskId, { approval: allow });
    expect(await ann.get(taskId)).toMatchObject({ status: 'working' });
    await registry.approvals.answer(question?.id ?? '', { decision: 'allow_once', by: 'boss' });
    expect(await ann.until(taskId, 'completed')).toMatchObject({
      result: { content: [{ text: 'sent to bob' }] },
    });
  });

  test('nobody answers in time: the task completes with the reason', async () => {
    let now = Date.now();
    const store = memoryStore({ now: () => now });
    const done: Done = { slow: [], sent: [] };
    const { handler } = taskHandler(open, store, done, {}, { now: () => now });
    const ann = await taskClient(open, handler);
    const { taskId } = await ann.call('send', { to: 'bob' });
    now += 3_600_001;
    expect(await ann.get(taskId)).toMatchObject({
      status: 'completed',
      result: { isError: true, _meta: { 'host-tools/error': { code: 'approval_timeout' } } },
    });
  });

  test('a principal at its limit of waiting approvals is told so, and gets no task', async () => {
    const { handler } = taskHandler(open, undefined);
    const ann = await taskClient(open, handler);
    for (let sent = 0; sent < 20; sent++)
      expect(await ann.call('send', { to: String(sent) })).toHaveProperty('taskId');
    const refused = await ann.call('send', { to: 'bob' });
    expect(refused).toMatchObject({ _meta: { 'host-tools/error': { code: 'rate_limited' } } });
    expect(refused).not.toHaveProperty('taskId');
  });
});

describe('a process that dies', () => {
  test('fails its tasks, once it has shown no sign of life', async () => {
    let now = Date.now();
    let isDead = false;
    const store = memoryStore({ now: () => now });
    const mortal: Store = {
      ...store,
      apply: (space, operations) => {
        if (isDead) throw new Error('This process is dead.');
        return store.apply(space, operations);
      },
    };
    const one = taskHandler(open, mortal);
    const other = taskHandler(open, store);
    const ann = await taskClient(open, one.handler);
    const { taskId } = await ann.call('slow_required');
    isDead = true;
    const again = await taskClient(open, other.handler);
    expect(await again.get(taskId)).toMatchObject({ status: 'working' });
    now += 10_001;
    expect(await again.get(taskId)).toMatchObject({
      status: 'failed',
      error: { code: -32_603, data: { 'host-tools/error': { code: 'executor_lost' } } },
    });
    isDead = false;
    one.done.slow[0]?.end('too late');
    expect(await again.get(taskId)).toMatchObject({ status: 'failed' });
  });

  test('one that is closed says so at once', async () => {
    const store = memoryStore();
    const one = taskHandler(open, store);
    const other = taskHandler(open, store);
    const ann = await taskClient(open, one.handler);
    const { taskId } = await ann.call('slow_required');
    await one.handler.close();
    const again = await taskClient(open, other.handler);
    expect(await again.get(taskId)).toMatchObject({ status: 'failed' });
    expect(one.done.slow[0]?.signal.aborted).toBe(true);
  });

  test('a store that fails keeps nothing from its client: the request waits', async () => {
    const store = memoryStore();
    const broken: Store = {
      ...store,
      apply: (space, operations) => {
        if ('shared' in space && space.shared === 'mcp tasks') throw new Error('secret path');
        return store.apply(space, operations);
      },
    };
    const errors: unknown[] = [];
    const options = { onError: (error: unknown) => errors.push(error) };
    const { handler, done } = taskHandler(open, broken, undefined, options);
    const ann = await taskClient(open, handler);
    const waiting = ann.call('slow_required');
    await expect.poll(() => errors.length).toBe(1);
    done.slow[0]?.end('at last');
    expect(await waiting).toMatchObject({ content: [{ text: 'at last' }] });
    const failed = { code: -32_603, message: expect.not.stringContaining('secret') };
    await expect(ann.get('any')).rejects.toMatchObject(failed);
  });
});
