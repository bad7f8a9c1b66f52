import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startStatusServer } from '../../examples/demo/status-server.ts';
import { fetchStatusTool } from '../../examples/tools/fetch-status.ts';
import { outcome, sessionOf } from './fixtures.ts';

async function statusServer() {
  const server = await startStatusServer();
  onTestFinished(() => server.close());
  return server;
}

/** A server of its own kind on the loopback address; gives its origin. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('fetch_status', () => {
  test('fetches a path or a URL of an allowed server, whatever its status', async () => {
    const { origin } = await statusServer();
    const { call } = sessionOf(fetchStatusTool, { allowedOrigins: [origin] });
    expect(await call({ target: '/status' })).toMatchObject({
      success: true,
      output: { status: 200, text: '{"service":"demo","healthy":true}' },
    });
    expect(await call({ target: `${origin}/none` })).toMatchObject({
      success: true,
      output: { status: 404 },
    });
  });
  test('denies every other server, and every server where none is allowed', async () => {
    const { origin } = await statusServer();
    const { call } = sessionOf(fetchStatusTool, { allowedOrigins: [origin] });
    for (const target of [
      '//127.0.0.1:9/',
      'http://localhost/',
      'file:///etc/passwd',
      origin.replace('//', '//user@'),
    ]) {
      expect(outcome(await call({ target }))).toBe('policy_denied origin_not_allowed');
    }
    expect(outcome(await sessionOf(fetchStatusTool, {}).call({ target: `${origin}/status` }))).toBe(
      'policy_denied origin_not_allowed',
    );
  });
  test('follows no redirect', async () => {
    let followed = false;
    const target = await serve((_request, response) => {
      followed = true;
      response.end();
    });
    const origin = await serve((_request, response) =>
      response.writeHead(307, { location: target }).end('elsewhere'),
    );
    expect(
      outcome(await sessionOf(fetchStatusTool, { allowedOrigins: [origin] }).call({ target: '/' })),
    ).toBe('handler_error redirect_refused');
    expect(followed).toBe(false);
  });
  test('reads no more than maxBytes, and ends an endless body', async () => {
    let closed: (() => void) | undefined;
    const connectionClosed = new Promise<void>((resolve) => (closed = resolve));
    const origin = await serve((_request, response) => {
      const more = () => {
        while (response.write('x'.repeat(1_000)));
      };
      response.on('drain', more).on('close', () => closed?.());
      more();
    });
    const result = await sessionOf(fetchStatusTool, {
      allowedOrigins: [origin],
      maxBytes: 1_500,
    }).call({ target: '/' });
    expect(result).toMatchObject({
      success: true,
      output: { status: 200, text: 'x'.repeat(1_500) },
      metadata: { handler: { cut: true } },
    });
    await connectionClosed;
  });
  test('ends with the signal, and the request with it', async () => {
    const server = await statusServer();
    const { call } = sessionOf(fetchStatusTool, { allowedOrigins: [server.origin] });
    const abort = new AbortController();
    const result = call({ target: '/slow' }, { signal: abort.signal });
    await server.slowRequest();
    abort.abort();
    expect(outcome(await result)).toBe('cancelled');
  });
  test('times out', async () => {
    const server = await statusServer();
    const { call } = sessionOf(fetchStatusTool, { allowedOrigins: [server.origin] });
    expect((await call({ target: '/slow' }, { timeoutMs: 50 })).error?.code).toBe('timeout');
  });
  test('a server that is not there is a failure of the handler', async () => {
    const gone = await startStatusServer();
    await gone.close();
    const { call } = sessionOf(fetchStatusTool, { allowedOrigins: [gone.origin] });
    expect(outcome(await call({ target: '/' }))).toBe('handler_error unreachable');
  });
  test.each([{}, { target: '' }, { target: 1 }, { target: '/', method: 'POST' }])(
    '%j is invalid',
    async (input) => {
      expect(outcome(await sessionOf(fetchStatusTool, {}).call(input))).toBe('invalid_input');
    },
  );
});
