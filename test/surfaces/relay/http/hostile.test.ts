/** Hostile bodies and requests are refused with a reason, and never answered with 500. */
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { BodyBounds } from '../../../../src/surfaces/relay/http/bodies.ts';
import { toResponse } from '../../../../src/surfaces/relay/http/responses.ts';
import { routes } from '../../../../src/surfaces/relay/http/route-table.ts';
import { markDirect } from '../../../../src/values/http/direct-body.ts';
import { base, brokenStore, frontKit, type Made } from './app-kit.ts';

const hostKey = 'a-key-of-the-host';
const posts = routes.filter(
  ({ method, name }) => method === 'POST' && name !== 'mcp' && name !== 'ticket',
);

/** Every route that takes a body, with a token that may use it. */
async function doors(options: Parameters<typeof frontKit>[0] = {}) {
  const kit = frontKit({
    hostKey,
    pairing: true,
    limits: { updatesPerMinute: 1e6, requestsPerMinute: 1e6, responsesPerMinute: 1e6 },
    ...options,
  });
  const { code, sessionToken, agentToken } = (
    await kit.ask('POST', '', { token: hostKey, body: {} })
  ).body as unknown as Made;
  const tokens = {
    application: sessionToken,
    agent: agentToken,
    either: agentToken,
    host: hostKey,
    creator: hostKey,
    operator: hostKey,
    anyone: hostKey,
  };
  const url = (path: string): string =>
    `http://relay.test${path.replace(':code', code).replace(':approvalId', 'a-1')}`;
  return {
    ...kit,
    code,
    doors: posts.map(({ name, path, access, body }) => ({
      name,
      url: url(path),
      token: tokens[access],
      ...(body as BodyBounds),
    })),
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a body', () => {
  test.each<[string, string | Uint8Array, number, string]>([
    ['empty', '', 400, 'invalid_json'],
    ['not JSON', 'tool=add', 400, 'invalid_json'],
    ['half of it', '{"tool":', 400, 'invalid_json'],
    ['two of it', '{}{}', 400, 'invalid_json'],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400, 'invalid_json'],
    ['an array', '[]', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['a number', '1e999', 400, 'invalid_request'],
    ['a string', '"{}"', 400, 'invalid_request'],
    ['101 levels', `${'{"a":'.repeat(100)}[]${'}'.repeat(100)}`, 400, 'invalid_json'],
    ['as many levels as a small body has room for', '['.repeat(1_000), 400, 'invalid_json'],
    [
      'brackets without end in strings',
      `{"a":"${'['.repeat(500)}\\"${'{'.repeat(500)}"`,
      400,
      'invalid_json',
    ],
  ])('that is %s is refused on every route', async (_what, body, status, error) => {
    const { ask, doors: all } = await doors();
    for (const { url, token } of all)
      expect(await ask('POST', url, { token, body })).toMatchObject({
        status,
        body: { error, message: expect.any(String), code: error },
      });
  });

  test.each<[Record<string, string>]>([
    [{ 'Content-Type': 'text/plain' }],
    [{ 'Content-Type': 'application/x-www-form-urlencoded' }],
    [{ 'Content-Type': 'application/jsonp' }],
    [{ 'Content-Type': 'application/json; charset=utf-16' }],
    [{ 'Content-Type': '' }],
    [{ 'Content-Encoding': 'gzip' }],
  ])('with the headers %j is answered with 415 on every route', async (headers) => {
    const { ask, doors: all } = await doors();
    for (const { url, token } of all)
      expect(await ask('POST', url, { token, body: '{}', headers })).toMatchObject({
        status: 415,
        body: { error: 'unsupported_media_type' },
      });
  });

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ])('of the type %s is read', async (type) => {
    expect(
      (await frontKit().ask('POST', '', { body: '\uFEFF {} ', headers: { 'Content-Type': type } }))
        .status,
    ).toBe(201);
  });

  test('may have the bytes that its route allows, whatever length it declares', async () => {
    const { ask, doors: all } = await doors();
    for (const { name, url, token, maxBytes } of all) {
      const most = `{"x":"${'x'.repeat(maxBytes - 8)}"}`;
      expect((await ask('POST', url, { token, body: most })).status, name).not.toBe(413);
      const told = await ask('POST', url, { token, body: `${most} ` });
      expect(told).toMatchObject({ status: 413, body: { error: 'payload_too_large' } });
      expect(told.headers.get('connection')).toBe('close');
      expect(
        (
          await ask('POST', url, {
            token,
            body: '{}',
            headers: { 'Content-Length': '99999999999' },
          })
        ).status,
      ).toBe(413);
    }
  });

  test('may have the values that its route allows', async () => {
    const { ask, doors: all } = await doors();
    for (const { name, url, token, maxValues, maxBytes } of all) {
      // These are the object, its array, and a new key, which counts as four.
      const body = (values: number): string =>
        `{"x":[${Array.from({ length: values - 6 }, () => 0).join(',')}]}`;
      if (body(maxValues).length >= maxBytes) continue;
      expect((await ask('POST', url, { token, body: body(maxValues) })).status, name).not.toBe(413);
      expect(await ask('POST', url, { token, body: body(maxValues + 1) }), name).toMatchObject({
        status: 413,
        body: {
          error: 'payload_too_large',
          message: expect.stringContaining(`at most ${maxValues} values`),
        },
      });
    }
  });

  test('that is refused does not count towards the limits per minute', async () => {
    const { ask, doors: all } = await doors({
      limits: {
        sessionsPerMinute: 2,
        updatesPerMinute: 1,
        requestsPerMinute: 1,
        responsesPerMinute: 1,
      },
    });
    for (const { name, url, token } of all.filter((door) => door.name !== 'approval'))
      for (let tries = 0; tries < 12; tries++)
        expect(
          (await ask('POST', url, { token, body: '{"a"', address: '192.0.2.1' })).status,
          name,
        ).toBe(400);
  });

  test('without end is refused', async () => {
    const { front } = frontKit();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    };
    expect((await front.fetch(new Request(base, init), {})).status).toBe(413);
    expect(pulled).toBeLessThan(30);
  });

  test('that does not arrive is refused after 30 seconds', async () => {
    vi.useFakeTimers();
    const { front } = frontKit();
    const body = new ReadableStream<Uint8Array>({});
    const request = new Request(base, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    const answer = front.fetch(request, {});
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await toResponse(await answer).json()).toMatchObject({ error: 'request_timeout' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each<[string, () => Promise<Uint8Array | undefined>, number]>([
    ['whole', async () => Buffer.from('{}'), 201],
    ['too large', async () => undefined, 413],
    ['cut off', () => Promise.reject(new Error('aborted')), 400],
  ])('that the server reads itself is %s', async (_what, read, status) => {
    const request = new Request(base, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    });
    markDirect(request, read);
    expect((await frontKit().front.fetch(request, {})).status).toBe(status);
  });

  test('that is cut off is an error of its client', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error('gone')),
    });
    const request = new Request(base, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    expect((await frontKit().front.fetch(request, {})).status).toBe(400);
  });

  test('of any JSON never causes an error of the relay', async () => {
    const { ask, doors: all, faults } = await doors();
    const field = fc.constantFrom(
      ...[
        'requestId',
        'id',
        'tool',
        'name',
        'args',
        'arguments',
        'wait',
        'result',
        'content',
        'error',
        'side',
        'decision',
        'grant',
        'input',
        'by',
        'reason',
      ],
      ...[
        'pluginType',
        'pluginVersion',
        'capabilities',
        'availableTools',
        'environment',
        'added',
        'removed',
        'modified',
        '__proto__',
        'constructor',
        'toString',
      ],
    );
    const tool = fc.dictionary(
      fc.constantFrom(
        'name',
        'description',
        'parameters',
        'inputSchema',
        'annotations',
        '__proto__',
      ),
      fc.jsonValue(),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.oneof(tool, fc.jsonValue())),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud800', '__proto__', 'allow_once', 'custom'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...all),
        fc.array(fc.tuple(field, value), { maxLength: 6 }),
        async ({ url, token }, entries) => {
          const body = `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join(',')}}`;
          const { status } = await ask('POST', url, { token, body });
          expect(status).toBeLessThan(500);
        },
      ),
      { numRuns: 400 },
    );
    expect(faults).toEqual([]);
  });
});

