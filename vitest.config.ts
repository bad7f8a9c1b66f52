import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Files and tests run in random order, so that none leans on another. The seed is printed; `npm test -- --sequence.seed=N` runs that order again.
    sequence: { shuffle: { files: true, tests: true } },
    dangerouslyIgnoreUnhandledErrors: false,
    // Two things that make the suite several times faster, and hold the library to having no state of its own: files of one thread share their modules.
    pool: 'threads',
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    testTimeout: 15_000,
  },
});
