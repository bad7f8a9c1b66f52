/** The store on Redis: everything that must outlive a process. */

import type { Store } from '../../api/store.ts';
import { checkSpace, checkStep } from '../shared/check-operations.ts';
import { redisCommands } from './commands.ts';
import { redisItems } from './items.ts';
import { channelOf, isSession, rootOf } from './keys.ts';
import { redisMessages } from './messages.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { sessionStep } from './session-step.ts';
import { sharedStep } from './shared-step.ts';
import { maxMessageChars } from './step-lua.ts';

/**
 * A store on Redis 6.2 or later: one server, sentinels or a cluster. Any number of processes share
 * it. Each step is one script and one round trip; a second one follows where more amounts have left
 * the window of a sum than one run removes. All clocks are that of Redis. The keys of a space share
 * one hash tag, and everything with an end expires by itself. Whether acknowledged writes survive a
 * crash of Redis depends on its persistence (`appendonly yes`). Give it `maxmemory-policy
 * noeviction`: what is evicted is forgotten.
 *
 * It listens on a separate connection with the client's settings, which is made when first needed;
 * `close` ends only that connection. An open one keeps the process alive. No messages are kept:
 * after the connection was lost and is back, listeners are called with `undefined`.
 *
 * An operation rejects if Redis refuses it (`READONLY`, `OOM`, `LOADING`, `CLUSTERDOWN`, …), if
 * Redis does not answer within `commandTimeoutMs`, or if the connection is known to be lost. A
 * connection that is still being made is waited for. The error says that the store cannot be
 * reached and contains nothing of the operation. A write that failed in this way may still take
 * effect. It may even happen twice, because a client that was cut off sends unanswered commands
 * again, unless it has `autoResendUnfulfilledCommands: false`.
 *
 * In a window with more than 1 024 amounts, a refusal may last a 1 024th of the window too long. If
 * it depends on many amounts when a refused one fits, the time to wait is that until the newest of
 * them has left the window.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisStore } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({ store: redisStore({ client: new Redis() }) });
 * ```
 */
export function redisStore(options: RedisOptions): Store {
  const settings = redisSettings('redisStore', options);
  const commands = redisCommands(settings);
  const { prefix } = settings;
  const messages = redisMessages(settings, commands);
  return {
    kind: 'Redis',
    maxMessageChars,
    async apply<const T extends readonly Store.Operation[]>(space: Store.Space, operations: T) {
      checkStep(space, operations);
      const step = isSession(space) ? sessionStep : sharedStep;
      return (await step(commands, rootOf(prefix, space), operations)) as Store.Outcome<T>;
    },
    ...redisItems(commands),
    async listen(space, listener) {
      checkSpace(space);
      return await messages.listen(channelOf(rootOf(prefix, space)), listener);
    },
    async ping() {
      await commands.send(() => commands.client.ping());
    },
    async close() {
      messages.close();
    },
  };
}

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
