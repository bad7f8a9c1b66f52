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

/** Other files of the project `outside` that take five seconds and more. */
export const long = [
  'test/surfaces/inspector/page.test.ts',
  'test/surfaces/inspector/page-programs.test.ts',
  'test/surfaces/pages/take-back.test.ts',
  'test/surfaces/pages/actor.test.ts',
  'test/surfaces/inspector/page-make.test.ts',
  'test/surfaces/inspector/page-words.test.ts',
  'test/surfaces/inspector/page-approvals.test.ts',
  'test/surfaces/approvals/page.test.ts',
  'test/cli/hook/hook-process.test.ts',
  'test/executors/bullmq/fleet.test.ts',
  'test/examples/demo-inspect.test.ts',
  'test/surfaces/relay-client/live-connection.test.ts',
  'test/executors/sandbox/conformance.test.ts',
  'test/executors/sandbox/sandboxes.test.ts',
  'test/surfaces/config/read-file.test.ts',
  'test/surfaces/mcp/client/stdio.test.ts',
  'test/stores/redis/redis-store.test.ts',
  'test/cli/worker.test.ts',
  'test/cli/gateway-approvals.test.ts',
  'test/cli/safe-outputs.test.ts',
  'test/surfaces/audit/processes.test.ts',
];

/**
 * Files of the project `inside` that take two seconds of a core and more. `npm run test:quick` runs
 * those of the changed folders.
 */
export const heavy = [
  'test/surfaces/testing/conformance/store-conformance.test.ts',
  'test/surfaces/audit/losses.test.ts',
  'test/surfaces/relay/stall-points.test.ts',
  'test/core/rules/rules.test.ts',
  'test/values/limits/rate-window.test.ts',
  'test/values/json-schema/inclusion.test.ts',
  'test/surfaces/workflow/loop-in-adversity.test.ts',
  'test/values/schema/attacks.test.ts',
  'test/faults.test.ts',
  'test/core/rules/rules-oracle.test.ts',
  'test/core/call/own-members.test.ts',
  'test/types-budget.test.ts',
  'test/types/messages.test.ts',
  'test/surfaces/shared/strict/to-strict-schema.test.ts',
  'test/surfaces/agents/shell/read-line.test.ts',
  'test/parts/origins/echoes.test.ts',
  'test/parts/origins/json-texts.test.ts',
  'test/parts/origins/slices.test.ts',
  'test/parts/origins/text.test.ts',
  'test/parts/origins/whole-words.test.ts',
];

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
