/** What a relay and approvals share between nodes, kept in Redis. The client is the host's, made with ioredis; nothing of that package is loaded here. */

// The client
export type { RedisClient, RedisEvents, RedisNode, RedisSubscriber } from './redis/client.ts';
export type { RedisOptions } from './redis/options.ts';
// What is kept and what wakes
export { redisApprovals } from './redis/redis-approvals.ts';
export { redisBus } from './redis/redis-bus.ts';
export { redisStore } from './redis/redis-store.ts';
export type { RedisUnreachable } from './redis/unreachable.ts';
