/**
 * Rate windows, each with one counter, and due items: one sorted set for all sessions, by time.
 */
import type { DueItem, RelayStore } from '../../surfaces/relay/ports/store.ts';
import { type RedisCommands, redisScript } from './commands.ts';
import { countKey, dueKey, whole } from './keys.ts';
import { nowLua } from './redis-clock.ts';

// Returns 0, or the milliseconds to wait.
const countScript = redisScript(`
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then
  local left = redis.call('PTTL', KEYS[1])
  if left == -2 then return tonumber(ARGV[2]) end
  return math.max(left, 1)
end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`);

const scheduleScript = redisScript(`${nowLua}
for at = 3, #ARGV do redis.call('ZREM', KEYS[1], ARGV[at]) end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
return 1`);

const dueScript = redisScript(`${nowLua}
local to, later = string.format('%.0f', now), string.format('%.0f', now + ARGV[2])
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', to, 'LIMIT', 0, ARGV[1])
for _, member in ipairs(members) do redis.call('ZADD', KEYS[1], later, member) end
return members`);

export function redisDue({
  client,
  prefix,
  run,
  send,
}: RedisCommands): Pick<RelayStore, 'count' | 'schedule' | 'unschedule' | 'due'> {
  return {
    async count(key, limit, windowMs) {
      const retryAfterMs = (await run(
        countScript,
        [countKey(prefix, key)],
        [whole(limit), whole(windowMs, 1)],
      )) as number;
      return { allowed: retryAfterMs === 0, retryAfterMs };
    },
    async schedule(session, key, delayMs, done = []) {
      const removed = done.map((item) => member(item.session, item.key));
      await run(
        scheduleScript,
        [dueKey(prefix)],
        [member(session, key), whole(delayMs), ...removed],
      );
    },
    async unschedule(session, key) {
      await send(() => client.zrem(dueKey(prefix), member(session, key)));
    },
    async due(limit, delayMs) {
      const members = (await run(
        dueScript,
        [dueKey(prefix)],
        [whole(limit), whole(delayMs)],
      )) as string[];
      return members.flatMap((text) => item(text) ?? []);
    },
  };
}

function member(session: string, key: string): string {
  return JSON.stringify([session, key]);
}

/** Undefined for a member that no node has written. Such a member must not block the others. */
function item(text: string): DueItem | undefined {
  try {
    const [session, key] = JSON.parse(text) as [unknown, unknown];
    return typeof session === 'string' && typeof key === 'string' ? { session, key } : undefined;
  } catch {
    return undefined;
  }
}
