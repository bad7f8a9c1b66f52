/** `serve`: the tools of the command line for MCP clients. */
import { createServer, type Server } from 'node:http';
import { messageOf } from '../internal.ts';
import { createMcpHandler, serveMcpStdio, toNodeListener } from '../mcp.ts';
import type { CliIo } from './cli-io.ts';
import { type Answer, type Command, worldOptions } from './command.ts';
import { failure, usageFault } from './fault.ts';
import type { Screen } from './screen.ts';
import type { World } from './world.ts';

/** Where to listen. */
interface Address {
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
}

const path = '/mcp';
const loopback = ['localhost', '127.0.0.1', '[::1]'];
/** Standard output had the protocol. */
const done: Answer = { exit: 0, text: '', json: null, silent: true };

export const serve: Command = {
  name: 'serve',
  usage: '[--http [HOST:]PORT]',
  summary: 'serve the tools to MCP clients, over stdio or HTTP',
  notes: [
    'Over stdio it ends when its client has gone; standard output carries the protocol alone.',
    `With --http it answers at ${path} until it is interrupted. Anybody who reaches the address may call the tools: keep it on the loopback.`,
  ],
  options: [...worldOptions, 'http'],
  operands: [],
  async run({ io, screen, options, world }) {
    const address = options.http === undefined ? undefined : readAddress(options.http);
    if (address === undefined && options.facts === '-') throw usageFault('Standard input carries the protocol: give `--facts` as JSON or `@FILE`.');
    const loaded = await world();
    loaded.requireRules();
    // Now, so that a profile that is not there ends the command and not each client's session.
    const session = loaded.session();
    if (address !== undefined) {
      await session.close();
      return overHttp(loaded, address, io, screen);
    }
    const served = serveMcpStdio(session, { stdin: io.stdin, stdout: io.stdout });
    await untilAborted(io.signal, served.closed);
    await served.close();
    return done;
  },
};

async function overHttp(loaded: World, { host, port }: Address, io: CliIo, screen: Screen): Promise<Answer> {
  const shown = host.includes(':') ? `[${host}]` : host;
  // A client of the 2026 era asks its person between two requests, so that the call is suspended meanwhile; whoever reaches the address is one and the same.
  const handler = createMcpHandler(({ era }) => loaded.session(era === 'modern' ? { approvalMode: 'suspend', principal: 'local' } : {}), {
    allowedHosts: [...loopback, shown],
    onError: (error) => screen.note(`warning: ${messageOf(error)}`),
  });
  // Before anybody is told where to knock: without its package every request would fail.
  await handler.fetch(new Request(`http://localhost${path}`, { method: 'OPTIONS' }));
  const answer = toNodeListener(handler);
  // What is slow to say what it wants is not waited for.
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000 }, (request, response) => {
    if (request.url?.split('?', 1)[0] === path) answer(request, response);
    else response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`MCP is at ${path}.\n`);
  });
  const at = await listen(server, host, port);
  screen.note(`Serving MCP at http://${shown}:${at.port}${path}`);
  if (!loopback.includes(shown)) screen.note('warning: this address is not the loopback, and whoever reaches it may call the tools.');
  await untilAborted(io.signal);
  await handler.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return done;
}

function listen(server: Server, host: string, port: number): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(failure(`Cannot listen on ${host}:${port}: ${messageOf(error)}`)));
    server.listen(port, host, () => resolve(server.address() as { port: number }));
  });
}

/** Until the person interrupts, or `ended` settles; rejects as that does. */
function untilAborted(signal: AbortSignal, ended?: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve();
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    ended?.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** @throws CliFault 2 */
function readAddress(text: string): Address {
  const [, bracketed, plain, digits = ''] = /^(?:(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):)?(\d{1,5})$/i.exec(text) ?? [];
  const port = digits === '' ? Number.NaN : Number(digits);
  if (!(port <= 65_535)) throw usageFault(`Expected \`--http\` to be PORT or HOST:PORT, with a port up to 65535, got \`${text.slice(0, 60)}\`.`);
  return { host: bracketed ?? plain?.toLowerCase() ?? '127.0.0.1', port };
}
