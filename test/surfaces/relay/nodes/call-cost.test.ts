/**
 * What a relayed call asks of Redis: how many commands, and how many of them one after another. The
 * latter is counted with a client that lets a step of time pass before each command.
 */
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisClient, redisStore } from '../../../../src/stores/redis/index.ts';
import { createRelay } from '../../../../src/surfaces/relay/index.ts';
import { connectRelay } from '../../../../src/surfaces/relay-client/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../../../stores/redis/redis-server.ts';
import { askOf, base } from '../http/app-kit.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a relayed call over Redis${whyNot}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** A node with an application, and a call of an agent. */
  async function node(client: RedisClient) {
    const store = redisStore({ client, prefix: 'cost' });
    // Nothing but the calls comes meanwhile.
    const quiet = { leaseMs: 600_000, heartbeatMs: 600_000 };
    const limits = { requestsPerMinute: 1_000, responsesPerMinute: 1_000 };
    const relay = createRelay({ store, ...quiet, limits });
    const made = await askOf(relay.fetch, 'POST', base, { body: {} });
    const { code, sessionToken, agentToken } = made.body as Record<string, string>;
    const connection = await connectRelay({
      url: 'http://relay.test',
      code: code as string,
      token: sessionToken as string,
      transport: 'sse',
      fetch: (url, init) => relay.fetch(new Request(url, init)),
      tools: [
        { name: 'echo', description: 'Echo.', parameters: { type: 'object' }, handler: () => 1 },
      ],
    });
    const call = async (): Promise<void> => {
      const { status } = await askOf(relay.fetch, 'POST', `${base}/${code}/request`, {
        token: agentToken as string,
        body: { tool: 'echo', args: {} },
      });
      expect(status).toBe(200);
    };
    const close = async (): Promise<void> => {
      await connection.close();
      await relay.close();
      await store.close();
    };
    return { call, close };
  }

  test('takes at most 8 commands', async () => {
    const { call, close } = await node(server.connect());
    await call();
    const monitor = await server.connect().monitor();
    let commands = 0;
    monitor.on('monitor', (_time: string, _args: string[], source: string) => {
      if (source !== 'lua') commands += 1;
    });
    for (let calls = 0; calls < 50; calls++) await call();
    await expect.poll(() => commands).toBeGreaterThanOrEqual(50 * 5);
    // A node looks after its own lease and requests meanwhile, with two commands a second.
    expect(commands / 50).toBeLessThanOrEqual(8);
    monitor.disconnect();
    await close();
  });

  test('waits for at most 7 commands one after another', async () => {
    const delayMs = 40;
    let isSlow = false;
    const slow = new Proxy(server.connect(), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const run = (...given: unknown[]): unknown => member.apply(target, given);
        if (name !== 'evalsha') return run;
        return async (...given: unknown[]) => {
          if (isSlow) await new Promise((resolve) => setTimeout(resolve, delayMs));
          return run(...given);
        };
      },
    });
    const { call, close } = await node(slow as Redis);
    for (let calls = 0; calls < 5; calls++) await call();
    isSlow = true;
    // The quickest one: a busy machine makes others slower.
    let fastest = Number.POSITIVE_INFINITY;
    for (let calls = 0; calls < 8; calls++) {
      const begun = performance.now();
      await call();
      fastest = Math.min(fastest, performance.now() - begun);
    }
    expect(Math.floor(fastest / delayMs)).toBeLessThanOrEqual(7);
    isSlow = false;
    await close();
  });
});
