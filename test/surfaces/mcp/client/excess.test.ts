/**
 * What a hostile server sends too much of, or wrongly: it costs its own call a short failure, and
 * the host no more than reading it once.
 */
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type ConnectedMcpClient,
  type ImportedMcpTools,
  importMcpTools,
} from '../../../../src/surfaces/mcp/index.ts';
import { type RawServer, tool, writes } from './raw-http.ts';
import { brief, closeAll, closing, imports, serve, sessionOver } from './world.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeAll();
});

const eras = ['2025', '2026'] as const;
type Era = (typeof eras)[number];
const complete = (era: Era, result: object): object =>
  era === '2026' ? { resultType: 'complete', ...result } : result;
const script = fileURLToPath(new URL('raw-stdio.mjs', import.meta.url));

async function serverOf(era: Era): Promise<RawServer> {
  const server = await serve([tool('one')]);
  server.modern = era === '2026';
  return server;
}

/** What comes of a call that the server answers so. */
async function outcomes(
  era: Era,
  results: readonly object[],
): Promise<{ readonly brief: unknown; readonly message: string }[]> {
  const server = await serverOf(era);
  const session = sessionOver(await imports(server));
  const seen = [];
  for (const result of results) {
    server.call = () => complete(era, result);
    const answer = await session.call('one', {});
    seen.push({ brief: brief(answer), message: answer.success ? '' : answer.error.message });
  }
  return seen;
}

const times = <T>(count: number, one: T): T[] => Array<T>(count).fill(one);

describe.each(eras)('a result of the %s era', (era) => {
  const malformed: unknown[] = [
    {},
    1,
    null,
    [],
    'x',
    { type: 'text' },
    { type: 'image', mimeType: 'image/png' },
    { type: 'audio', data: 7 },
    { type: 'resource_link' },
    { type: 'resource', resource: { uri: 'x:1' } },
    { type: 5 },
  ];
  test('with 20 000 malformed parts is one short failure, whatever they are', async () => {
    for (const { brief: what, message } of await outcomes(
      era,
      malformed.map((part) => ({ content: times(20_000, part) })),
    ))
      expect([what, message]).toEqual([
        ['handler_error', 'mcp_invalid_result'],
        'The MCP server returned a result that does not follow the protocol: part 0 of `content` ' +
          'is malformed.',
      ]);
  });

  test('of a part that is not known yet is taken, and says so', async () => {
    expect(await outcomes(era, [{ content: [{ type: 'hologram' }] }])).toMatchObject([
      { brief: [{ type: 'text', text: '[content of an unknown kind]' }] },
    ]);
  });

  test('whose members are of other types is refused for the first of them', async () => {
    const seen = await outcomes(era, [{ content: null }, { content: [], isError: 'yes' }]);
    expect(seen.map(({ brief: what }) => what)).toEqual(
      times(2, ['handler_error', 'mcp_invalid_result']),
    );
  });

  test('of any shape is an output or a short failure', async () => {
    const server = await serverOf(era);
    const session = sessionOver(await imports(server));
    const shape = fc.record(
      { content: fc.jsonValue(), structuredContent: fc.jsonValue(), isError: fc.jsonValue() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(shape, async (result) => {
        server.call = () => complete(era, result);
        const answer = await session.call('one', {});
        expect(answer.success || answer.error.code === 'handler_error').toBe(true);
        if (!answer.success) expect(answer.error.message.length).toBeLessThan(8_300);
      }),
      { numRuns: 50 },
    );
  });

  test.each<[string, object]>([
    ['parts', { content: times(100_000, {}) }],
    [
      'names',
      {
        content: [],
        ...Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, 0])),
      },
    ],
    [
      'names in its data',
      {
        content: [],
        structuredContent: Object.fromEntries(
          Array.from({ length: 40_000 }, (_, index) => [`k${index}`, 0]),
        ),
      },
    ],
  ])('of more %s than a message may hold is a failure that says the bound', async (_, result) => {
    expect(await outcomes(era, [result])).toEqual([
      {
        brief: ['handler_error'],
        message: 'The server sent a message of more than 150000 values.',
      },
    ]);
  });
});

test('a malformed tool costs no other, in both eras', async () => {
  for (const era of eras) {
    const server = await serverOf(era);
    server.tools = [tool('one'), ...times(900, {})];
    const imported = await imports(server);
    expect([imported.tools.length, imported.failed.length]).toEqual([1, 900]);
  }
});

