/** The metadata of a session, in both versions. */
import { describe, expect, test } from 'vitest';
import type { ShownTool } from '../../../../src/surfaces/relay/events/tool-updates.ts';
import {
  describeSession,
  fillMetadata,
  isNamed,
  negotiateVersion,
} from '../../../../src/surfaces/relay/http/metadata.ts';
import type {
  SessionDocument,
  ToolsDocument,
} from '../../../../src/surfaces/relay/ports/documents.ts';

const session: SessionDocument = {
  code: 'ABCD2345',
  createdAt: 0,
  expiresAt: 3_600_000,
  tokens: { application: ['secret-hash'], agent: ['secret-hash'] },
  paired: [],
  toolsRevision: 1,
};
const shown: readonly ShownTool[] = [
  { name: 'bash', description: 'Runs.', parameters: { type: 'object' }, annotations: {} },
  {
    name: 'draw',
    description: 'Draws.',
    parameters: { type: 'object' },
    title: 'Draw',
    annotations: { destructive: true },
  },
];
const [{ annotations: _, ...bash }, draw] = shown as [ShownTool, ShownTool];
const describeAs = async (...given: Parameters<typeof describeSession>) => {
  const written = await describeSession(...given);
  const text = fillMetadata(written, { usage: new Map([['draw', 7]]), connected: true });
  return { body: JSON.parse(text) as Record<string, unknown>, headers: written.headers };
};
const tools: ToolsDocument = {
  revision: 3,
  pluginType: 'codap',
  pluginVersion: '1.2',
  capabilities: [{ type: 'storage' }],
  environment: { version: '1' },
  constraints: { maxRows: 10 },
  definitions: [
    { name: 'draw', description: 'Draws.', parameters: {}, constraints: { maxCalls: 3 } },
    { name: 'hidden', description: 'Hides.', parameters: {} },
  ],
  changedAt: { hidden: 1_500 },
  registeredAt: 1_000,
  updatedAt: 2_000,
  pins: { draw: 'hash' },
};

describe('a version', () => {
  test.each<[string | null, string]>([
    [null, '2.0.0'],
    ['', '2.0.0'],
    ['*', '2.0.0'],
    ['2.0.0', '2.0.0'],
    ['2', '2.0.0'],
    [' 1.0.0 ', '1.0.0'],
    ['1.0', '1.0.0'],
    ['3.0.0, 1.0.0', '1.0.0'],
  ])('is chosen by Accept-Version: %j', (asked, version) => {
    expect(negotiateVersion(asked)).toBe(version);
  });

  test.each(['3.0.0', '1.0.0.0', '1.0.1', '20', 'v2', ',', '__proto__', '2.'])(
    'that does not exist is not acceptable: %s',
    (asked) => {
      expect(() => negotiateVersion(asked)).toThrow(
        expect.objectContaining({
          status: 406,
          error: 'version_not_acceptable',
          message: `Requested version ${asked} not supported. Supported versions: 1.0.0, 2.0.0`,
        }),
      );
    },
  );

  test('is quoted in the error as one bounded line', () => {
    expect(() => negotiateVersion(`x\u202e\n${'y'.repeat(10_000)}`)).toThrow(
      /^Requested version x y{59}… not supported/,
    );
  });
});

const { body, headers } = await describeAs(session, tools, shown);

