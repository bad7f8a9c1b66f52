/**
 * An application as a process of its own: registers `once` and `again`, and writes into a file what
 * its handlers do, before and after they do it.
 */
import { appendFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import {
  connectRelay,
  type RelayArguments,
  type RelayCallContext,
  type RelayTransport,
  type RelayWebSocket,
} from '../../../../src/surfaces/relay-client/index.ts';
import type { LedgerLine } from './relay-processes.ts';

interface Given {
  readonly url: string;
  readonly code: string;
  readonly token: string;
  readonly ledger: string;
  readonly instance: string;
  readonly transport: RelayTransport;
}

const { ledger, instance, ...given } = JSON.parse(process.argv[2] ?? '{}') as Given;
const write = (line: LedgerLine): void => appendFileSync(ledger, `${JSON.stringify(line)}\n`);

async function run(
  { n, ms }: RelayArguments,
  { requestId: id, attempt, deadline }: RelayCallContext,
) {
  write({ event: 'started', id, instance, attempt, lateMs: Date.now() - deadline });
  // What was begun by one that is gone need not be waited for again.
  await new Promise((resolve) => setTimeout(resolve, attempt === 1 ? Number(ms) : 0));
  write({ event: 'finished', id, instance, attempt });
  return { n: n ?? null, instance };
}

const parameters = {
  type: 'object',
  properties: { n: { type: 'number' }, ms: { type: 'number' } },
  required: ['n', 'ms'],
};
await connectRelay({
  ...given,
  WebSocket: WebSocket as unknown as new (url: string) => RelayWebSocket,
  // Comes back within some 50 ms instead of a second: there is more to see in the time that a test
  // has.
  random: () => -1.4,
  tools: [
    { name: 'once', description: 'Must not run twice.', parameters, handler: run },
    {
      name: 'again',
      description: 'May run twice.',
      parameters,
      annotations: { idempotent: true },
      handler: run,
    },
  ],
});
process.stdin.on('end', () => process.exit()).resume();
process.stdout.write('connected\n');
