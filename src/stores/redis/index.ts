/**
 * Keeps in Redis the data of relays, approvals, quotas, idempotency keys and outputs that several
 * nodes share. The host makes the client with ioredis; this subpath does not load that package.
 */

// The client
export type { RedisClient, RedisEvents, RedisNode, RedisSubscriber } from './client.ts';
export type { RedisOptions } from './options.ts';
// Stores
export {
  redisApprovals,
  redisIdempotency,
  redisOffload,
  redisQuotas,
  redisStore,
} from './redis-store.ts';
export type { RedisUnreachable } from './unreachable.ts';
