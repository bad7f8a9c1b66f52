/** What a relay keeps, in Redis: any number of nodes share it, and it outlives them. */
import type { RelayStore } from '../relay/ports/store.ts';
import { redisCommands } from './commands.ts';
import { redisDocuments } from './documents.ts';
import { redisDue } from './due.ts';
import { redisLeases } from './leases.ts';
import { redisLogs } from './logs.ts';
import { type RedisOptions, redisSettings } from './options.ts';

/**
 * A relay's store on Redis 6.2 or later, one server, with sentinels, or a cluster. Each operation
 * is one atomic round trip. A session is a hash and a stream for each log, all with one hash tag,
 * and all of them expire with it; leases and windows run by the clock of Redis. What was
 * acknowledged survives a crash of Redis as its persistence says (`appendonly yes`); after
 * `FLUSHALL` the sessions are simply gone.
 *
 * An operation rejects with an error that says the store cannot be reached, and nothing of what it
 * carried: when Redis refuses it (`READONLY`, `OOM`, `LOADING`, `CLUSTERDOWN`, …), does not answer
 * within `commandTimeoutMs`, or the connection is known to be gone; one that is only being made is
 * waited for. A write that failed so may still be carried out later, or have been: a client that
 * was cut off sends again what had no answer, so it may even happen twice (not with
 * `autoResendUnfulfilledCommands: false`). A relay lives with that: it writes over versions, takes
 * an entry of a log twice for one, and what is taken twice is refused.
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
  const commands = redisCommands(redisSettings('redisStore', options));
  return {
    ...redisDocuments(commands),
    ...redisLogs(commands),
    ...redisLeases(commands),
    ...redisDue(commands),
    async ping() {
      await commands.send(() => commands.client.ping());
    },
  };
}
