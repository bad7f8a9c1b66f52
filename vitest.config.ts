import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { forgetOld } from './test/runner/old-entries.ts';
import Order, { leftOut } from './test/runner/order.ts';
import { onEachNode, outside, packed } from './test/runner/projects.ts';

/**
 * The order of files and tests, and what the properties draw. It is fixed, so that a commit that
 * passed once passes again: a new sample that fails is news about old code, not about a change.
 * `HOST_TOOLS_TEST_SEED=random npm run test:long` looks for such news, and prints the seed that
 * repeats it.
 */
const { HOST_TOOLS_TEST_SEED: given = '1' } = process.env;
const seed = given === 'random' ? Date.now() % 2 ** 31 : Number(given);
process.env.HOST_TOOLS_TEST_SEED = String(seed);

/** Set by `test/runner/quick.ts`, which chooses the files itself. */
const quick = process.env.HOST_TOOLS_TEST_QUICK;

const cores = availableParallelism();
const onOtherNode = process.env.HOST_TOOLS_TEST_NODE === 'other';

// What a source was compiled to, by its text and this file's. A run of a few files takes two thirds
// of the time with it, and the projects share it.
const withCore = process.env.HOST_TOOLS_TEST_ENTRY === 'core';
const compiled = `${import.meta.dirname}/.cache/test-modules${withCore ? '-core' : ''}`;
forgetOld(compiled, 3 * 86_400_000);

/** Tests get the registry of `host-tools/core` with all parts: see `test/runner/core-entry.ts`. */
const coreEntry = {
  name: 'core entry',
  enforce: 'pre',
  resolveId(source: string, importer?: string) {
    const entry = `${import.meta.dirname}/test/runner/core-entry.ts`;
    const isTest = importer?.startsWith(`${import.meta.dirname}/test/`) === true;
    return isTest && importer !== entry && source.endsWith('/src/index.ts') ? entry : undefined;
  },
} as const;
const plugins = withCore ? [coreEntry] : [];

// What each project runs here.
const own = { inside: ['test/**/*.test.ts'], outside, packed };
const { inside, withAllParts } = onEachNode;
const chosen = onOtherNode
  ? {
      inside: [...inside, ...(withCore ? withAllParts : [])],
      outside: onEachNode.outside,
      packed: ['test/package.test.ts'],
    }
  : own;

/**
 * In CI, a failed test runs once more: most wait for servers, processes or browsers, and files of one
 * thread share a process, so what one has left running may set a timer that the next one counts.
 * `test/runner/retried-tests.ts` names those that then passed, and CI prints them at its end.
 */
const retry = process.env.CI === 'true' ? 1 : 0;

/**
 * The files of a project. `npm test` and `npm run test:long` share them out by `--mode`; without it,
 * all run.
 */
function filesOf(mode: string, project: 'inside' | 'outside', others: readonly string[] = []) {
  const exclude = ['**/node_modules/**', ...others];
  if (mode === 'long') return { include: leftOut[project], exclude };
  if (mode === 'short') exclude.push(...leftOut[project]);
  return { include: chosen[project], exclude };
}

// A project takes its settings from here, not from its parent.
const shared = {
  // Two things that make the suite several times faster, and hold the library to having no state of
  // its own: files of one thread share their modules.
  pool: 'threads',
  isolate: false,
  retry,
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
  // Ends what hangs. Far above what any test takes, so that a busy machine passes.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 30_000 } },
  // Files and tests run in a mixed order, so that none leans on another.
  sequence: { shuffle: { files: true, tests: true }, seed },
  // The long random runs are those of the Node that one develops on.
  ...((quick || onOtherNode) && {
    alias: [
      { find: /^fast-check$/, replacement: `${import.meta.dirname}/test/runner/fewer-runs.ts` },
    ],
  }),
} as const;

export default defineConfig(({ mode }) => ({
  test: {
    sequence: { ...shared.sequence, sequencer: Order },
    // By default one core is left to the editor.
    maxWorkers: cores,
    reporters: ['default', './test/runner/slowest-files.ts', './test/runner/retried-tests.ts'],
    dangerouslyIgnoreUnhandledErrors: false,
    experimental: { fsModuleCache: true, fsModuleCachePath: compiled },
    projects: [
      {
        plugins,
        test: {
          ...shared,
          name: 'inside',
          sequence: { ...shared.sequence, groupOrder: 1 },
          ...filesOf(mode, 'inside', ['test/agents/**', ...packed, ...outside]),
          setupFiles: 'test/setup.ts',
        },
      },
      {
        test: {
          ...shared,
          name: 'outside',
          sequence: { ...shared.sequence, groupOrder: 0 },
          // These wait for other programs most of the time.
          maxWorkers: 2 * cores,
          ...filesOf(mode, 'outside'),
          setupFiles: ['test/setup.ts', 'test/setup-outside.ts'],
        },
      },
      // The real coding agents, which come from npm: `npm run test:agents`. They start slowly, so
      // several run at once.
      {
        test: {
          ...shared,
          name: 'agents',
          sequence: { ...shared.sequence, groupOrder: 3 },
          globalSetup: 'test/agents/install.ts',
          include: ['test/agents/**/*.test.ts'],
          setupFiles: ['test/setup.ts', 'test/setup-outside.ts'],
        },
      },
      // The package as its users get it, which takes long to make: `npm run test:package`.
      {
        test: {
          ...shared,
          name: 'package',
          sequence: { ...shared.sequence, groupOrder: 2 },
          globalSetup: 'test/runner/pack.ts',
          include: chosen.packed,
          setupFiles: ['test/setup.ts', 'test/setup-outside.ts'],
        },
      },
    ],
  },
}));
