/** An MCP client and server, connected. */
import { description, handler, type Input, schema, zodParameters } from '../fixtures.ts';
import { load } from './load.ts';

export interface McpClient {
  connect(transport: unknown): Promise<void>;
  callTool(request: object): Promise<unknown>;
  listTools(params?: object): Promise<{ readonly tools: readonly unknown[] }>;
  close(): Promise<void>;
}
interface ServerModule {
  McpServer: new (
    info: object,
  ) => {
    registerTool(name: string, config: object, handler: (given: never) => unknown): unknown;
    connect(transport: unknown): Promise<void>;
    close(): Promise<void>;
  };
  InMemoryTransport?: Transports;
}
interface ClientModule {
  Client: new (info: object) => McpClient;
  InMemoryTransport?: Transports;
}
interface Transports {
  createLinkedPair(): [unknown, unknown];
}

/** With the one tool of the calls, or with so many listed ones. */
export async function connectMcp(
  listed = 0,
): Promise<{ readonly client: McpClient; close(): Promise<void> } | undefined> {
  const serverModule = await load<ServerModule>('@modelcontextprotocol/server');
  const clientModule = await load<ClientModule>('@modelcontextprotocol/client');
  const transports = serverModule?.InMemoryTransport ?? clientModule?.InMemoryTransport;
  if (serverModule === undefined || clientModule === undefined || transports === undefined)
    return undefined;
  const server = new serverModule.McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool('forecast', { description, inputSchema: schema }, async (given: Input) => ({
    content: [{ type: 'text', text: JSON.stringify(await handler(given)) }],
  }));
  for (let index = 0; index < listed; index++)
    server.registerTool(
      `tool_${index}`,
      { description, inputSchema: zodParameters(index) },
      async () => ({ content: [] }),
    );
  const client = new clientModule.Client({ name: 'bench', version: '1.0.0' });
  const [near, far] = transports.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  return {
    client,
    close: async () => {
      await client.close();
      await server.close();
    },
  };
}
