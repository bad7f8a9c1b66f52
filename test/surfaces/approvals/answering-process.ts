/**
 * A process that answers suspended calls in a folder of approvals, or in a file of SQLite, where
 * two people have to allow each. It says when it is ready, answers at once all that it is then told
 * of, prints what came of each, and exits.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { fileApprovals } from '../../../src/surfaces/approvals/index.ts';

const [path = '', log = '', secret = '', by = '', rules = '[]'] = process.argv.slice(2);
const registry: HostToolRegistry = new HostToolRegistry({
  rules: JSON.parse(rules),
  approvals: {
    secret,
    store: path.endsWith('.db') ? sqliteStore({ path }) : fileApprovals({ dir: path }),
    session: ({ sessionId, principal }) =>
      registry.createSession({ sessionId, principal, approvalMode: 'suspend' }),
  },
});
registry.register(
  defineTool({
    name: 'pay',
    description: 'Pays an amount.',
    parameters: {
      type: 'object',
      properties: { amount: { type: 'number' }, to: { type: 'string' } },
      required: ['amount'],
    } as const,
    requiresApproval: true,
    handler: ({ amount }) => {
      appendFileSync(log, `${amount}\n`);
      return 'paid';
    },
  }),
);
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const ids = JSON.parse(line) as string[];
  const results = await Promise.all(
    ids.map((id) => registry.approvals.answer(id, { decision: 'allow_once', by })),
  );
  process.stdout.write(
    `${JSON.stringify(results.map((result) => (result.success ? 'ran' : result.error.reason)))}\n`,
  );
  break;
}
await registry.close();
process.stdin.destroy();
