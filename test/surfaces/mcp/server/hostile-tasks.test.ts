/** Clients that mean harm to tasks: made-up ids, answers under names such as `__proto__`, and storms. */
import { afterEach, expect, test } from 'vitest';
import { memoryStore } from '../../../../src/index.ts';
import { opened } from './kit.ts';
import { taskClient, taskHandler } from './task-kit.ts';

const open = opened();
afterEach(() => open.close());

test.each([
  '',
  '__proto__',
  'constructor',
  '../tasks',
  'a'.repeat(257),
  'a'.repeat(100_000),
  7,
  null,
  {},
  ['a'],
])('a made-up id names no task: %#', async (id) => {
  const { handler } = taskHandler(open, memoryStore());
  const { get, update, cancel } = await taskClient(open, handler);
  for (const asked of [get(id), cancel(id), update(id, {})])
    await expect(asked).rejects.toMatchObject({ code: -32_602 });
});

test('answers under the names of an object answer nothing, and change no object', async () => {
  const { handler } = taskHandler(open, memoryStore());
  const { call, update, get, until } = await taskClient(open, handler);
  const { taskId } = await call('asks');
  await until(taskId, 'input_required');
  const given = JSON.parse('{"__proto__":{"action":"accept"},"constructor":{"action":"accept"}}');
  await update(taskId, given).catch(() => {});
  const { status, inputRequests } = await get(taskId);
  expect(status).toBe('input_required');
  expect(Object.keys(inputRequests as object)).toHaveLength(2);
  expect(({} as { action?: string }).action).toBeUndefined();
});

test('the same answer from many requests at once is taken once', async () => {
  const { handler, done } = taskHandler(open, memoryStore());
  const { call, get, update, until } = await taskClient(open, handler);
  const { taskId } = await call('send', { to: 'bob' });
  const [key = ''] = Object.keys((await get(taskId)).inputRequests as object);
  const answer = { [key]: { action: 'accept', content: { decision: 'allow_once' } } };
  await Promise.allSettled(Array.from({ length: 20 }, () => update(taskId, answer)));
  await until(taskId, 'completed');
  expect(done.sent).toEqual(['bob']);
});

test('a task whose tool never ends is cancelled, and its session goes on', async () => {
  const { handler, done } = taskHandler(open, memoryStore());
  const { call, cancel, get } = await taskClient(open, handler);
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => (await call('slow_required')).taskId),
  );
  await Promise.all(ids.map((id) => cancel(id)));
  for (const id of ids) expect((await get(id)).status).toBe('cancelled');
  await expect.poll(() => done.slow.every(({ signal }) => signal.aborted)).toBe(true);
  expect((await call('quick')).content?.[0]?.text).toBe('at once');
});
