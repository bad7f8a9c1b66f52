import { defineConfig } from 'vitest/config';

// Tests that start servers, clients, sockets or processes. What those leave running for a moment (a
// socket kept alive, a reconnection) may set a timer at any time, so they share no thread with the
// tests that fake the clock and count its timers: here nothing may fake it.
const outside = [
  'test/cli/**/*.test.ts',
  'test/config/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/mcp/{client,server}/**/*.test.ts',
  'test/redis/{client,ledger,two-nodes,redis-*}.test.ts',
  'test/relay/{attacks,gates}.test.ts',
  'test/relay/http/{mcp-sessions,poll}.test.ts',
  'test/relay/server/*.test.ts',
  'test/relay-client/{live-connection,real-relay}.test.ts',
  'test/surfaces/{ai-sdk,openai}/*.test.ts',
  'test/surfaces/*.test.ts',
  'test/{docs,package}.test.ts',
];

// A project takes its settings from here, not from its parent.
const shared = {
  // Two things that make the suite several times faster, and hold the library to having no state of
  // its own: files of one thread share their modules.
  pool: 'threads',
  isolate: false,
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
  testTimeout: 15_000,
  // Files and tests run in random order, so that none leans on another. The seed is printed;
  // `npm test -- --sequence.seed=N` runs that order again.
  sequence: { shuffle: { files: true, tests: true } },
} as const;

export default defineConfig({
  test: {
    sequence: shared.sequence,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      {
        test: {
          ...shared,
          name: 'inside',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...outside],
          setupFiles: 'test/setup.ts',
        },
      },
      {
        test: {
          ...shared,
          name: 'outside',
          include: outside,
          setupFiles: ['test/setup.ts', 'test/setup-outside.ts'],
        },
      },
    ],
  },
});
