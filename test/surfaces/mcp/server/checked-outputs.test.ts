/**
 * Clients of both generations of the SDK check each result against the output schema that they were
 * shown, and each listing against their own schemas. They accept everything that passes the gates.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, type JsonObject } from '../../../../src/index.ts';
import { createMcpHandler } from '../../../../src/surfaces/mcp/index.ts';

const rows: Readonly<Record<string, readonly [schema: unknown, output: unknown]>> = {
  url: [z.object({ link: z.url() }), { link: 'https://münchen.example/a b' }],
  intersection: [
    z.object({ id: z.string() }).and(z.record(z.string(), z.string())),
    { id: '1', note: 'x' },
  ],
  tuple: [z.object({ t: z.tuple([z.string()]).rest(z.number()) }), { t: ['x', 1] }],
  list: [z.array(z.iso.time()), ['10:00']],
  nothing: [z.null(), null],
  fraction: [{ type: 'object', properties: { n: { multipleOf: 0.1 } } }, { n: 0.3 }],
  booleans: [{ type: 'object', properties: { a: true, b: false } }, { a: 1 }],
  older: [
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        a: { items: [{ type: 'string' }] },
        b: { $ref: '#/definitions/b', type: 'null' },
      },
      definitions: { b: { type: 'string', pattern: '(?i)^b' } },
    },
    { a: ['x', 1], b: 'B' },
  ],
  same_address: [
    { $id: 'https://x.example/same', type: 'object', properties: { a: { type: 'string' } } },
    { a: 'x' },
  ],
  same_address_again: [
    { $id: 'https://x.example/same', type: 'object', properties: { a: { type: 'number' } } },
    { a: 1 },
  ],
};

function handlerOf(): ReturnType<typeof createMcpHandler> {
  const registry = new HostToolRegistry({ logger: { warn() {}, error() {} } });
  for (const [name, [outputSchema, output]] of Object.entries(rows))
    registry.register(
      defineTool({
        name,
        description: 'A tool.',
        // Older clients refuse a listing if the schema of a parameter is a boolean.
        parameters: { properties: { anything: true, nothing: false } },
        outputSchema: outputSchema as JsonObject,
        handler: () => output as never,
      }),
    );
  const handler = createMcpHandler(registry.createSession({ sessionId: 's' }));
  onTestFinished(() => handler.close());
  return handler;
}

interface AnyClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

test.each(['v1', 'v2, 2025 era', 'v2, 2026 era'])('the client of the SDK %s', async (which) => {
  const handler = handlerOf();
  const options = {
    fetch: (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init)),
  };
  const url = new URL('http://localhost/mcp');
  const info = { name: 'test', version: '1' };
  let client: AnyClient;
  if (which === 'v1') {
    const old = new OldClient(info);
    await old.connect(new OldTransport(url, options) as never);
    onTestFinished(() => old.close());
    client = old as unknown as AnyClient;
  } else {
    const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
    const now = new Client(info, which.includes('2026') ? modern : {});
    await now.connect(new StreamableHTTPClientTransport(url, options));
    onTestFinished(() => now.close());
    client = now as unknown as AnyClient;
  }
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(rows).sort());
  for (const [name, [, output]] of Object.entries(rows)) {
    const { structuredContent } = (await client.callTool({ name, arguments: {} })) as {
      structuredContent: unknown;
    };
    const isWrapped = ['list', 'nothing'].includes(name);
    expect(structuredContent).toEqual(isWrapped ? { result: output } : output);
  }
});
