import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sseResponse } from '../../../../src/surfaces/relay/http/stream-responses.ts';
import { directBody } from '../../../../src/values/http/direct-body.ts';
import { programUrl } from '../../../runner/programs.ts';
import { application, bulk, type FakeStreams, fakeStreams, opened } from '../events/stream-kit.ts';

const open = opened();
afterEach(() => open.close());

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const quick = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 };

/** The memory that this thread uses. The memory of the process includes other threads. */
function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function streaming(streams: FakeStreams, dropped?: (reason: string) => void) {
  return async (request: Request): Promise<Response> =>
    request.url.endsWith('/stream')
      ? sseResponse(streams, application, dropped)
      : Response.json({ alive: true });
}

describe('a request on node:http', () => {
  test('becomes a web-standard request: method, path, headers, address', async () => {
    const seen = vi.fn(async (request: Request, { address }: { address?: string }) =>
      Response.json([
        String(request),
        request.method,
        request.url,
        request.headers.get('x-two'),
        request.mode,
        address,
      ]),
    );
    const { port } = await open.serve({ answer: seen });
    const response = await fetch(`http://127.0.0.1:${port}/a%20b?c=d`, {
      method: 'DELETE',
      headers: { 'X-Two': 'yes' },
    });
    expect(await response.json()).toEqual([
      '[object Request]',
      'DELETE',
      'http://localhost/a%20b?c=d',
      'yes',
      'cors',
      '127.0.0.1',
    ]);
  });

  test.each(['http://evil.example/path', '*'])(
    'for %s, which is not a path, becomes a request for the root',
    async (target) => {
      const { port } = await open.serve({ answer: async ({ url }) => Response.json(url) });
      const client = await open.raw(port, `OPTIONS ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await expect.poll(client.text).toContain('"http://localhost/"');
    },
  );

  test.each([
    ['json', async (request: Request) => request.json()],
    ['stream', async (request: Request) => JSON.parse(await new Response(request.body).text())],
    ['clone', async (request: Request) => request.clone().json()],
    [
      'direct',
      async (request: Request) =>
        JSON.parse(new TextDecoder().decode(await directBody(request)?.(1_000))),
    ],
  ])('has its body: %s', async (_, read) => {
    const { port } = await open.serve({
      answer: async (request) => Response.json(await read(request)),
    });
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: '{"text":"€"}',
    });
    expect(await response.json()).toEqual({ text: '€' });
  });

  test.each(['declared', 'chunked'])(
    'with a %s body that is too large is not read, and its client still gets the answer',
    async (way) => {
      const answer = async (request: Request) =>
        new Response(null, {
          status: (await directBody(request)?.(1_000)) === undefined ? 413 : 200,
          headers: { Connection: 'close' },
        });
      const { port } = await open.serve({ answer });
      const text = 'x'.repeat(3_000_000);
      const body = way === 'declared' ? text : new Blob([text]).stream();
      expect(
        (
          await fetch(`http://127.0.0.1:${port}/`, {
            method: 'POST',
            body,
            duplex: 'half',
          } as RequestInit)
        ).status,
      ).toBe(413);
    },
  );

  test('whose body is read twice rejects for the reader', async () => {
    const { port } = await open.serve({
      answer: async (request) => {
        await directBody(request)?.(10);
        return Response.json(
          await directBody(request)?.(10).catch((error: Error) => error.message),
        );
      },
    });
    expect(
      await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a' })).json(),
    ).toContain('was read before');
  });

  test('has a signal that aborts when its client goes away', async () => {
    const signals: AbortSignal[] = [];
    const answer = (request: Request): Promise<Response> => {
      signals.push(request.signal);
      return new Promise((resolve) =>
        request.signal.addEventListener('abort', () => resolve(new Response())),
      );
    };
    const { port } = await open.serve({ answer });
    const client = await open.raw(port, get('/'));
    await expect.poll(() => signals.length).toBe(1);
    client.socket.destroy();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
  });

  test('that is cut off in its body rejects for the reader', async () => {
    const failed = vi.fn();
    const answer = async (request: Request): Promise<Response> => {
      await directBody(request)?.(1_000).catch(failed);
      return new Response();
    };
    const { port } = await open.serve({ answer });
    const client = await open.raw(
      port,
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf',
    );
    client.socket.destroy();
    await expect.poll(() => failed.mock.calls.length).toBe(1);
  });
});

