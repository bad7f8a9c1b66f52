import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type RegistryOptions,
  type ToolSession,
} from '../../../../src/index.ts';
import { createMcpHandler, type McpHandlerOptions } from '../../../../src/surfaces/mcp/index.ts';
import { paramHeaderMismatch } from '../../../../src/surfaces/mcp/server/param-headers.ts';
import { tool } from '../client/raw-http.ts';
import { closeAll, imports, serve } from '../client/world.ts';
import { connectClient, eras, listen, opened, post } from './kit.ts';

const open = opened();
afterEach(async () => {
  await open.close();
  await closeAll();
});

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const call = (name: string, input: unknown, headers: Record<string, string> = {}): Request =>
  post(
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input, _meta: meta },
    },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...headers,
    },
  );
const sentinel = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

const schema: JsonObject = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    size: { type: 'integer', 'x-mcp-header': 'Size' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    place: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
  },
};

describe('a header that repeats an argument', () => {
  test.each<[string, unknown, Record<string, string>]>([
    ['is not needed for what is not given', {}, {}],
    ['is not needed for null', { region: null }, {}],
    [
      'says the same',
      { region: 'eu', size: 42, dry: false },
      { 'mcp-param-region': 'eu', 'MCP-PARAM-SIZE': '42', 'Mcp-Param-Dry': 'false' },
    ],
    [
      'is Base64 where text is no header',
      { region: 'Zürich\n' },
      { 'mcp-param-region': sentinel('Zürich\n') },
    ],
    [
      'is Base64 of what looks like Base64',
      { region: sentinel('eu') },
      { 'mcp-param-region': sentinel(sentinel('eu')) },
    ],
    [
      'keeps a byte order mark',
      { region: '\ufeffeu' },
      { 'mcp-param-region': sentinel('\ufeffeu') },
    ],
    ['is compared as a number', { size: 42 }, { 'mcp-param-size': '42.0' }],
    ['stands for an argument within another', { place: { zone: 'a' } }, { 'mcp-param-zone': 'a' }],
    ['cannot repeat an integer that JSON rounds', { size: 2 ** 60 }, {}],
    [
      'of no argument is none of ours',
      { region: 'eu' },
      { 'mcp-param-region': 'eu', 'mcp-param-other': 'x' },
    ],
  ])('%s', (_rule, input, headers) => {
    expect(paramHeaderMismatch(schema, input, new Headers(headers))).toBeUndefined();
  });

  test.each<[string, unknown, Record<string, string> | [string, string][]]>([
    ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
    ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
    ['missing', { region: 'eu' }, {}],
    ['an empty argument', { region: '' }, {}],
    ['no argument', {}, { 'mcp-param-region': 'us' }],
    ['null', { region: null }, { 'mcp-param-region': 'null' }],
    ['an inherited member', Object.create({ region: 'eu' }), { 'mcp-param-region': 'eu' }],
    [
      'twice',
      { region: 'eu' },
      [
        ['mcp-param-region', 'eu'],
        ['Mcp-Param-Region', 'us'],
      ],
    ],
    [
      'twice the same',
      { region: 'eu' },
      [
        ['mcp-param-region', 'eu'],
        ['Mcp-Param-Region', 'eu'],
      ],
    ],
    ['Base64 of another value', { region: 'eu' }, { 'mcp-param-region': sentinel('us') }],
    ['Base64 without padding', { region: 'eu!!' }, { 'mcp-param-region': '=?base64?ZXUhIQ?=' }],
    ['Base64 of another alphabet', { region: '???' }, { 'mcp-param-region': '=?base64?Pz8_?=' }],
    ['Base64 with blanks', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZX U=?=' }],
    ['Base64 that is no UTF-8', { region: '\ufffd' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    ['the mark in capitals', { region: 'eu' }, { 'mcp-param-region': '=?BASE64?ZXU=?=' }],
    [
      'what only looks like Base64',
      { region: sentinel('eu') },
      { 'mcp-param-region': sentinel('eu') },
    ],
    ['hexadecimal', { size: 16 }, { 'mcp-param-size': '0x10' }],
    ['blanks around a number', { size: 4 }, { 'mcp-param-size': sentinel(' 4') }],
    ['a number as text', { size: '42' }, { 'mcp-param-size': '42.0' }],
    ['an integer that JSON rounds', { size: 2 ** 60 }, { 'mcp-param-size': String(2 ** 60) }],
    ['a list of the value', { region: ['eu'] }, { 'mcp-param-region': 'eu' }],
    ['a list, without the header', { region: ['eu'] }, {}],
    ['text that may be mended into an object', { place: '{"zone":"a"}' }, {}],
    ['arguments that may be mended into an object', '{"region":"eu"}', {}],
    ['arguments that are a list', ['eu'], {}],
  ])('is refused: %s', (_what, input, headers) => {
    expect(paramHeaderMismatch(schema, input, new Headers(headers))).toMatch(/header/);
  });

  test.each<[string, JsonObject]>([
    [
      'of a name that is no token',
      { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'a b' } } },
    ],
    [
      'on an object',
      { type: 'object', properties: { region: { type: 'object', 'x-mcp-header': 'Region' } } },
    ],
    [
      'under items',
      {
        type: 'object',
        properties: {
          list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Region' } },
        },
      },
    ],
    ['on the root', { type: 'object', 'x-mcp-header': 'Region' }],
  ])('is not looked for %s, where the protocol has no such mark', (_where, odd) => {
    expect(paramHeaderMismatch(odd, { region: 'eu', list: ['eu'] }, new Headers())).toBeUndefined();
  });
});

/** A handler over a registry with `query`, and what it ran with. */
function world(
  parameters: unknown = schema,
  registryOptions: RegistryOptions = {},
  options: McpHandlerOptions = {},
) {
  const registry = new HostToolRegistry(registryOptions);
  const ran: unknown[] = [];
  registry.register(
    defineTool({
      name: 'query',
      description: 'Queries.',
      parameters: parameters as JsonObject,
      handler: (input) => {
        ran.push(input);
        return 'ran';
      },
    }),
  );
  const made: ToolSession[] = [];
  const handler = createMcpHandler(() => {
    const session = registry.createSession({ sessionId: 's', repair: 'safe' });
    made.push(session);
    return session;
  }, options);
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  return { registry, ran, handler, made };
}

describe('a call in the 2026 era whose headers disagree with its body', () => {
  test(
    'is 400 with -32020 and its id, and nothing runs; the session that was made for it is ' +
      'closed',
    async () => {
      const told: unknown[] = [];
      const { handler, ran, made } = world(schema, {}, { onError: (error) => told.push(error) });
      const response = await handler.fetch(
        call('query', { region: 'eu' }, { 'mcp-param-region': 'us' }),
      );
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { id: 1, error: { code: -32_020 } },
      ]);
      expect(ran).toEqual([]);
      expect(await made[0]?.call('query', {})).toMatchObject({ error: { code: 'session_closed' } });
      expect(told).toHaveLength(1);
      expect(
        (await handler.fetch(call('query', { region: 'eu' }, { 'mcp-param-region': 'eu' }))).status,
      ).toBe(200);
      expect(ran).toEqual([{ region: 'eu' }]);
    },
  );

  test('is refused before arguments are mended, and before defaults are filled in', async () => {
    const { handler, ran } = world(
      z.object({ region: z.string().default('eu').meta({ 'x-mcp-header': 'Region' }) }),
    );
    for (const [input, headers] of [
      ['{"region":"eu"}', { 'mcp-param-region': 'us' }],
      ['{"region":"eu"}', {}],
      [{}, { 'mcp-param-region': 'us' }],
    ] as const)
      expect((await handler.fetch(call('query', input, headers))).status).toBe(400);
    expect(ran).toEqual([]);
  });

  test.each(eras)(
    'the official client repeats what must be repeated, in the %s era',
    async (era) => {
      const registry = new HostToolRegistry();
      registry.register(
        defineTool({
          name: 'query',
          description: 'Queries.',
          parameters: schema,
          handler: (input) => JSON.stringify(input),
        }),
      );
      const { url } = await listen(open, () => registry.createSession({ sessionId: 's' }));
      const client = await connectClient(open, url, era);
      await client.listTools();
      const input = { region: ' Zürich ', size: 42, dry: true, place: { zone: '=?base64?eA==?=' } };
      expect(await client.callTool({ name: 'query', arguments: input })).toMatchObject({
        content: [{ text: JSON.stringify(input) }],
      });
    },
  );

  test('is refused for an imported tool that is served on, too', async () => {
    const server = await serve([tool('query', { inputSchema: schema })]);
    const imported = await imports(server);
    const registry = new HostToolRegistry();
    registry.registerAll(imported.tools);
    const handler = createMcpHandler(() => registry.createSession({ sessionId: 's' }));
    open.defer(async () => {
      await handler.close();
      await registry.close();
    });
    expect(
      (await handler.fetch(call('query', { region: 'eu' }, { 'mcp-param-region': 'us' }))).status,
    ).toBe(400);
    expect(server.received.filter(({ method }) => method === 'tools/call')).toEqual([]);
    expect(
      (await handler.fetch(call('query', { region: 'eu' }, { 'mcp-param-region': 'eu' }))).status,
    ).toBe(200);
  });
});

test('a browser may send those headers: a preflight allows exactly those it asks for', async () => {
  const { handler } = world(schema, {}, { allowedOrigins: ['https://app.example.com'] });
  const ask = async (names: string): Promise<string> => {
    const headers = {
      Origin: 'https://app.example.com',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': names,
    };
    const response = await handler.fetch(
      new Request('http://127.0.0.1/mcp', { method: 'OPTIONS', headers }),
    );
    expect([response.status, response.headers.get('vary')]).toEqual([
      204,
      'Origin, Access-Control-Request-Headers',
    ]);
    return response.headers.get('access-control-allow-headers') as string;
  };
  expect(await ask('content-type, mcp-param-region,Mcp-Param-Size')).toMatch(
    /Mcp-Name, mcp-param-region, Mcp-Param-Size$/,
  );
  expect(await ask('x-other, mcp-param-, mcp-param-a b')).toMatch(/Mcp-Name$/);
  expect(
    (await ask(Array.from({ length: 500 }, (_, index) => `mcp-param-${index}`).join(','))).split(
      ', ',
    ),
  ).toHaveLength(108);
});
