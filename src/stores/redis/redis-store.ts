/** A relay's store in Redis. Any number of nodes share it, and it outlives them. */
import type { RelayStore } from '../../surfaces/relay/ports/store.ts';
import { redisApply } from './apply.ts';
import { carrierOf } from './carrier.ts';
import { redisCommands } from './commands.ts';
import { redisDue } from './due.ts';
import { redisLeases } from './leases.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { redisSessions } from './sessions.ts';

/**
 * A relay's store on Redis 6.2 or later: one server, sentinels or a cluster. Each operation is one
 * atomic round trip. A session is a hash and one stream for each log. They share one hash tag and
 * expire together. Leases and rate windows use the clock of Redis. Whether acknowledged writes
 * survive a crash of Redis depends on its persistence (`appendonly yes`). After `FLUSHALL` the
 * sessions are gone.
 *
 * An operation rejects if Redis refuses it (`READONLY`, `OOM`, `LOADING`, `CLUSTERDOWN`, …), if
 * Redis does not answer within `commandTimeoutMs`, or if the connection is known to be lost. A
 * connection that is still being made is waited for. The error says that the store cannot be
 * reached and contains nothing of the operation. A write that failed in this way may still take
 * effect. It may even happen twice, because a client that was cut off sends unanswered commands
 * again, unless it has `autoResendUnfulfilledCommands: false`. A relay tolerates that: it writes
 * only over known versions, counts a repeated log entry once, and refuses to take anything twice.
 *
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { redisBus, redisStore } from 'host-tools/redis';
 * import { serveRelay } from 'host-tools/relay';
 * import { Redis } from 'ioredis';
 *
 * const client = new Redis();
 * const relay = await serveRelay({
 *   port: 4040,
 *   store: redisStore({ client }),
 *   bus: redisBus({ client }),
 * });
 * ```
 */
export function redisStore(options: RedisOptions): RelayStore {
  const settings = redisSettings('redisStore', options);
  const commands = redisCommands(settings);
  const operations = redisApply(commands);
  return {
    carrier: carrierOf(settings),
    ...operations,
    ...redisSessions(commands),
    ...redisLeases(commands, operations.renew),
    ...redisDue(commands),
    async ping() {
      await commands.send(() => commands.client.ping());
    },
  };
}