test('an event of too many values ends the call, which says the bound', async () => {
  const server = await serverOf('2025');
  const session = sessionOver(await imports(server));
  server.call = (_, { id }) =>
    writes((response) => {
      const result = { content: times(100_000, {}) };
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
  expect(await session.call('one', {})).toMatchObject({
    error: {
      code: 'executor_lost',
      message: 'The server sent a message of more than 150000 values. The call may have run.',
    },
  });
});

test(
  'a line of too many values ends the connection of a child process, and the call says the ' +
    'bound',
  async () => {
    const session = sessionOver(await imports({ command: process.execPath, args: [script] }));
    expect(await session.call('act', { what: 'parts', size: 100_000 })).toMatchObject({
      error: {
        code: 'executor_lost',
        message: 'The server sent a message of more than 150000 values. The call may have run.',
      },
    });
    expect(brief(await session.call('act', { what: 'parts', size: 20_000 }))).toEqual([
      'handler_error',
      'mcp_invalid_result',
    ]);
  },
);

test('a handshake of more than 5 000 values is refused by their number', async () => {
  const server = await serve([], { name: 'raw', version: '1', icons: times(6_000, 1) });
  await expect(imports(server)).rejects.toThrow(
    /^Cannot connect .*: The server sent a message of more than 5000 values\.$/,
  );
});

/** A client of the host's own, whose transport bounds nothing. */
const clientOf = (list: () => unknown): ConnectedMcpClient => ({
  request: async () => ({ tools: list() }),
  getServerCapabilities: () => ({ tools: {} }),
  getServerVersion: () => ({ name: 'raw' }),
  getProtocolEra: () => 'legacy',
  setNotificationHandler: () => {},
  removeNotificationHandler: () => {},
  close: async () => {},
  transport: {},
});
const importsOf = async (list: () => unknown): Promise<ImportedMcpTools> =>
  closing(await importMcpTools(clientOf(list)));
const schemaOf = (...patterns: string[]): object => ({
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      patterns.map((pattern, index) => [`p${index}`, { type: 'string', pattern }]),
    ),
  },
});

describe('a listing', () => {
  test('of 400 000 entries is refused by their number', async () => {
    await expect(importsOf(() => times(400_000, 1))).rejects.toThrow('more than 1000 tools');
  });

  test('of 1 000 tools with schemas and patterns is taken whole', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [
        `p${index}`,
        { type: 'string', description: 'One.' },
      ]),
    );
    const id = {
      type: 'string',
      pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    };
    const server = await serve(
      Array.from({ length: 1_000 }, (_, index) =>
        tool(`t${index}`, { inputSchema: { type: 'object', properties: { ...properties, id } } }),
      ),
    );
    const imported = await imports(server);
    expect([imported.tools.length, imported.failed]).toEqual([1_000, []]);
  });

  test('has one budget for its patterns: those beyond it are left to the server, which is said', async () => {
    const heavy = schemaOf(
      ...Array.from({ length: 20 }, (_, index) => `^(?:[a-z]{1,20}){1,20}${index}$`),
    );
    const listed = Array.from({ length: 200 }, (_, index) =>
      tool(`t${index}`, index % 2 === 0 ? heavy : {}),
    );
    const imported = await importsOf(() => listed);
    expect([imported.tools.length, imported.failed]).toEqual([200, []]);
    const left = new Set(imported.warnings.map(({ name }) => name));
    expect(left.size).toBeGreaterThan(30);
    expect(left.size).toBeLessThan(70);
    for (const { message } of imported.warnings)
      expect(message).toContain('the patterns of all schemas that came together are too complex');
  });

  /**
   * Each look at the time finds it 20 ms later, so that each step of a listing is due for a pause.
   */
  const slowTime = (): void => {
    let at = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      at += 20;
      return at;
    });
  };

  test('is read in stretches: others run in between', async () => {
    slowTime();
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const imported = await importsOf(() =>
      Array.from({ length: 100 }, (_, index) => tool(`t${index}`)),
    );
    counting = false;
    expect(imported.tools).toHaveLength(100);
    expect(turns).toBeGreaterThanOrEqual(99);
  });

  test('that is read while the import is closed changes nothing any more', async () => {
    let listed = [tool('a')];
    const imported = await importsOf(() => listed);
    listed = Array.from({ length: 100 }, (_, index) => tool(`t${index}`));
    slowTime();
    const refreshed = imported.refresh().catch((error: { code?: unknown }) => error.code);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve));
    await imported.close();
    expect(await refreshed).toBe('executor_lost');
    expect([imported.tools.map(({ name }) => name), imported.drift]).toEqual([['a'], []]);
  });
});
