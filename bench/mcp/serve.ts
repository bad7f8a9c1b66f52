/**
 * An MCP server over HTTP in a process of its own: ours or the protocol package's, with the same
 * handler behind the same adapter to `node:http`.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, toNodeListener } from '../../src/surfaces/mcp/index.ts';
import { description, handler, type Input, schema, sessionOver, zodTool } from '../fixtures.ts';
import { load } from '../peers/load.ts';

type Fetch = (request: Request) => Promise<Response>;

/** What is used of the package. */
interface Package {
  McpServer: new (
    info: object,
  ) => {
    registerTool(name: string, config: object, handler: (given: Input) => unknown): unknown;
    connect(transport: unknown): Promise<void>;
  };
  createMcpHandler(factory: () => unknown, options: object): { fetch: Fetch };
  isLegacyRequest(request: Request): Promise<boolean>;
  WebStandardStreamableHTTPServerTransport: new (options: object) => { handleRequest: Fetch };
}

/**
 * As its documentation has it: a server for each request of the 2026 era, a server and a transport
 * for each session of the 2025 era.
 */
function theirs(sdk: Package): Fetch {
  const makeServer = (): InstanceType<Package['McpServer']> => {
    const server = new sdk.McpServer({ name: 'bench', version: '1.0.0' });
    server.registerTool('forecast', { description, inputSchema: schema }, async (given) => ({
      content: [{ type: 'text', text: JSON.stringify(await handler(given)) }],
    }));
    return server;
  };
  const modern = sdk.createMcpHandler(makeServer, { legacy: 'reject' });
  const sessions = new Map<
    string,
    InstanceType<Package['WebStandardStreamableHTTPServerTransport']>
  >();
  return async (request) => {
    if (!(await sdk.isLegacyRequest(request))) return modern.fetch(request);
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known !== undefined) return known.handleRequest(request);
    const id = randomUUID();
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
    });
    sessions.set(id, transport);
    await makeServer().connect(transport);
    return transport.handleRequest(request);
  };
}

async function fetchOf(kind: string): Promise<Fetch> {
  if (kind === 'ours') return createMcpHandler(sessionOver([zodTool])).fetch;
  const sdk = await load<Package>('@modelcontextprotocol/server');
  if (sdk === undefined) throw new Error('The package is not installed.');
  return theirs(sdk);
}

const server = createServer(toNodeListener({ fetch: await fetchOf(process.argv[2] ?? 'ours') }));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', (asked) => {
  if (asked === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
    return;
  }
  process.disconnect?.();
  // Profiles are written on the way out.
  process.exit();
});
