// A server on the SDK's v2 over standard input and output: it speaks both eras.
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

// What careless servers write first.
process.stdout.write(process.env.NOISE ?? '');
serveStdio(() => {
  const server = new McpServer({ name: 'sdk', version: '1.0.0' });
  const any = fromJsonSchema({ type: 'object', properties: { n: { type: 'number' } } });
  server.registerTool(
    'double',
    { description: 'Doubles.', inputSchema: any, outputSchema: any },
    async ({ n }) => ({
      content: [{ type: 'text', text: String(2 * n) }],
      structuredContent: { n: 2 * n },
    }),
  );
  server.registerTool(
    'wait',
    { description: 'Waits.', inputSchema: any },
    (_, { mcpReq }) => new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve)),
  );
  return server;
});
