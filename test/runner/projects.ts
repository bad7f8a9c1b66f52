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
 * What the other versions of Node need not repeat: these read texts and types, drive a browser, or
 * try what happens between processes by the programs that they start: Redis, git, official servers,
 * this library's own nodes, whose parts all have tests that do run.
 */
export const sameOnEveryNode = [
  'test/{architecture,docs,docstrings,sizes,types-budget,types/messages}.test.ts',
  'test/{commands,release}/**/*.test.ts',
  'test/cli/{gateway,gateway-code,gateway-servers}.test.ts',
  'test/cli/guard/{guard,hook-install}.test.ts',
  'test/cli/hook/starter-rules.test.ts',
  'test/executors/bullmq/{ledger,lost}.test.ts',
  'test/parts/code/ledger.test.ts',
  'test/examples/{approvals,demo-inspect,relay-browser,git-*}.test.ts',
  'test/surfaces/{approvals,inspector}/page*.test.ts',
  'test/stores/postgres/{conformance,together}.test.ts',
  'test/stores/redis/redis-cluster.test.ts',
  'test/surfaces/relay/nodes/*.test.ts',
  'test/surfaces/relay/server/proxies.test.ts',
];
