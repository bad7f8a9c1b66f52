/**
 * The order of the test files: random by the run's seed, so that none leans on another, but what
 * takes long begins first, so that no core waits at the end for the last file of the other.
 */
import { relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * Files that wait for other programs, or start many, longest first. Those that mostly wait are mixed
 * with those that keep a core busy. `npm run test:quick` leaves them out.
 */
export const slow = [
  'test/executors/bullmq/lost.test.ts',
  'test/docs.test.ts',
  'test/cli/gateway-servers.test.ts',
  'test/surfaces/relay-client/real-relay.test.ts',
  'test/cli/spinning.test.ts',
  'test/parts/code/kill.test.ts',
  'test/surfaces/relay/nodes/ledger.test.ts',
  'test/cli/gateway.test.ts',
  'test/examples/relay-browser.test.ts',
  'test/executors/bullmq/ledger.test.ts',
  'test/examples/git-tool.test.ts',
  'test/stores/redis/redis-cluster.test.ts',
  'test/examples/approvals.test.ts',
  'test/surfaces/relay/nodes/two-nodes.test.ts',
  'test/stores/shared/ledger.test.ts',
];

/** Other files of the project `outside` that take long. */
export const long = [
  'test/cli/guard/hook-install.test.ts',
  'test/surfaces/approvals/page.test.ts',
  'test/cli/guard/guard.test.ts',
  'test/parts/code/ledger.test.ts',
  'test/parts/code/journal.test.ts',
  'test/executors/sandbox/conformance.test.ts',
  'test/executors/sandbox/sandboxes.test.ts',
  'test/surfaces/config/read-file.test.ts',
  'test/cli/hook/hook-process.test.ts',
  'test/surfaces/inspector/page.test.ts',
  'test/cli/gateway-code.test.ts',
  'test/executors/bullmq/fleet.test.ts',
  'test/surfaces/inspector/page-make.test.ts',
  'test/surfaces/audit/store.test.ts',
  'test/cli/strays.test.ts',
  'test/executors/sandbox/catastrophes.test.ts',
  'test/surfaces/audit/processes.test.ts',
  'test/surfaces/testing/conformance/store-conformance.test.ts',
  'test/surfaces/inspector/page-words.test.ts',
  'test/parts/code/run-code.test.ts',
  'test/parts/code/quick-js-runner.test.ts',
  'test/surfaces/inspector/page-programs.test.ts',
  'test/cli/store/kept-store.test.ts',
  'test/surfaces/mcp/client/stdio.test.ts',
  'test/stores/postgres/features.test.ts',
  'test/cli/safe-outputs.test.ts',
  'test/cli/process.test.ts',
  'test/examples/demo-inspect.test.ts',
  'test/cli/hook/hook-bundle.test.ts',
  'test/cli/hook/other-agents.test.ts',
  'test/stores/postgres/conformance.test.ts',
  'test/surfaces/config/load-host-tools.test.ts',
  'test/stores/redis/redis-store.test.ts',
  'test/parts/code/approvals.test.ts',
  'test/cli/gateway-approvals.test.ts',
  'test/parts/code/secrets.test.ts',
  'test/surfaces/relay/server/proxies.test.ts',
  'test/surfaces/inspector/make.test.ts',
  'test/cli/gateway-passes.test.ts',
  'test/surfaces/inspector/page-approvals.test.ts',
  'test/surfaces/mcp/client/auth.test.ts',
  'test/stores/sqlite/sqlite-store.test.ts',
  'test/surfaces/mcp/client/lost-session.test.ts',
  'test/cli/hook/starter-rules.test.ts',
  'test/executors/sandbox/reaper.test.ts',
  'test/examples/git-run.test.ts',
  'test/cli/gateway-expose.test.ts',
  'test/examples/workspace.test.ts',
  'test/surfaces/pages/take-back.test.ts',
  'test/surfaces/pages/actor.test.ts',
  'test/surfaces/relay-client/live-connection.test.ts',
  'test/cli/worker.test.ts',
  'test/release/faults.test.ts',
  'test/stores/postgres/together.test.ts',
  'test/surfaces/mcp/client/excess.test.ts',
  'test/executors/bullmq/conformance.test.ts',
  'test/stores/postgres/postgres-store.test.ts',
  'test/surfaces/mcp/server/shared-store.test.ts',
  'test/parts/code/equivalence.test.ts',
  'test/parts/code/attacks.test.ts',
  'test/surfaces/config/sandbox.test.ts',
  'test/executors/bullmq/page.test.ts',
  'test/cli/offload.test.ts',
  'test/cli/serve.test.ts',
  'test/stores/redis/redis-sums.test.ts',
  'test/surfaces/mcp/client/hostile.test.ts',
  'test/stores/shared/same-on-all.test.ts',
  'test/parts/code/executors.test.ts',
  'test/surfaces/mcp/server/stdio.test.ts',
  'test/surfaces/config/watch.test.ts',
  'test/cli/validate/validate.test.ts',
  'test/cli/acp/acp-command.test.ts',
  'test/cli/gateway-import-clients.test.ts',
  'test/cli/gateway-allow.test.ts',
  'test/cli/store/store-copy.test.ts',
  'test/executors/sandbox/bubblewrap.test.ts',
  'test/surfaces/relay/server/web-socket.test.ts',
  'test/parts/code/not-json.test.ts',
  'test/executors/sandbox/crossing.test.ts',
  'test/stores/redis/redis-features.test.ts',
  'test/surfaces/mcp/server/tasks.test.ts',
  'test/stores/open/open-store.test.ts',
  'test/surfaces/mcp/client/real.test.ts',
  'test/parts/code/undo.test.ts',
  'test/parts/code/no-package.test.ts',
  'test/cli/gateway-auth.test.ts',
  'test/surfaces/mcp/server/approvals.test.ts',
  'test/surfaces/mcp/server/fuzz.test.ts',
  'test/surfaces/mcp/server/example.test.ts',
  'test/surfaces/mcp/client/message-guard.test.ts',
  'test/parts/code/sdks.test.ts',
  'test/cli/audit.test.ts',
  'test/cli/required-packages.test.ts',
  'test/surfaces/ai-sdk/approvals.test.ts',
  'test/surfaces/mcp/client/import.test.ts',
  'test/stores/open/missing-drivers.test.ts',
  'test/cli/openapi.test.ts',
  'test/surfaces/inspector/inspector.test.ts',
  'test/cli/hook/shared-state.test.ts',
  'test/parts/code/records.test.ts',
  'test/cli/store/store-tables.test.ts',
  'test/cli/gateway-persons.test.ts',
  'test/parts/code/relay.test.ts',
  'test/examples/yaml-profiles.test.ts',
  'test/surfaces/mcp/client/app-only.test.ts',
  'test/surfaces/relay/server/node-server.test.ts',
];

/**
 * Files of the project `inside` that take seconds of a core. `npm run test:quick` runs those of the
 * changed folders.
 */
export const heavy = [
  'test/surfaces/agents/shell/read-line.test.ts',
  'test/surfaces/audit/losses.test.ts',
  'test/surfaces/agents/starter-rules.test.ts',
  'test/values/schema/attacks.test.ts',
  'test/core/call/own-members.test.ts',
  'test/parts/durable-approvals/suspending-sessions.test.ts',
  'test/surfaces/relay/stall-points.test.ts',
  'test/surfaces/policy-engines/opa/opa-policy.test.ts',
  'test/values/json-schema/json-schema-removal.test.ts',
  'test/parts/origins/json-texts.test.ts',
  'test/types-budget.test.ts',
  'test/core/rules/rules.test.ts',
  'test/core/rules/rules-oracle.test.ts',
  'test/faults.test.ts',
  'test/surfaces/shared/shown-output.test.ts',
  'test/surfaces/workflow/loop-in-adversity.test.ts',
  'test/parts/origins/echoes.test.ts',
  'test/values/json-schema/inclusion.test.ts',
  'test/governance.test.ts',
  'test/surfaces/workflow/trace.test.ts',
  'test/parts/explain/shadow-rules.test.ts',
  'test/core/approval/restart.test.ts',
  'test/core/registry/listing-steps.test.ts',
  'test/parts/origins/whole-words.test.ts',
  'test/types/messages.test.ts',
  'test/parts/rule-review/no-false-alarms.test.ts',
  'test/surfaces/shared/strict-nulls.test.ts',
  'test/core/call/rule-12-budget.test.ts',
  'test/core/session/origins-kept.test.ts',
  'test/core/call/order.test.ts',
  'test/surfaces/approvals/file-approvals.test.ts',
  'test/surfaces/acp/hostile-agent.test.ts',
  'test/core/call/host-code-in-gates.test.ts',
  'test/surfaces/audit/audit-log.test.ts',
  'test/surfaces/openapi/real.test.ts',
  'test/surfaces/policy/backtest.property.test.ts',
  'test/surfaces/openapi/hostile.test.ts',
  'test/surfaces/shared/strict/to-strict-schema.test.ts',
  'test/core/call/waits.test.ts',
  'test/values/schema/strict-nulls.test.ts',
  'test/values/text/glob.test.ts',
  'test/parts/origins/slices.test.ts',
  'test/surfaces/policy-engines/policy-document.test.ts',
  'test/parts/durable-approvals/head.test.ts',
  'test/surfaces/relay/http/hostile.test.ts',
  'test/parts/origins/text.test.ts',
  'test/surfaces/mcp/stored-events.test.ts',
  'test/surfaces/relay/relay-model.test.ts',
  'test/values/json-schema/compile.test.ts',
  'test/surfaces/approvals/handler.test.ts',
  'test/surfaces/audit/verify-audit.test.ts',
  'test/surfaces/testing/tape/property.test.ts',
  'test/surfaces/gateway/approval-secret.test.ts',
  'test/surfaces/relay/calls/request-recovery.test.ts',
  'test/surfaces/policy-engines/cedar/cedar-policy.test.ts',
  'test/parts/origins/red-team.test.ts',
  'test/surfaces/relay/http/sse.test.ts',
  'test/core/call/idempotency.property.test.ts',
  'test/surfaces/approvals/answering-processes.test.ts',
  'test/surfaces/relay/tools/read-definitions.test.ts',
  'test/surfaces/agents/shell/wrappers.test.ts',
  'test/values/json-schema/leave-out-patterns.test.ts',
  'test/core/call/rule-05-policy-layers.test.ts',
  'test/values/limits/rate-window.test.ts',
];

/** They take long, and `npm test` runs them: the code of each page, and what all surfaces share. */
const inEveryRun = ['test/docs.test.ts', 'test/surfaces/surfaces.test.ts'];

/** The files that `npm test` leaves to `npm run test:long`, by project. */
export const leftOut = {
  inside: heavy,
  outside: [...slow, ...long].filter((file) => !inEveryRun.includes(file)),
};

export default class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    const random = numbersFrom(sequence.seed);
    return files
      .map((file) => ({ file, name: relative(root, file.moduleId).replaceAll('\\', '/') }))
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ file, name }) => ({ file, name, place: random() }))
      .sort(
        (one, other) =>
          // A thread is of one project: to alternate would start threads again and again.
          Number(one.file.project.name === 'inside') -
            Number(other.file.project.name === 'inside') ||
          rank(one.name) - rank(other.name) ||
          one.place - other.place,
      )
      .map(({ file }) => file);
  }
}

const first = [...slow, ...long, ...heavy];

function rank(name: string): number {
  const at = first.indexOf(name);
  return at === -1 ? first.length : at;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
