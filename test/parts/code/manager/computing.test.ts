/** What counts as computing of a program, by what Node tells about its thread. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Computing } from '../../../../src/parts/code/manager/computing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Looks of 20 ms at a thread, until the limit of 100 ms is reached, at most 50. */
async function looks(busy: number, used?: number): Promise<number> {
  let elapsed = 0;
  let isOver = false;
  const now = () => ({ active: elapsed * busy, idle: elapsed * (1 - busy), utilization: busy });
  const utilization = (later?: { active: number }, earlier?: { active: number }) =>
    later === undefined || earlier === undefined
      ? now()
      : { ...now(), active: later.active - earlier.active };
  const thread = {
    performance: { eventLoopUtilization: utilization },
    ...(used === undefined
      ? {}
      : { cpuUsage: async () => ({ user: elapsed * used * 600, system: elapsed * used * 400 }) }),
  };
  const computing = new Computing(100, () => {
    isOver = true;
  });
  computing.start(thread as unknown as Parameters<Computing['start']>[0]);
  let count = 0;
  while (!isOver && count < 50) {
    count++;
    elapsed += 20;
    await vi.advanceTimersByTimeAsync(20);
  }
  computing.stop();
  expect(vi.getTimerCount()).toBe(0);
  return count;
}

test('a thread that is busy all the time has computed all the time', async () => {
  expect(await looks(1)).toBe(5);
  expect(await looks(1, 1)).toBe(5);
});

test('a thread that only looks for answers has not computed', async () => {
  expect(await looks(0.1)).toBe(50);
  expect(await looks(0.1, 0.05)).toBe(50);
});

test('a thread that waits for the processor has computed as long as it had it', async () => {
  expect(await looks(1, 0.25)).toBe(20);
  expect(await looks(1, 0)).toBe(50);
});

test('a thread that has ended tells nothing more, and what it seemed to do counts', async () => {
  let isOver = false;
  const computing = new Computing(20, () => {
    isOver = true;
  });
  const busy = { active: 20, idle: 0, utilization: 1 };
  computing.start({
    performance: { eventLoopUtilization: () => busy },
    cpuUsage: () => Promise.reject(new Error('The worker is not running.')),
  } as unknown as Parameters<Computing['start']>[0]);
  await vi.advanceTimersByTimeAsync(20);
  expect(isOver).toBe(true);
});
