/**
 * A node of a relay as a process of its own. Given `{ redisPort, ...options }` as JSON, it prints
 * its URL and serves until it is killed, or whoever started it has gone.
 */
import { Redis } from 'ioredis';
import { defineTool, jsonSchema } from '../../../src/index.ts';
import { redisBus, redisStore } from '../../../src/stores/redis/index.ts';
import { serveRelay } from '../../../src/surfaces/relay/index.ts';
import type { NodeOptions } from './relay-processes.ts';

const { redisPort, ...options } = JSON.parse(process.argv[2] ?? '{}') as NodeOptions & {
  readonly redisPort: number;
};
const client = new Redis({
  port: redisPort,
  host: '127.0.0.1',
  autoResendUnfulfilledCommands: false,
  retryStrategy: () => 50,
});
client.on('error', () => {});
const host = defineTool({
  name: 'host_time',
  description: 'The host has it.',
  parameters: jsonSchema({ type: 'object' }),
  handler: () => 'now',
});
const { url } = await serveRelay({
  port: 0,
  store: redisStore({ client }),
  bus: redisBus({ client }),
  limits: {
    updatesPerMinute: 1_000,
    requestsPerMinute: 100_000,
    responsesPerMinute: 100_000,
    sessionsPerMinute: 10_000,
    // Applications of these tests come back at once, again and again.
    streamsPerMinute: 100_000,
    readsPerMinute: 100_000,
  },
  session: { tools: [host] },
  ...options,
});
process.stdin.on('end', () => process.exit()).resume();
process.stdout.write(`${url}\n`);