describe('an answer', () => {
  test.each([
    ['JSON', () => Response.json({ a: '€' })],
    [
      'a text at hand',
      () => ({ status: 200, headers: { 'Content-Type': 'application/json' }, text: '{"a":"€"}' }),
    ],
  ])('of %s has a Content-Length', async (_, make) => {
    const { port } = await open.serve({ answer: async () => make() });
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect([
      response.headers.get('content-length'),
      response.headers.get('content-type'),
      await response.json(),
    ]).toEqual(['11', 'application/json', { a: '€' }]);
  });

  test('with 204 has no body and no length', async () => {
    const { port } = await open.serve({ answer: async () => new Response(null, { status: 204 }) });
    const client = await open.raw(port, get('/'));
    await expect
      .poll(client.text)
      .toMatch(/^HTTP\/1.1 204 No Content\r\n(?!.*content-length).*\r\n\r\n$/is);
  });

  test('that fails becomes a 500 without the reason, which is only logged', async () => {
    const error = vi.fn();
    const { port } = await open.serve({
      answer: () => Promise.reject(new TypeError('secret')),
      logger: { info() {}, warn() {}, error },
    });
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect([response.status, await response.json(), error.mock.calls.length]).toMatchObject([
      500,
      { error: 'internal_server_error' },
      1,
    ]);
    expect(JSON.stringify(error.mock.calls)).not.toContain('secret');
  });
});

