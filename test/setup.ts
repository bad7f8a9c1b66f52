/**
 * Runs with each test file: what Node merely warns about (a listener leak, a timer that overflows,
 * a late `catch`) fails the test that caused it.
 */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';

// The same samples in every run, so that a commit that passed once passes again. `vitest.config.ts`
// says how to draw others.
fc.configureGlobal({ seed: Number(process.env.HOST_TOOLS_TEST_SEED) });

// One second, which is what `waitFor` gives by default, is not enough on a busy machine.
const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: 30_000, ...options });

// Kept from before any test fakes the timers.
const { setImmediate: nextTurn } = globalThis;

const warnings: Error[] = [];
const collect = (warning: Error): void => {
  if (warning.name !== 'ExperimentalWarning') warnings.push(warning);
};

beforeAll(() => {
  process.on('warning', collect);
});

afterEach(async () => {
  vi.useRealTimers();
  // One turn of the event loop: warnings, and rejections that nobody handles, come out while their
  // test can still be named.
  await new Promise<void>((resolve) => {
    nextTurn(resolve);
  });
  const seen = warnings.splice(0);
  if (seen.length > 0)
    throw new Error(
      'Node warned during this ' +
        `test.\n${seen.map((warning) => warning.stack ?? String(warning)).join('\n')}`,
    );
});

afterAll(() => {
  process.off('warning', collect);
  // The next file of the thread may load a package that looks at the globals once, such as `pg`.
  vi.unstubAllGlobals();
});
