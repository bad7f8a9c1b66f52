/** Quotas in Redis: the contract of every such store, and what is Redis' own. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { QuotaStore } from '../../src/index.ts';
import { redisQuotas } from '../../src/redis/index.ts';
import { quotaStoreConformance } from '../../src/testing/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from './redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`quotas on Redis${whyNot}`, () => {
  let server: RedisServer;
  let client: ReturnType<RedisServer['connect']>;
  let stores = 0;
  const fresh = (): QuotaStore => redisQuotas({ client, prefix: `test-${++stores}` });

  beforeAll(async () => {
    server = await startRedis();
    client = server.connect();
  });
  afterAll(() => server.stop());

  describe('keep the contract', () => {
    for (const rule of quotaStoreConformance(fresh)) test(rule.name, rule.run);
  });
});
