/** Which test files belong to which project of `vitest.config.ts`, as patterns. */

/**
 * Tests that start servers, clients, sockets or processes. What those leave running for a moment (a
 * socket kept alive, a reconnection) may set a timer at any time, so they share no thread with the
 * tests that fake the clock and count its timers: here nothing may fake it.
 */
export const outside = [
  'test/surfaces/audit/processes.test.ts',
  'test/executors/bullmq/!(watch).test.ts',
  'test/cli/**/*.test.ts',
  'test/release/**/*.test.ts',
  'test/surfaces/config/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/surfaces/approvals/page.test.ts',
  'test/surfaces/inspector/{inspector,make,page*}.test.ts',
  'test/surfaces/mcp/{client,server}/**/*.test.ts',
  'test/surfaces/policy-engines/opa/server.test.ts',
  'test/surfaces/telemetry/otel/elsewhere.test.ts',
  'test/stores/redis/{client,ledger,two-nodes,redis-*}.test.ts',
  'test/stores/postgres/*.test.ts',
  'test/executors/sandbox/!(idle-cells).test.ts',
  'test/surfaces/relay/{attacks,gates}.test.ts',
  'test/surfaces/relay/http/{mcp-sessions,poll}.test.ts',
  'test/surfaces/relay/server/*.test.ts',
  'test/surfaces/relay-client/{live-connection,real-relay,reconnect}.test.ts',
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
  'test/cli/gateway-servers.test.ts',
  'test/cli/hook/starter-rules.test.ts',
  'test/executors/bullmq/{ledger,lost}.test.ts',
  'test/examples/{approvals,demo-inspect,relay-browser,git-*}.test.ts',
  'test/surfaces/{approvals,inspector}/page*.test.ts',
  'test/stores/redis/{ledger,redis-cluster,two-nodes}.test.ts',
  'test/surfaces/relay/server/proxies.test.ts',
];
