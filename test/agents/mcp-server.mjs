/** An MCP server with the tools `look` and `send`, over stdio. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'mail', version: '1.0.0' });
for (const [name, done] of [
  ['look', 'looked'],
  ['send', 'sent'],
])
  server.registerTool(
    name,
    { description: `It has ${done}.`, inputSchema: { text: z.string() } },
    () => ({ content: [{ type: 'text', text: done }] }),
  );
await server.connect(new StdioServerTransport());
