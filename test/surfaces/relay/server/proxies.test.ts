/** The relay behind nginx and Caddy, as the page on deployment configures them. */
import { type IncomingMessage, request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ServeRelayOptions } from '../../../../src/surfaces/relay/index.ts';
import {
  call,
  closeAll,
  connect,
  serve,
  session,
  tool,
} from '../../relay-client/real-relay-kit.ts';
import {
  demandProxy,
  isInstalled,
  proxyNames,
  type RunningProxy,
  startProxy,
} from './proxy-kit.ts';

const proxies: RunningProxy[] = [];
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  await closeAll();
});

interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The local address of the connection. */
  readonly from?: string;
}

/** Starts a request with any `Host` header, which `fetch` does not allow. */
function ask(url: string, { method = 'GET', headers = {}, body, from }: Ask) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent: false,
        headers: {
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(from === undefined ? {} : { localAddress: from }),
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece as string;
  return text;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe.each(proxyNames)('%s', (name) => {
  demandProxy(name);
  describe.skipIf(!isInstalled(name))('in front of a relay', () => {
    const world = async (options: Partial<ServeRelayOptions> = {}) => {
      const relay = await serve({
        trustProxy: true,
        allowedHosts: ['relay.example.com', '127.0.0.1'],
        ...options,
      });
      const proxy = await startProxy(name, [relay.port]);
      proxies.push(proxy);
      return { relay, proxy: { ...relay, url: proxy.url } };
    };

    test.each(['websocket', 'sse', 'poll'] as const)('calls work over %s', async (transport) => {
      const { proxy } = await world();
      const made = await session(proxy);
      const { connection } = await connect(proxy, made, [tool('twice', ({ n }) => 2 * Number(n))], {
        transport,
      });
      expect(connection.transport).toBe(transport);
      for (const n of [1, 2, 3]) expect(await call(proxy, made, 'twice', { n })).toBe(2 * n);
    });

    test('events arrive while the stream is open', async () => {
      const { proxy } = await world();
      const made = await session(proxy);
      const stream = await ask(`${proxy.url}/api/sessions/${made.code}/events`, {
        headers: { ...bearer(made.agentToken), Accept: 'text/event-stream' },
      });
      expect(stream.statusCode).toBe(200);
      let text = '';
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      await expect.poll(() => text).toContain('event: connected');
      await connect(proxy, made, [tool('seen')]);
      await expect.poll(() => text).toContain('tool-availability-update');
      expect(stream.complete).toBe(false);
      stream.destroy();
    });

    test('an agent calls over its WebSocket', async () => {
      const { proxy } = await world();
      const made = await session(proxy);
      await connect(proxy, made, [tool('seen')]);
      const socket = new WebSocket(
        `${proxy.url.replace('http', 'ws')}/api/sessions/${made.code}/agent`,
        { headers: bearer(made.agentToken) },
      );
      const events: { event: string; data: Record<string, unknown> }[] = [];
      socket.on('message', (text) => events.push(JSON.parse(String(text))));
      socket.on('open', () =>
        socket.send('{"event":"request","data":{"requestId":"r","tool":"seen"}}'),
      );
      await expect
        .poll(() => events.find(({ event }) => event === 'tool-result')?.data)
        .toMatchObject({ requestId: 'r', result: { output: 'seen' } });
      socket.terminate();
    });

    test('a poll waits until something happens', async () => {
      const { proxy } = await world();
      const made = await session(proxy);
      const polled = ask(`${proxy.url}/api/sessions/${made.code}/events?mode=poll`, {
        headers: bearer(made.agentToken),
      }).then(textOf);
      await connect(proxy, made, [tool('seen')]);
      expect(JSON.parse(await polled)).toMatchObject({
        events: [{ event: 'tool-availability-update' }],
      });
    });

    test('an address that the client invents has no effect', async () => {
      const { proxy } = await world({ limits: { sessionsPerMinute: 2 } });
      const statuses: (number | undefined)[] = [];
      for (const invented of ['203.0.113.1', '203.0.113.2', '203.0.113.3, 203.0.113.4'])
        statuses.push(
          (
            await ask(`${proxy.url}/api/sessions`, {
              method: 'POST',
              headers: { 'X-Forwarded-For': invented },
              body: '{}',
            })
          ).statusCode,
        );
      expect(statuses).toEqual([201, 201, 429]);
    });

    // On other systems the loopback has only one address.
    test.skipIf(process.platform !== 'linux')('each client has limits of its own', async () => {
      const { proxy } = await world({ limits: { sessionsPerMinute: 1 } });
      const create = async (from: string) =>
        (await ask(`${proxy.url}/api/sessions`, { method: 'POST', body: '{}', from })).statusCode;
      expect(await create('127.0.0.2')).toBe(201);
      expect(await create('127.0.0.3')).toBe(201);
      expect(await create('127.0.0.2')).toBe(429);
    });

    test('the relay sees the host name of the request', async () => {
      const { proxy } = await world({ allowedHosts: ['relay.example.com'] });
      const create = async (Host: string) =>
        (await ask(`${proxy.url}/api/sessions`, { method: 'POST', headers: { Host }, body: '{}' }))
          .statusCode;
      expect(await create('relay.example.com')).toBe(201);
      expect(await create('other.example.com')).toBe(403);
    });

    test('answers of 4 MB pass, and larger bodies are refused', async () => {
      const { proxy } = await world();
      const made = await session(proxy);
      const long = 'x'.repeat(4 * 1_048_576 - 1_000);
      await connect(proxy, made, [tool('long', () => long)]);
      const answered = await ask(`${proxy.url}/api/sessions/${made.code}/request`, {
        method: 'POST',
        headers: bearer(made.agentToken),
        body: JSON.stringify({ tool: 'long', args: {} }),
      });
      const { result } = JSON.parse(await textOf(answered)) as { result: { success: boolean } };
      // The core shortens the output for the model, and says so. The answer itself has arrived.
      expect(result.success).toBe(true);
      const refused = await ask(`${proxy.url}/api/sessions/${made.code}/response`, {
        method: 'POST',
        headers: bearer(made.sessionToken),
        body: JSON.stringify({ requestId: 'x', result: 'x'.repeat(6_000_000) }),
      }).catch((error: NodeJS.ErrnoException) => error);
      // A proxy may cut the connection before all of the body has been sent.
      if (refused instanceof Error) expect(refused.code).toMatch(/^(EPIPE|ECONNRESET)$/);
      else expect(refused.statusCode).toBe(413);
    });

    test('requests go to another node when one is gone', async () => {
      const relay = await serve({ trustProxy: true, heartbeatMs: 1_000 });
      const gone = await serve();
      const proxy = await startProxy(name, [gone.port, relay.port]);
      proxies.push(proxy);
      await gone.close();
      for (let tries = 0; tries < 4; tries++) {
        const answer = await ask(`${proxy.url}/readyz`, {});
        // Caddy notices within its interval; nginx tries the next node at once.
        if (name === 'nginx') expect(answer.statusCode).toBe(200);
        answer.resume();
      }
      await expect
        .poll(async () => (await ask(`${proxy.url}/readyz`, {})).statusCode, { timeout: 30_000 })
        .toBe(200);
    });
  });
});
