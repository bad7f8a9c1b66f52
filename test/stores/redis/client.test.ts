/** The shape that is asked of a client: what ioredis gives has it, whatever it is. */
import { Cluster, Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import {
  type RedisClient,
  type RedisOptions,
  redisApprovals,
  redisStore,
} from '../../../src/stores/redis/index.ts';

test('a Redis and a Cluster of ioredis are clients, also with the replies of RESP3', () => {
  const clients: RedisClient[] = [
    new Redis({ lazyConnect: true }),
    new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true }),
    new Redis({ lazyConnect: true, replyMapping: 'resp3' }),
    new Cluster([{ host: '127.0.0.1', port: 1 }], {
      lazyConnect: true,
      redisOptions: { replyMapping: 'resp3' },
    }),
  ];
  expect(clients.map(({ status }) => status)).toEqual(['wait', 'wait', 'wait', 'wait']);
});

describe.each([
  ['redisStore', redisStore],
  ['redisApprovals', redisApprovals],
])('%s', (name, make) => {
  const client = new Redis({ lazyConnect: true });
  const hostile: [string, RedisOptions][] = [
    ['client', {} as RedisOptions],
    ['client', { client: null } as unknown as RedisOptions],
    ['client', { client: 'redis://127.0.0.1' } as unknown as RedisOptions],
    ...['', ' ', '{a}', 'a}{', 'a\nb', 'x'.repeat(101), 7 as unknown as string].map(
      (prefix): [string, RedisOptions] => ['prefix', { client, prefix }],
    ),
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5' as unknown as number].map(
      (commandTimeoutMs): [string, RedisOptions] => [
        'commandTimeoutMs',
        { client, commandTimeoutMs },
      ],
    ),
  ];

  test.each(hostile)('names an option that cannot be meant: %s, %j', (field, options) => {
    expect(() => make(options)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(`${name}: expected \`${field}\``),
      }),
    );
  });

  test('connects nothing by itself', () => {
    make({ client });
    expect(client.status).toBe('wait');
  });
});
