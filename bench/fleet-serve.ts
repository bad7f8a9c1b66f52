/**
 * The workers' side of the rows about fleets: a fleet and a bare worker of BullMQ, in one process.
 */
import { Worker } from 'bullmq';
import { serveFleet } from '../src/executors/bullmq/index.ts';
import { defineTool, type JsonObject } from '../src/index.ts';

const connection = { host: '127.0.0.1', port: Number(process.argv[2]) };
const concurrency = 16;

await serveFleet({
  connection,
  queue: 'fleet',
  concurrency,
  tools: [
    defineTool({
      name: 'echo',
      description: 'Answers with its input.',
      parameters: { type: 'object' },
      handler: (input) => input as JsonObject,
    }),
  ],
});
const bare = new Worker('bare', async ({ data }) => data, { connection, concurrency });
await bare.waitUntilReady();
process.send?.('ready');
process.once('disconnect', () => process.exit(0));
