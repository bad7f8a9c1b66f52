/** Outputs in Redis: the contract of every such store, and what is Redis' own. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostToolRegistry, type OffloadStore } from '../../../src/index.ts';
import { redisOffload } from '../../../src/stores/redis/index.ts';
import { offloadStoreConformance } from '../../../src/surfaces/testing/index.ts';
import { tool } from '../../core/call/world.ts';
import {
  demandRedis,
  patient,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`outputs in Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: ReturnType<RedisServer['connect']>;
  let stores = 0;
  const fresh = (): OffloadStore =>
    redisOffload({ client, prefix: `test-${++stores}`, ...patient });
  const keys = async (): Promise<string[]> => (await client.keys(`test-${stores}:*`)).toSorted();

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keep the contract', () => {
    for (const rule of offloadStoreConformance(fresh)) test(rule.name, rule.run);
  });

  test('nothing is left of what was dropped, and all of it expires', async () => {
    const store = fresh();
    const output = { session: 's', text: 'x'.repeat(60), about: 'a', maxBytes: 100, ttlMs: 60_000 };
    for (const key of ['k1', 'k2', 'k3']) await store.put({ ...output, key });
    const prefix = `test-${stores}:offload:{s}`;
    expect(await keys()).toEqual([prefix, `${prefix}:k3`]);
    for (const key of await keys()) expect(await client.pttl(key)).toBeGreaterThan(0);
  });

  test('a session keeps at most 1 000 outputs', async () => {
    const store = fresh();
    for (let index = 0; index < 1_005; index++)
      await store.put({
        session: 's',
        key: `k${index}`,
        text: '',
        about: '',
        maxBytes: 1,
        ttlMs: 3_600_000,
      });
    expect(await store.get('s', 'k4')).toBeUndefined();
    expect(await store.get('s', 'k5')).toEqual({ text: '', about: '' });
    expect(await keys()).toHaveLength(1_001);
  });

  test('a session that continues in another process reads its kept outputs', async () => {
    const store = fresh();
    const text = 'line\n'.repeat(1_000);
    const open = () => {
      const registry = new HostToolRegistry({ offload: { store } });
      registry.register(
        tool(() => text, { name: 'list', outputStrategy: 'offload', maxOutputChars: 400 }),
      );
      return registry.createSession({ sessionId: 's', principal: 'ann' });
    };
    const { metadata } = await open().call('list');
    const handle = metadata.truncated?.handle as string;
    const read = await open().call('read_tool_output', { handle, start: 4_990 });
    expect(read.output).toBe('line\nline\n\n[characters 4990 to 5000 of 5000]');
    expect(JSON.stringify(await keys())).not.toMatch(new RegExp(`ann|${handle}`));
  });

  test('wrong options are named', () => {
    expect(() => redisOffload({} as never)).toThrow(
      'redisOffload: expected `client` to be a `Redis` or a `Cluster` of ioredis',
    );
  });
});
