/**
 * What a relay and approvals share between nodes, kept in Redis. The client is the host's, made
 * with ioredis; nothing of that package is loaded here.
 */

// The client
export type { RedisClient, RedisEvents, RedisNode, RedisSubscriber } from './client.ts';
export type { RedisOptions } from './options.ts';
// What is kept and what wakes
export { redisApprovals } from './redis-approvals.ts';
export { redisBus } from './redis-bus.ts';
export { redisStore } from './redis-store.ts';
export type { RedisUnreachable } from './unreachable.ts';
