/**
 * A process that answers calls which two people have to allow, over one SQLite file. It says when it
 * is ready, answers at once all that it is then told of, prints what came of each, and exits.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';

const [path = '', log = '', secret = '', by = ''] = process.argv.slice(2);
const store = sqliteStore({ path });
await store.migrate();
const registry: HostToolRegistry = new HostToolRegistry({
  store,
  rules: [{ effect: 'ask', tools: 'pay', approvers: { any: ['bob', 'eve'], count: 2 } }],
  approvals: {
    secret,
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
      properties: { amount: { type: 'number' } },
      required: ['amount'],
    } as const,
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
