/** Due items: one sorted set for all spaces, by time. */
import type { Store } from '../../api/store.ts';
import { checkDue, checkSchedule } from '../shared/check-operations.ts';
import { nowLua, type RedisCommands, redisScript } from './commands.ts';
import { dueKey } from './keys.ts';

// ARGV: the delay, how many items are done, these, and those that become due.
const scheduleScript = redisScript(`${nowLua}
local done, at = ARGV[2] + 2, string.format('%.0f', now + ARGV[1])
for place = 3, done do redis.call('ZREM', KEYS[1], ARGV[place]) end
for place = done + 1, #ARGV do redis.call('ZADD', KEYS[1], at, ARGV[place]) end
return 1`);

const dueScript = redisScript(`${nowLua}
local to, later = string.format('%.0f', now), string.format('%.0f', now + ARGV[2])
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', to, 'LIMIT', 0, ARGV[1])
for _, member in ipairs(members) do redis.call('ZADD', KEYS[1], later, member) end
return members`);

export function redisItems({ prefix, run }: RedisCommands): Pick<Store, 'schedule' | 'due'> {
  const keys = [dueKey(prefix)];
  return {
    async schedule(items, delayMs, done = []) {
      checkSchedule(items, delayMs, done);
      if (items.length + done.length === 0) return;
      const members = [...done, ...items].map(({ owner, key }) => JSON.stringify([owner, key]));
      await run(scheduleScript, keys, [delayMs, done.length, ...members]);
    },
    async due(limit, delayMs) {
      checkDue(limit, delayMs);
      const members = (await run(dueScript, keys, [limit, delayMs])) as string[];
      return members.flatMap((text) => itemOf(text) ?? []);
    },
  };
}

/** Undefined for a member that no store has written. Such a member must not block the others. */
function itemOf(text: string): Store.Item | undefined {
  try {
    const [owner, key] = JSON.parse(text) as [unknown, unknown];
    return typeof owner === 'string' && typeof key === 'string' ? { owner, key } : undefined;
  } catch {
    return undefined;
  }
}
