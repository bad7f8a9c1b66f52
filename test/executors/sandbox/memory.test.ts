/** How the memory of sandboxes is watched. */
import { describe, expect, test } from 'vitest';
import { heapLimits, processMemory, watchMemory } from '../../../src/executors/sandbox/memory.ts';
import type { Death } from '../../../src/executors/sandbox/transport.ts';

describe('the watch', () => {
  test('says once a look finds too much, and how much that is', async () => {
    const looks = [10, 100, 300];
    const deaths: Death[] = [];
    const watch = watchMemory(
      (tell) => tell((looks.shift() ?? 0) * 1_048_576),
      200,
      (death) => void deaths.push(death),
    );
    watch.often(true);
    await expect.poll(() => deaths).toHaveLength(1);
    watch.stop();
    expect(looks).toEqual([]);
    expect(deaths[0]).toEqual({
      reason: 'sandbox_out_of_memory',
      text: 'used 300 MB of memory, which is more than its 200 MB, and was ended',
    });
  });

  test('goes on while calls come and go', async () => {
    let looks = 0;
    const watch = watchMemory(
      () => void looks++,
      200,
      () => expect.unreachable(),
    );
    watch.often(false);
    const before = performance.now();
    while (looks < 3) {
      watch.often(true);
      watch.often(false);
      await new Promise((resolve) => setImmediate(resolve));
      expect(performance.now() - before).toBeLessThan(60_000);
    }
    watch.stop();
  });

  test('counts this process, and none that has ended', () => {
    let used = 0;
    processMemory(process.pid)((bytes) => {
      used = bytes;
    });
    if (process.platform === 'linux') expect(used).toBeGreaterThan(10 * 1_048_576);
    if (process.platform === 'linux')
      processMemory(2 ** 30)((bytes) => {
        expect(bytes).toBe(0);
      });
  });
});

test('V8 gets room beyond the limit of a thread only where the thread is watched', () => {
  expect(heapLimits(64, false)).toEqual({
    maxOldGenerationSizeMb: 64,
    maxYoungGenerationSizeMb: 16,
  });
  expect(heapLimits(64, true).maxOldGenerationSizeMb).toBe(64 + 2_048);
});
