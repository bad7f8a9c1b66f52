/** A process that reads messages over stdio, answers none, and has nothing else to do. */
import { lineTransport } from '../../../../src/surfaces/mcp/server/lines.ts';

const transport = lineTransport(process.stdin, process.stdout, 100);
const closed = new Promise<void>((resolve) => {
  transport.onclose = resolve;
});
await transport.start();
await closed;
process.stdout.write('closed\n');
