/** How a host's watch judges workers when Redis answers slowly. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { states } from '../../../src/executors/bullmq/fleet-link.ts';
import type { FleetRun } from '../../../src/executors/bullmq/fleet-run.ts';
import { FleetWatch } from '../../../src/executors/bullmq/fleet-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Makes a watch of one call. Redis answers its queries after a delay. */
function watched(answerMs: number, stateAt: () => number): { readonly faults: string[] } {
  const faults: string[] = [];
  const run = { id: 'call-1', lapsed: 0, fail: (error: Error) => void faults.push(error.message) };
  const watch = new FleetWatch(100, new Map([['call-1', run as unknown as FleetRun]]), () => ({
    readUntil: Number.POSITIVE_INFINITY,
    watch: async () => {
      await new Promise((resolve) => setTimeout(resolve, answerMs));
      return [stateAt()];
    },
  }));
  watch.start();
  return { faults };
}

test('a dead worker is noticed even if each answer takes most of a lease', async () => {
  const { faults } = watched(70, () => states.lapsed);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(faults[0]).toContain('has died');
});

test('a worker does not lose its call if it renews its lease after Redis was away', async () => {
  let looks = 0;
  const { faults } = watched(70, () => (++looks <= 5 ? states.lapsed : states.claimed));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(looks).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});