describe('a slow client', () => {
  test.each([
    ['headers', 'GET / HTTP/1.1\r\nHost: local'],
    ['a body', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf'],
    ['nothing at all', ''],
  ])('that sends %s and no more is cut off, while others are answered', async (_, text) => {
    const answer = async (request: Request): Promise<Response> => {
      await directBody(request)?.(1_000).catch(() => {});
      return Response.json({ alive: true });
    };
    const { port } = await open.serve({ answer }, quick);
    const clients = await Promise.all(Array.from({ length: 20 }, () => open.raw(port, text)));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    await expect.poll(() => clients.every(({ over }) => over())).toBe(true);
  });

  test('that sends its headers byte by byte is cut off as well', async () => {
    const { port } = await open.serve({}, quick);
    const client = await open.raw(port, 'GET / HTTP/1.1\r\n');
    const drip = setInterval(() => client.socket.write('a'), 20);
    await expect.poll(client.over).toBe(true);
    clearInterval(drip);
  });

  test('of a stream is not cut off by the timeouts', async () => {
    const streams = fakeStreams();
    const { port } = await open.serve({ answer: streaming(streams) }, quick);
    const client = await open.raw(port, get('/stream'));
    const idle = await open.raw(port, 'GET / HT');
    await expect.poll(idle.over).toBe(true);
    streams.opened[0]?.send({ id: 2, event: 'late', data: {} });
    await expect.poll(client.text).toContain('event: late');
    expect(client.over()).toBe(false);
  });

  test('that never reads its stream is dropped, and the others still get events', async () => {
    const streams = fakeStreams();
    const dropped = vi.fn();
    const { port } = await open.serve({ answer: streaming(streams, dropped) });
    const paused = await open.raw(port, get('/stream'));
    await expect.poll(() => streams.opened.length).toBe(1);
    const other = await open.raw(port, get('/stream'));
    await expect.poll(() => streams.opened.length).toBe(2);
    paused.socket.pause();
    let sent = 0;
    const before = heldBytes();
    await expect
      .poll(
        () => {
          for (let more = 0; more < 20; more++)
            if (streams.opened[0]?.send(bulk(100_000)) === true) sent += 100_000;
          return dropped.mock.calls.length;
        },
        { interval: 5 },
      )
      .toBe(1);
    // The kernel buffers data for both ends of the connection, in addition to the relay's buffer.
    expect(sent).toBeLessThan(30_000_000);
    expect(heldBytes() - before).toBeLessThan(400_000_000);
    paused.socket.resume();
    await expect.poll(paused.over).toBe(true);
    streams.opened[1]?.send({ id: 9, event: 'still', data: {} });
    await expect.poll(other.text).toContain('event: still');
  });

  test('that disconnects abruptly closes its stream', async () => {
    const streams = fakeStreams();
    const { port } = await open.serve({ answer: streaming(streams) });
    const client = await open.raw(port, get('/stream'));
    await expect.poll(client.text).toContain('event: connected');
    client.socket.resetAndDestroy();
    await expect.poll(() => streams.opened[0]?.closed).toBe(1);
    expect(streams.opened[0]?.send(bulk(1))).toBe(false);
  });

  test('that has closed its half of the connection still gets its answer', async () => {
    const { port } = await open.serve({ answer: async () => Response.json({ alive: true }) });
    const client = await open.raw(port);
    client.socket.end(get('/'));
    await expect.poll(client.text).toContain('{"alive":true}');
    await expect.poll(client.over).toBe(true);
  });

  test('beyond the limit of connections is not admitted', async () => {
    const warn = vi.fn();
    const { port } = await open.serve(
      { logger: { info() {}, warn, error() {} } },
      { maxConnections: 2 },
    );
    await open.raw(port);
    await open.raw(port);
    const third = await open.raw(port, get('/'));
    await expect.poll(third.over).toBe(true);
    expect([third.text(), warn.mock.calls.length]).toEqual(['', 1]);
  });

  test.each([
    '\0\0\0\0\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
  ])('that does not send HTTP (%#) is answered with 4xx and disconnected', async (text) => {
    const { port } = await open.serve();
    const client = await open.raw(port, text);
    await expect.poll(client.text).toMatch(/^HTTP\/1.1 4/);
    await expect.poll(client.over).toBe(true);
  });
});

describe('closing', () => {
  test('says goodbye to streams and ends them', async () => {
    const streams = fakeStreams();
    const server = await open.serve({
      answer: streaming(streams),
      close: async () => streams.close(),
    });
    const client = await open.raw(server.port, get('/stream'));
    await expect.poll(client.text).toContain('event: connected');
    await server.close();
    await expect.poll(client.over).toBe(true);
    expect(client.text()).toMatch(
      /event: goodbye\r?\ndata: \{"reason":"shutting_down"\}\n\n\r\n0\r\n\r\n$/,
    );
  });

  test('waits for running requests, takes no new ones, and happens only once', async () => {
    let finish: ((response: Response) => void) | undefined;
    const answer = (): Promise<Response> =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const closes = vi.fn(async () => {});
    const server = await open.serve({ answer, close: closes });
    const client = await open.raw(server.port, get('/'));
    await expect.poll(() => finish).toBeDefined();
    const idle = await open.raw(server.port);
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await expect(fetch(`http://127.0.0.1:${server.port}/`)).rejects.toThrow();
    finish?.(Response.json({ done: true }));
    await closing;
    await expect.poll(client.over).toBe(true);
    await expect.poll(idle.over).toBe(true);
    expect([
      client.text().includes('{"done":true}'),
      client.text().toLowerCase().includes('connection: close'),
      closes.mock.calls.length,
    ]).toEqual([true, true, 1]);
  });

  test('cuts requests that go on and clients that do not read', async () => {
    const streams = fakeStreams();
    const server = await open.serve(
      {
        answer: (request) =>
          request.url.endsWith('/hang') ? new Promise(() => {}) : streaming(streams)(request),
      },
      { closingMs: 100 },
    );
    const hanging = await open.raw(server.port, get('/hang'));
    const paused = await open.raw(server.port, get('/stream'));
    await expect.poll(() => streams.opened.length).toBe(1);
    await server.close();
    await expect.poll(hanging.over).toBe(true);
    await expect.poll(paused.over).toBe(true);
    expect(streams.opened[0]?.closed).toBe(1);
  });
});

test('a server that replaces the global Request and Response does not affect the relay', async () => {
  const code = `
    const { createAdaptorServer } = await import('@hono/node-server');
    createAdaptorServer({ fetch: () => new Response('') });
    const { serveRelay } = await import(${JSON.stringify(programUrl('src/surfaces/relay/index.ts'))});
    const relay = await serveRelay({ port: 0 });
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
    const created = await fetch(relay.url + '/api/sessions', init);
    const { code, agentToken } = await created.json();
    const stream = await fetch(relay.url + '/api/sessions/' + code + '/events', { headers: { Authorization: 'Bearer ' + agentToken } });
    const first = new TextDecoder().decode((await stream.body.getReader().read()).value);
    console.log(created.status, stream.status, first.includes('connected'));
    await relay.close();
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', code],
    {
      cwd: join(import.meta.dirname, '../../../..'),
    },
  );
  expect(stdout.trim()).toBe('201 200 true');
});
