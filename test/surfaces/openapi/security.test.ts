/** API keys in the query, and what `security` of a document asks for. */
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { type ImportOpenApiOptions, importOpenApi } from '../../../src/surfaces/openapi/index.ts';
import { json, startServer } from './orders.ts';

const key = 'k-0123456789&x';
const weather = (more: object = {}, operation: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  components: {
    securitySchemes: {
      Key: { type: 'apiKey', in: 'query', name: 'api_key' },
      Header: { type: 'apiKey', in: 'header', name: 'X-Key' },
      Cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
      Bearer: { type: 'http', scheme: 'bearer' },
      Named: { $ref: '#/components/securitySchemes/Key' },
    },
  },
  paths: {
    '/now': {
      get: {
        operationId: 'now',
        parameters: [
          { name: 'city', in: 'query', schema: { type: 'string' } },
          { name: 'units', in: 'query', schema: { type: 'string' } },
          { name: 'more', in: 'query', schema: { type: 'object' } },
        ],
        responses: { 200: { description: 'ok', content: { 'application/json': {} } } },
        ...operation,
      },
    },
  },
  ...more,
});

async function imported(document: object, options: Partial<ImportOpenApiOptions>) {
  const { url, seen } = await startServer((request, response) =>
    json(response, { asked: request.url, key }),
  );
  const registry = new HostToolRegistry();
  const made = await importOpenApi(document as never, { registry, server: url, ...options });
  const session = registry.createSession({ sessionId: 's' });
  return { ...made, made, seen, session };
}

test('the host gives members of the query, and no answer shows them', async () => {
  const query = { api_key: key, units: 'metric' };
  const { session, seen, made } = await imported(weather({ security: [{ Key: [] }] }), { query });
  const schema = session.tool('now')?.inputSchema as { properties: object } | undefined;
  expect(Object.keys(schema?.properties ?? {})).toEqual(['city', 'more']);
  const result = await session.call('now', { city: 'Rome' });
  expect(seen.map(({ url }) => url)).toEqual([
    `/now?city=Rome&api_key=${encodeURIComponent(key)}&units=metric`,
  ]);
  expect(JSON.stringify(result.output)).not.toContain('k-0123456789');
  expect(made.warnings.filter(({ path }) => path === '/security')).toEqual([]);
  for (const input of [{ api_key: 'mine' }, { units: 'mine' }])
    expect((await session.call('now', input)).error?.code).toBe('invalid_input');
  for (const more of [{ api_key: 'mine' }, { API_KEY: 'mine' }, { units: 'mine' }])
    expect((await session.call('now', { more })).error).toMatchObject({
      reason: 'http_argument',
      message: expect.stringContaining("which is the host's"),
    });
  expect(seen).toHaveLength(1);
  await made.close();
});

test('no model gives a key of the document, also if the host gives none', async () => {
  const { session, seen, made } = await imported(weather(), {});
  expect((await session.call('now', { more: { api_key: 'mine' } })).error?.reason).toBe(
    'http_argument',
  );
  expect(seen).toEqual([]);
  await made.close();
});

test('what the host labels counts, with what follows from it', async () => {
  const labels = { now: { annotations: { destructive: true } } };
  const { session, made } = await imported(weather(), { labels });
  expect(session.tool('now')?.annotations).toMatchObject({ destructive: true, readOnly: false });
  await made.close();
  const { get, ...rest } = weather().paths['/now'];
  const posts = weather({ paths: { '/now': { ...rest, post: { ...get, parameters: [] } } } });
  const reads = await imported(posts, { labels: { now: { annotations: { readOnly: true } } } });
  expect(reads.session.tool('now')?.annotations).toMatchObject({
    destructive: false,
    readOnly: true,
  });
  await reads.made.close();
});

test('an API that is imported twice into one registry is told what keeps the two apart', async () => {
  const registry = new HostToolRegistry();
  const options = { registry, server: 'http://127.0.0.1:9' };
  const first = await importOpenApi(weather() as never, options);
  await expect(importOpenApi(weather() as never, options)).rejects.toThrow(
    'Give the import a `prefix` of its own',
  );
  const second = await importOpenApi(weather() as never, { ...options, prefix: 'b.' });
  await Promise.all([first.close(), second.close()]);
});

const queryLack = 'Nobody gives the query parameter `api_key`. Give it in `query`.';
const lackOf = (name: string) =>
  `Nobody gives the header \`${name}\`. Give it in \`headers\` or by \`auth\`.`;
const auth = () => ({});

test.each<[object[], Partial<ImportOpenApiOptions>, string[]]>([
  [[{ Key: [] }], {}, [queryLack]],
  [[{ Named: [] }], {}, [queryLack]],
  // `auth` gives headers only.
  [[{ Key: [] }], { auth }, [queryLack]],
  [[{ Key: [] }], { query: { api_key: key } }, []],
  [[{ Header: [] }], {}, [lackOf('X-Key')]],
  [[{ Header: [] }], { headers: { 'x-key': key } }, []],
  [[{ Header: [] }], { auth }, []],
  [[{ Cookie: [] }], {}, [lackOf('Cookie')]],
  [[{ Bearer: [] }], {}, [lackOf('Authorization')]],
  [[{ Bearer: [] }], { credentials: { weather: {} } }, []],
  [[{ Bearer: [], Key: [] }], { auth }, [queryLack]],
  [[{ Bearer: [] }, { Key: [] }], { query: { api_key: key } }, []],
  [[{ Key: [] }, {}], {}, []],
  [[], {}, []],
  [[{ Unknown: [] }], {}, []],
])(
  'what `security` asks for and nobody gives is a warning: %j %j',
  async (security, options, expected) => {
    for (const document of [weather({ security }), weather({}, { security })]) {
      const { warnings, made } = await imported(document, options);
      const told = warnings.filter(({ path }) => path === '/security');
      expect(told).toEqual(
        expected.map((message) => ({ name: 'now', path: '/security', message })),
      );
      await made.close();
    }
  },
);

test.each([
  ['an object of texts', ['a']],
  ['an object of texts', null],
  ['a text for `api_key`', { api_key: 7 }],
  ['a text for ``', { '': 'x' }],
])('a query that cannot be sent is refused: %s', async (expected, query) => {
  await expect(imported(weather(), { query: query as never })).rejects.toThrow(expected);
});
