/** Sessions that have expired are closed on their nodes. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { memoryStore } from '../../../../src/index.ts';
import { relayWorld } from '../relay-world.ts';
import { beforeOp } from '../watched-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;

test('they are looked for once at a time while the store does not answer', async () => {
  const inner = memoryStore();
  let reads = 0;
  let answer = (): void => {};
  let answers: Promise<void> | undefined;
  const store = beforeOp(inner, 'get', async () => {
    reads++;
    await answers;
  });
  const world = relayWorld(store);
  const node = world.node();
  await node.live.get(await world.session([], minuteMs / 2));
  answers = new Promise((resolve) => {
    answer = resolve;
  });
  reads = 0;
  await vi.advanceTimersByTimeAsync(5 * minuteMs);
  expect(reads).toBe(1);
  answer();
  await vi.advanceTimersByTimeAsync(minuteMs);
  expect(node.live.count).toBe(0);
  await world.close();
});

test('they are closed although another session has been opening for minutes', async () => {
  const inner = memoryStore();
  let silent = '';
  const store: Store = {
    ...inner,
    listen: (space, listener) =>
      'session' in space && space.session === silent
        ? new Promise(() => {})
        : inner.listen(space, listener),
  };
  const world = relayWorld(store);
  const node = world.node();
  const [opening, expiring] = [await world.session(), await world.session([], minuteMs / 2)];
  silent = opening.code;
  void node.live.get(opening);
  await node.live.get(expiring);
  expect(node.live.count).toBe(2);
  await vi.advanceTimersByTimeAsync(2 * minuteMs);
  expect(node.live.count).toBe(1);
});