describe('a session with tools', () => {
  test('is described', () => {
    expect(body).toEqual({
      apiVersion: '2.0.0',
      sessionId: 'ABCD2345',
      pluginType: 'codap',
      pluginVersion: '1.2',
      capabilities: [{ type: 'storage' }],
      tools: [
        bash,
        {
          ...draw,
          constraints: { maxCalls: 3 },
          status: 'active',
          registeredAt: '1970-01-01T00:00:01.000Z',
          usageCount: 7,
        },
      ],
      environment: { version: '1' },
      constraints: { maxRows: 10 },
      connected: true,
      toolCount: 2,
      lastUpdated: '1970-01-01T00:00:02.000Z',
      supportedOperations: [
        'register-tools',
        'update-tools',
        'request',
        'tool-availability-update',
        'mcp',
      ],
    });
  });

  test('has headers for versions and for caches', () => {
    expect(headers).toEqual({
      'API-Version': '2.0.0',
      'Session-ID': 'ABCD2345',
      'Supported-Versions': '1.0.0, 2.0.0',
      ETag: expect.stringMatching(/^W\/"[\w-]{43}"$/),
      'Last-Modified': 'Thu, 01 Jan 1970 00:00:02 GMT',
      Vary: 'Accept-Version',
    });
  });

  test('says when a tool was changed after the registration, and starts its count at 0', async () => {
    const changed = { ...tools, changedAt: { draw: 3_000 } };
    const written = await describeSession(session, changed, shown);
    const text = fillMetadata(written, { usage: new Map(), connected: false });
    expect(JSON.parse(text)).toMatchObject({
      connected: false,
      tools: [{}, { registeredAt: '1970-01-01T00:00:03.000Z', usageCount: 0 }],
    });
  });

  test('never reads a count or a time from a prototype', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const odd = names.map((name) => ({ name, description: 'Is odd.', parameters: {} }));
    const written = await describeSession(
      session,
      { ...tools, definitions: odd, changedAt: {} },
      odd.map((one) => ({ ...one, annotations: {} })),
    );
    const { tools: listed } = JSON.parse(
      fillMetadata(written, { usage: new Map(), connected: true }),
    ) as { tools: object[] };
    for (const one of listed)
      expect(one).toMatchObject({ usageCount: 0, registeredAt: '1970-01-01T00:00:01.000Z' });
  });

  test('keeps its ETag exactly as long as its tools are the same', async () => {
    const etag = async (
      ...given: Parameters<typeof describeSession>
    ): Promise<string | undefined> => (await describeSession(...given)).headers.ETag;
    expect(await etag(session, { ...tools }, [...shown])).toBe(headers.ETag);
    expect(await etag(session, tools, shown.slice(1))).not.toBe(headers.ETag);
    expect(await etag(session, { ...tools, environment: {} }, shown)).not.toBe(headers.ETag);
    expect(await etag(session, tools, shown, '1.0.0')).not.toBe(headers.ETag);
    expect(await etag({ ...session, code: 'ABCD2346' }, tools, shown)).not.toBe(headers.ETag);
    expect(await etag({ ...session, code: 'ABCD2346' }, tools, shown, '1.0.0')).not.toBe(
      await etag(session, tools, shown, '1.0.0'),
    );
  });

  test.each<[string | null, boolean]>([
    [null, false],
    ['', false],
    ['*', true],
    [' * ', true],
    ['W/"abc"', true],
    ['"abc"', true],
    ['"x", W/"abc"', true],
    ['"x",W/"abc" ', true],
    ['abc', false],
    ['"ab"', false],
    ['W/"ABC"', false],
    ['"*"', false],
    ['"x", *', false],
    ['W/W/"abc"', false],
  ])('is known to a client that sends If-None-Match: %j (%s)', (header, known) => {
    expect(isNamed('W/"abc"', header)).toBe(known);
  });

  test('shows no secret and no internal value of the relay', () => {
    expect(JSON.stringify([body, headers])).not.toMatch(/hash|pins|revision/i);
  });
});

test('a session without a registration has the host’s tools, and no application', async () => {
  expect((await describeAs(session, undefined, shown.slice(0, 1))).body).toEqual({
    apiVersion: '2.0.0',
    sessionId: 'ABCD2345',
    pluginType: null,
    pluginVersion: null,
    capabilities: [],
    tools: [bash],
    environment: {},
    constraints: {},
    connected: true,
    toolCount: 1,
    lastUpdated: '1970-01-01T00:00:00.000Z',
    supportedOperations: ['register-tools', 'request', 'tool-availability-update', 'mcp'],
  });
});

test('the older version is a manifest of tools', async () => {
  const { body, headers } = await describeAs(session, tools, shown, '1.0.0');
  expect(body).toEqual({
    apiVersion: '1.0.0',
    toolManifestVersion: '1.0.0',
    supportedVersions: ['1.0.0', '2.0.0'],
    tools: [
      { name: 'bash', description: 'Runs.', inputSchema: { type: 'object' } },
      { name: 'draw', description: 'Draws.', inputSchema: { type: 'object' } },
    ],
    sessionCode: 'ABCD2345',
    generatedAt: '1970-01-01T00:00:02.000Z',
    expiresAt: '1970-01-01T01:00:00.000Z',
  });
  expect(headers).toMatchObject({ 'API-Version': '1.0.0', 'Tool-Manifest-Version': '1.0.0' });
});