describe('an internal error', () => {
  test('of the store is answered with 503, and logged once without its message', async () => {
    const { ask, logger } = frontKit({ store: brokenStore() });
    for (let time = 0; time < 3; time++) {
      const told = await ask('POST', '', { body: {} });
      expect(told).toMatchObject({ status: 503, body: { error: 'store_unavailable' } });
      expect(told.headers.get('retry-after')).toBe('1');
      expect(told.text).not.toContain('redis');
    }
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  test('of the relay is answered with 500 and a fixed text', async () => {
    const { ask, create, requests, faults } = frontKit();
    const { code, agentToken: token } = await create();
    const fault = new TypeError('a-secret is not a function');
    requests.submit.mockRejectedValueOnce(fault);
    const told = await ask('POST', `/${code}/request`, { token, body: { tool: 'add' } });
    expect(told).toMatchObject({
      status: 500,
      body: { error: 'internal_server_error', code: 'internal_server_error' },
    });
    expect(told.text).not.toContain('a-secret');
    expect(faults).toEqual([{ kind: 'internal', error: fault }]);
  });

  test.each([
    undefined,
    null,
    'text',
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
      },
    ),
  ])('may be anything (%#)', async (thrown) => {
    const { ask, create, requests } = frontKit();
    const { code, agentToken: token } = await create();
    requests.submit.mockRejectedValueOnce(thrown);
    expect((await ask('POST', `/${code}/request`, { token, body: { tool: 'add' } })).status).toBe(
      500,
    );
  });

  test('of the logger has no effect', async () => {
    const fail = () => {
      throw new Error('full');
    };
    const { ask } = frontKit({
      logger: { info: fail, warn: fail, error: fail },
      store: brokenStore(),
    });
    expect((await ask('POST', '', { body: {} })).status).toBe(503);
  });
});
