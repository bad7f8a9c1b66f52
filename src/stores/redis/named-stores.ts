/** The store on Redis, by the names of what a registry keeps in it. */
import type { Store } from '../../api/store.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { redisStore } from './redis-store.ts';

/**
 * The same as `redisStore`, for the approvals of a registry. All registries with the same Redis and
 * prefix list and answer them.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisApprovals } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({
 *   approvals: {
 *     secret: process.env.APPROVAL_SECRET ?? '',
 *     store: redisApprovals({ client: new Redis() }),
 *   },
 * });
 * ```
 */
export function redisApprovals(options: RedisOptions): Store {
  return redisStore(redisSettings('redisApprovals', options));
}

/**
 * The same as `redisStore`, for the quotas of a registry. All registries with the same Redis and
 * prefix spend together.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisQuotas } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({
 *   quotaStore: redisQuotas({ client: new Redis() }),
 *   quotas: [{ id: 'payments', tools: 'pay', max: 10, per: 'day', by: 'principal' }],
 * });
 * ```
 */
export function redisQuotas(options: RedisOptions): Store {
  return redisStore(redisSettings('redisQuotas', options));
}

/**
 * The same as `redisStore`, for the outcomes of calls with an idempotency key.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisIdempotency } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({
 *   idempotency: { store: redisIdempotency({ client: new Redis() }) },
 * });
 * ```
 */
export function redisIdempotency(options: RedisOptions): Store {
  return redisStore(redisSettings('redisIdempotency', options));
}

/**
 * The same as `redisStore`, for offloaded outputs.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisOffload } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({
 *   offload: { store: redisOffload({ client: new Redis() }) },
 * });
 * ```
 */
export function redisOffload(options: RedisOptions): Store {
  return redisStore(redisSettings('redisOffload', options));
}
