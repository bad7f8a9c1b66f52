/** What a server answers reaches a client as it was sent, unless a gate of this library changed it. */
import { afterEach, describe, expect, test } from 'vitest';
import {
  defineGate,
  HostToolRegistry,
  memoryIdempotency,
  type RegistryOptions,
  type SessionOptions,
} from '../../../src/index.ts';
import { type RawServer, tool } from './client/raw-http.ts';
import { closeAll, imports, serve } from './client/world.ts';
import { connectClient, listen, opened } from './server/kit.ts';

const open = opened();
afterEach(async () => {
  await open.close();
  await closeAll();
});

const outputSchema = { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] };
const said = (text: string): object => ({ type: 'text', text });

/** What a client gets of the result of a server's tool. */
async function through(
  result: object,
  {
    session = {},
    registry: options = {},
    more = {},
  }: {
    session?: Partial<SessionOptions<never>>;
    registry?: RegistryOptions;
    more?: object;
  } = {},
): Promise<{ got: Record<string, unknown>; again(): Promise<unknown>; server: RawServer }> {
  const server = await serve([tool('one', more)]);
  server.call = () => result;
  const imported = await imports(server, { name: 'x' });
  const registry = new HostToolRegistry(options);
  open.defer(() => registry.close());
  registry.registerAll(imported.tools);
  const { url } = await listen(
    open,
    registry.createSession({ sessionId: 's', ...session } as SessionOptions),
  );
  const client = await connectClient(open, url, 'legacy');
  const again = () => client.callTool({ name: 'one', arguments: {} });
  return { got: (await again()) as Record<string, unknown>, again, server };
}

const rich = {
  content: [said('raw secret'), { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
  structuredContent: { n: 'raw secret' },
  _meta: { 'example.com/x': 'raw secret' },
};
const failed = { ...rich, isError: true };

describe('what a gate has changed', () => {
  const masked = { success: true as const, output: { n: 'masked' } };
  test.each<[string, object, Parameters<typeof through>[1]]>([
    [
      'an after hook that replaces data',
      rich,
      {
        more: { outputSchema },
        session: { hooks: [{ after: (_, result) => ({ ...result, ...masked }) as never }] },
      },
    ],
    [
      'an after hook that replaces parts',
      rich,
      {
        session: {
          hooks: [
            { after: (_, result) => ({ ...result, success: true, output: 'masked' }) as never },
          ],
        },
      },
    ],
    [
      'an after hook that replaces a failure',
      failed,
      {
        session: {
          hooks: [
            {
              after: (_, result) =>
                ({
                  ...result,
                  error: { ...(result as { error: object }).error, message: 'masked' },
                }) as never,
            },
          ],
        },
      },
    ],
    [
      'an after hook that fails a success',
      rich,
      {
        session: {
          hooks: [
            {
              after: (_, result) =>
                ({
                  success: false,
                  error: { code: 'handler_error', message: 'masked' },
                  metadata: result.metadata,
                }) as never,
            },
          ],
        },
      },
    ],
    [
      'a gate',
      rich,
      {
        more: { outputSchema },
        registry: {
          gates: [
            defineGate({ name: 'g', at: 'output', run: () => ({ output: { n: 'masked' } }) }),
          ],
        },
      },
    ],
  ])('%s: nothing of the raw result is left', async (_, result, options) => {
    const text = JSON.stringify((await through(result, options)).got);
    expect(text).toContain('masked');
    expect(text).not.toContain('raw');
    expect(text).not.toContain('AAAA');
  });
});

describe('what is refused or cut', () => {
  test('data that does not match the output schema', async () => {
    const { got } = await through(
      { ...rich, structuredContent: { n: 7, raw: 'secret' } },
      { more: { outputSchema } },
    );
    expect(got._meta).toEqual({
      'host-tools/error': { code: 'invalid_output', reason: 'output_schema' },
    });
    expect(JSON.stringify(got)).not.toContain('raw');
  });

  const long = 'x'.repeat(5_000);
  test.each<[string, object, object]>([
    ['parts', { content: [said(long)], structuredContent: { long }, _meta: { 'a.b/c': long } }, {}],
    ['parts with many members', { content: [{ ...said('a'), 'x-more': long, data: long }] }, {}],
    [
      'a resource',
      {
        content: [
          { type: 'resource', resource: { uri: 'a:b', text: 'a', data: long, name: long } },
        ],
      },
      {},
    ],
    ['data', { content: [said(long)], structuredContent: { n: long } }, { outputSchema }],
    [
      'text beside data',
      { content: [said(long)], structuredContent: { n: 'a' } },
      { outputSchema },
    ],
    [
      'a failure',
      { content: [said(long), said(long)], structuredContent: { long }, isError: true },
      {},
    ],
    [
      'a failure in a few words',
      {
        content: [said('No.')],
        structuredContent: { long },
        _meta: { 'a.b/c': long },
        isError: true,
      },
      {},
    ],
  ])('by the budget: %s', async (_, result, more) => {
    const session = { limits: { maxOutputChars: 200 } };
    const { got } = await through(result, { more, session });
    expect(JSON.stringify(got).length).toBeLessThan(1_000);
  });
});

describe('a call with a key', () => {
  /** A session with the imported tool, and how often the server was called. */
  async function direct(result: object, options: RegistryOptions, more: object = {}) {
    const server = await serve([tool('one', more)]);
    server.call = () => result;
    const imported = await imports(server, { name: 'x' });
    const registry = new HostToolRegistry(options);
    open.defer(() => registry.close());
    registry.registerAll(imported.tools);
    const calls = () => server.received.filter(({ method }) => method === 'tools/call').length;
    return { session: registry.createSession({ sessionId: 's' }), calls };
  }

  test.each<[string, object, object]>([
    ['an output', rich, { outputSchema }],
    ['parts', rich, {}],
    ['a failure', failed, {}],
  ])('a kept outcome is answered as the first one was: %s', async (_, result, more) => {
    const options = { idempotency: { store: memoryIdempotency() } };
    const { session, calls } = await direct(result, options, more);
    const key = { idempotencyKey: 'once' };
    const [first, second] = [
      await session.call('one', {}, key),
      await session.call('one', {}, key),
    ];
    const { output, error, metadata } = second;
    expect([output, error]).toEqual([first.output, first.error]);
    expect(metadata.alongside).toEqual(first.metadata.alongside);
    expect(calls()).toBe(1);
  });
});

test('a server cannot write what this library writes into metadata, nor pollute anything', async () => {
  const _meta = JSON.parse(
    '{"host-tools/error":{"code":"policy_denied"},"io.modelcontextprotocol/x":1,"__proto__":{"a":1},"a.b/c":2}',
  );
  const content = [JSON.parse('{"type":"text","text":"a","__proto__":{"polluted":1}}')];
  for (const isError of [false, true]) {
    const { got } = await through({ content, _meta, ...(isError ? { isError } : {}) });
    expect(got._meta).toEqual({ 'a.b/c': 2 });
    expect(got.content).toEqual([expect.objectContaining({ type: 'text', text: 'a' })]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  }
});

test('a failure of a gate says so, and one of the server does not', async () => {
  const { got } = await through(failed);
  expect(Object.keys(got._meta as object)).toEqual(['example.com/x']);
  const denied = await through(failed, {
    registry: { rules: [{ effect: 'deny', tools: 'one', when: { x: { exists: false } } }] },
  });
  expect(denied.got._meta).toMatchObject({ 'host-tools/error': { code: 'policy_denied' } });
});
