/** Which test files belong to which project of `vitest.config.ts`, as patterns. */

/**
 * Tests that start servers, clients, sockets or processes. What those leave running for a moment (a
 * socket kept alive, a reconnection) may set a timer at any time, so they share no thread with the
 * tests that fake the clock and count its timers: here nothing may fake it.
 */
export const outside = [
  'test/surfaces/audit/{processes,store}.test.ts',
  'test/executors/bullmq/!(watch).test.ts',
  'test/cli/**/*.test.ts',
  'test/release/**/*.test.ts',
  'test/surfaces/config/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/surfaces/acp/offered-tools.test.ts',
  'test/surfaces/approvals/page.test.ts',
  'test/surfaces/inspector/{inspector,make,page*}.test.ts',
  'test/surfaces/mcp/{client,server}/**/!(parked-calls).test.ts',
  'test/surfaces/policy-engines/opa/server.test.ts',
  'test/surfaces/telemetry/otel/elsewhere.test.ts',
  'test/stores/redis/{client,redis-*}.test.ts',
  'test/stores/{open,postgres,sqlite}/*.test.ts',
  'test/stores/shared/ledger.test.ts',
  'test/stores/shared/same-on-all.test.ts',
  'test/executors/sandbox/!(idle-cells).test.ts',
  'test/parts/code/*.test.ts',
  'test/surfaces/relay/{attacks,gates}.test.ts',
  'test/surfaces/relay/http/{mcp-sessions,poll}.test.ts',
  'test/surfaces/relay/{nodes,server}/*.test.ts',
  'test/surfaces/relay-client/{live-connection,real-relay,reconnect}.test.ts',
  // Of a faulty store, some rules go on for a while after others have failed.
  'test/surfaces/testing/conformance/store-conformance.test.ts',
  'test/surfaces/{ai-sdk,openai}/*.test.ts',
  'test/surfaces/*.test.ts',
  'test/docs.test.ts',
];

/** Tests of the package as npm packs it, which `test/runner/pack.ts` does for them. */
export const packed = ['test/{package,sizes}.test.ts', 'test/commands/**/*.test.ts'];

/**
 * What also runs on the other versions of Node: what a version can change. These are values (texts,
 * numbers, patterns, schemas), the drivers of stores, threads and processes, HTTP and streams, and
 * calls through each surface. The rest is logic over these.
 */
export const onEachNode = {
  inside: ['test/{values,stores,surfaces/telemetry}/**/*.test.ts'],
  outside: [
    'test/stores/{open,sqlite}/*.test.ts',
    'test/stores/postgres/{features,postgres-store}.test.ts',
    'test/stores/redis/{client,redis-features}.test.ts',
    'test/parts/code/{quick-js-runner,run-code}.test.ts',
    'test/executors/sandbox/{cell,conformance,crossing,memory,protocol}.test.ts',
    'test/surfaces/mcp/server/**/!(parked-calls).test.ts',
    'test/surfaces/mcp/client/{import,real,stdio}.test.ts',
    'test/surfaces/relay/server/!(proxies).test.ts',
    'test/surfaces/relay-client/{live-connection,reconnect}.test.ts',
    'test/surfaces/audit/store.test.ts',
    'test/surfaces/{ai-sdk,openai}/*.test.ts',
    'test/surfaces/surfaces.test.ts',
    'test/cli/{process,relay,serve,worker}.test.ts',
  ],
  /** With the registry of `host-tools/core` and all parts: `HOST_TOOLS_TEST_ENTRY=core`. */
  withAllParts: ['test/{assembly,core,parts}/**/*.test.ts'],
};
