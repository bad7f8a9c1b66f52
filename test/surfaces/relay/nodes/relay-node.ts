/**
 * A node of a relay as a process of its own. Given `{ place, ...options }` as JSON, it prints
 * its URL and serves until it is killed, or whoever started it has gone.
 */
import { defineTool, jsonSchema } from '../../../../src/index.ts';
import { serveRelay } from '../../../../src/surfaces/relay/index.ts';
import type { NodeOptions } from './relay-processes.ts';
import { openStore, type StorePlace } from './shared-stores.ts';

const { place, ...options } = JSON.parse(process.argv[2] ?? '{}') as NodeOptions & {
  readonly place: StorePlace;
};
const host = defineTool({
  name: 'host_time',
  description: 'The host has it.',
  parameters: jsonSchema({ type: 'object' }),
  handler: () => 'now',
});
const { url } = await serveRelay({
  port: 0,
  store: openStore(place),
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
