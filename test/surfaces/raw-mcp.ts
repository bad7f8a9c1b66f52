/** Asks an MCP server in this process, without a client that could read or change its answers. */
import type { ToolSession } from '../../src/index.ts';
import { toClaudeAgent } from '../../src/surfaces/claude-agent/index.ts';
import { createMcpHandler } from '../../src/surfaces/mcp/index.ts';

type Json = Record<string, unknown>;

/** The text of the answer to one request of the 2026 era, over HTTP. */
export async function askModern(
  session: ToolSession,
  method: string,
  params: Json = {},
): Promise<string> {
  const version = '2026-07-28';
  const handler = createMcpHandler(session);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const text = await (await handler.fetch(request)).text();
  await handler.close();
  return text;
}

/** The messages that the server for Claude's agent sends in answer to one request. */
export async function askClaudeAgent(
  session: ToolSession,
  method: string,
  params: Json = {},
): Promise<readonly Json[]> {
  const server = Object.values(toClaudeAgent(session).mcpServers)[0] as unknown as {
    readonly instance: { connect(transport: object): Promise<void> };
  };
  const sent: Json[] = [];
  let answered: (() => void) | undefined;
  const done = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const transport = {
    onmessage: undefined as ((message: Json) => void) | undefined,
    start: async () => {},
    async send(message: Json) {
      sent.push(message);
      if (message.id === 1) answered?.();
    },
  };
  await server.instance.connect(transport);
  transport.onmessage?.({ jsonrpc: '2.0', id: 1, method, params });
  await done;
  return sent;
}
