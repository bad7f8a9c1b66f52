/**
 * Suspended calls in Redis. Any process may resume a call that another one suspended, and exactly
 * one does.
 */
import type { ApprovalStore, JsonObject } from '../index.ts';
import { isJsonObject } from '../json.ts';
import { redisCommands, redisScript } from './commands.ts';
import { approvalKey, approvalsKey, whole } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { nowLua } from './redis-clock.ts';

// The set of a session's ids lives as long as the last of them.
const indexScript = redisScript(`${nowLua}
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now))
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
if newest then redis.call('PEXPIREAT', KEYS[1], newest) end
return 1`);

// Redis keeps a key through the millisecond at which it expires, and so does the list: an id that
// is no longer in it cannot be taken.
const idsScript = redisScript(`${nowLua}
return redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%.0f', now), '+inf')`);

/**
 * A store for a registry's approvals, on Redis 6.2 or later. A record is removed when it is taken,
 * and at its `expiresAt` by the clock of Redis. A record is as secret as the token that is made
 * from it, so protect Redis and the connection to it. Operations fail as those of `redisStore` do.
 * If `put` fails, the record may still be kept until it expires, but its token was not given to
 * anyone. If the answer to a take is lost, the take is not repeated: the call must be requested
 * again, and never runs twice.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisApprovals } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const store = redisApprovals({ client: new Redis() });
 * const registry = new HostToolRegistry({
 *   approvals: { secret: process.env.APPROVAL_SECRET ?? '', store },
 * });
 * ```
 */
export function redisApprovals(options: RedisOptions): ApprovalStore {
  const { client, prefix, run, send } = redisCommands(redisSettings('redisApprovals', options));
  return {
    async put(record) {
      const { id, sessionId, expiresAt } = record;
      const until = whole(expiresAt, 1);
      // The two writes need not be atomic: an id without its record is ignored, and a record
      // without its id was never acknowledged.
      await Promise.all([
        run(indexScript, [approvalsKey(prefix, sessionId)], [id, until]),
        send(() => client.set(approvalKey(prefix, id), JSON.stringify(record), 'PXAT', until)),
      ]);
    },
    async take(id) {
      return parsed(await send(() => client.getdel(approvalKey(prefix, id))));
    },
    async list(sessionId) {
      const index = approvalsKey(prefix, sessionId);
      const ids = (await run(idsScript, [index], [])) as string[];
      const records = await Promise.all(
        ids.map(async (id) => parsed(await send(() => client.get(approvalKey(prefix, id))))),
      );
      // An id can be put again for another session.
      return records.filter((record): record is JsonObject => record?.sessionId === sessionId);
    },
  };
}

function parsed(text: string | null): JsonObject | undefined {
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
