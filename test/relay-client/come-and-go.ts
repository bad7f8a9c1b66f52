/** A process that connects to a relay, is called once, and closes. It is given `{ url, code, token, transport }` as JSON, and must end by itself. */
import { WebSocket } from 'ws';
import { connectRelay, type RelayClientOptions } from '../../src/relay/client.ts';

const options = JSON.parse(process.argv[2] ?? '') as Pick<RelayClientOptions, 'url' | 'code' | 'token' | 'transport'>;
let onCall = (): void => {};
const called = new Promise<void>((resolve) => {
  onCall = resolve;
});
const connection = await connectRelay({
  ...options,
  WebSocket,
  tools: [{ name: 'a', description: 'A.', parameters: { type: 'object' }, handler: () => onCall() }],
});
process.stdout.write(`${connection.transport}\n`);
await called;
await connection.close();
process.stdout.write(`${connection.status}\n`);
