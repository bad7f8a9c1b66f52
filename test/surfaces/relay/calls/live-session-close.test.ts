/** Sessions that have expired are closed on their nodes. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { memoryBus } from '../../../../src/surfaces/relay/memory/bus.ts';
import { memoryStore } from '../../../../src/surfaces/relay/memory/store.ts';
import type { RelayBus } from '../../../../src/surfaces/relay/ports/bus.ts';
import type { RelayStore } from '../../../../src/surfaces/relay/ports/store.ts';
import { relayWorld } from '../relay-world.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;

test('they are looked for once at a time while the store does not answer', async () => {
  const inner = memoryStore();
  let reads = 0;
  let answer = (): void => {};
  let answers: Promise<void> | undefined;
  const store: RelayStore = {
    ...inner,
    async get(session, keys) {
      reads++;
      await answers;
      return inner.get(session, keys);
    },
  };
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
  const inner = memoryBus();
  const store = memoryStore();
  let silent = '';
  const bus: RelayBus = {
    ...inner,
    subscribe: (channel, listener) =>
      channel === silent ? new Promise(() => {}) : inner.subscribe(channel, listener),
  };
  const world = relayWorld(store, bus);
  const node = world.node();
  const [opening, expiring] = [await world.session(), await world.session([], minuteMs / 2)];
  silent = opening.code;
  void node.live.get(opening);
  await node.live.get(expiring);
  expect(node.live.count).toBe(2);
  await vi.advanceTimersByTimeAsync(2 * minuteMs);
  expect(node.live.count).toBe(1);
});
