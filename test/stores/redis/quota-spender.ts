/**
 * A process that spends from quotas in Redis as fast as it can, from its own registry. It says that
 * it is ready, spends when it is told to, and prints how many of its calls ran.
 */
import { Redis } from 'ioredis';
import { defineTool, HostToolRegistry, type Quota } from '../../../src/index.ts';
import { redisQuotas } from '../../../src/stores/redis/index.ts';

interface Given {
  readonly redisPort: number;
  readonly prefix: string;
  readonly quotas: readonly Quota[];
  readonly calls: number;
  readonly atOnce: number;
}

const given = JSON.parse(process.argv[2] as string) as Given;
const client = new Redis({ port: given.redisPort, host: '127.0.0.1' });
await client.ping();
const registry = new HostToolRegistry({
  quotas: given.quotas,
  quotaStore: redisQuotas({ client, prefix: given.prefix, commandTimeoutMs: 30_000 }),
  policyTimeoutMs: 60_000,
});
let ran = 0;
registry.register(
  defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object' },
    handler: () => ++ran,
  }),
);
const session = registry.createSession({ sessionId: `of ${process.pid}`, principal: 'ann' });
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));

const reasons: Record<string, number> = {};
for (let done = 0; done < given.calls; done += given.atOnce)
  await Promise.all(
    Array.from({ length: given.atOnce }, async () => {
      const { error } = await session.call('pay', { amount: 0.1, to: ['bob', 'cat'] });
      const reason = error === undefined ? 'ran' : (error.reason ?? error.code);
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    }),
  );
process.stdout.write(`${JSON.stringify({ ran, reasons })}\n`);
client.disconnect();
process.stdin.unref();
