/**
 * Keeps in Redis the data of relays, approvals, quotas, idempotency keys and outputs that several
 * nodes share. The host makes the client with ioredis; this subpath does not load that package.
 */

// The client
export type { RedisClient, RedisEvents, RedisNode, RedisSubscriber } from './client.ts';
export type { RedisOptions } from './options.ts';
// Stores and buses
export { redisApprovals } from './redis-approvals.ts';
export { redisBus } from './redis-bus.ts';
export { redisIdempotency } from './redis-idempotency.ts';
export { redisOffload } from './redis-offload.ts';
export { redisQuotas } from './redis-quotas.ts';
export { redisStore } from './redis-store.ts';
export type { RedisUnreachable } from './unreachable.ts';
