/**
 * A process that connects to a relay and closes when its standard input ends. It is given
 * `{ url, code, token, transport }` as JSON, and must end by itself.
 */
import { WebSocket } from 'ws';
import { connectRelay, type RelayClientOptions } from '../../../src/surfaces/relay-client/index.ts';

const options = JSON.parse(process.argv[2] ?? '') as Pick<
  RelayClientOptions,
  'url' | 'code' | 'token' | 'transport'
>;
const tools = [
  { name: 'a', description: 'A.', parameters: { type: 'object' }, handler: () => 'called' },
];
const connection = await connectRelay({ ...options, WebSocket, tools });
process.stdout.write(`${connection.transport}\n`);
await new Promise((resolve) => process.stdin.once('end', resolve).resume());
await connection.close();
process.stdout.write(`${connection.status}\n`);
