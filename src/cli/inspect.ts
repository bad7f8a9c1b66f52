/** `inspect`: shows the tools of the command line in a page. */
import { createServer } from 'node:http';
import { createInspector } from '../surfaces/inspector/index.ts';
import { toNodeListener } from '../surfaces/mcp/index.ts';
import { writeOut } from './cli-io.ts';
import type { Answer, Command } from './command.ts';
import { listen, untilAborted } from './listen.ts';
import { jsonText } from './printable.ts';
import { driversOf } from './store/open-store.ts';

const defaultPort = 4_041;
const host = '127.0.0.1';
/** The address has already been written to standard output. */
const done: Answer = { exit: 0, text: '', json: null, silent: true };

export const inspect: Command = {
  name: 'inspect',
  usage: '[--port N] [--allow-calls]',
  summary: 'show tools, profiles, rules and calls on a local page',
  notes: [
    'It listens on http://127.0.0.1:4041 until it is interrupted. The address that it prints ' +
      'contains a token. Without the token, the page shows nothing.',
    'With --allow-calls, the page has a form for calls. They pass all gates, and approvals that ' +
      'they need are answered on the page.',
  ],
  options: ['host-tools', 'host-tools-module', 'store', 'port', 'allow-calls'],
  wording: {
    port: { value: 'N', help: 'listen on this port; default 4041; 0 is any free port' },
  },
  operands: [],
  packages: driversOf,
  gateway: { records: true },
  keeps: true,
  runsPrograms: true,
  async run({ io, screen, options, world, store }) {
    const loaded = await world();
    loaded.requireRules();
    const inspector = createInspector(loaded.registry, {
      allowCalls: options.allowCalls,
      store: store?.store,
    });
    // Slow requests are not waited for. Streams have no end.
    const server = createServer({ headersTimeout: 10_000 }, toNodeListener(inspector));
    try {
      const { port } = await listen(server, host, options.listen.port ?? defaultPort);
      const url = `http://${host}:${port}/#token=${inspector.token}`;
      screen.note('The inspector is at the address below. Whoever has it sees all calls.');
      await writeOut(io.stdout, `${options.output.json ? jsonText({ url, port }) : url}\n`);
      await untilAborted(io.signal);
      return done;
    } finally {
      await inspector.close();
      server.closeAllConnections();
      server.close();
    }
  },
};
