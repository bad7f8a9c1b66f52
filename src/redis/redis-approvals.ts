/**
 * Suspended calls in Redis: any process may resume what another suspended, and one of them does.
 */
import type { ApprovalStore, JsonObject } from '../index.ts';
import { isJsonObject } from '../json.ts';
import { redisCommands, redisScript } from './commands.ts';
import { approvalKey, approvalsKey, whole } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { nowLua } from './redis-clock.ts';

// The set of a session's ids is there for as long as the last of them.
const indexScript = redisScript(`${nowLua}
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now))
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
if newest then redis.call('PEXPIREAT', KEYS[1], newest) end
return 1`);

// Redis keeps a key through the very millisecond at which it expires, and so does the list: what is
// in it no more cannot be taken.
const idsScript = redisScript(`${nowLua}
return redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%.0f', now), '+inf')`);

/**
 * The store of a registry's approvals, on Redis 6.2 or later. A record is gone once it was taken,
 * and at its `expiresAt` by the clock of Redis. Like the token that is made of it, a record is a
 * secret: so are Redis and the way to it. Operations fail as those of `redisStore` do. A record
 * whose `put` failed may be kept all the same until it expires; nobody was given its token. A take
 * whose answer was lost is not repeated: the call has to be asked for again, and never runs twice.
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
      // Two places: an id without its record means nothing, and a record without its id was never
      // acknowledged.
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
