/** Whole sessions: their creation and their end. */
import type { RelayStore } from '../../surfaces/relay/ports/store.ts';
import { type RedisCommands, redisScript } from './commands.ts';
import { sessionKey, whole } from './keys.ts';

const createScript = redisScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'e', ARGV[3], 'v:' .. ARGV[1], 1, 'd:' .. ARGV[1], ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1`);

// The hash has the names of the logs, which expire with it.
const extendScript = redisScript(`
local ends = redis.call('HGET', KEYS[1], 'e')
if not ends then return 0 end
if tonumber(ARGV[1]) <= tonumber(ends) then return 1 end
redis.call('HSET', KEYS[1], 'e', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 2) == 'n:' then
    redis.call('PEXPIREAT', KEYS[1] .. ':log:' .. string.sub(field, 3), ARGV[1])
  end
end
return 1`);

const dropScript = redisScript(`
local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then return 0 end
for _, field in ipairs(fields) do
  if string.sub(field, 1, 2) == 'n:' then
    redis.call('UNLINK', KEYS[1] .. ':log:' .. string.sub(field, 3))
  end
end
redis.call('UNLINK', KEYS[1])
return 1`);

export function redisSessions({
  prefix,
  run,
}: RedisCommands): Pick<RelayStore, 'create' | 'extend' | 'drop'> {
  return {
    create: async (session, key, value, expiresAt) =>
      (await run(createScript, [sessionKey(prefix, session)], [key, value, whole(expiresAt)])) ===
      1,
    extend: async (session, expiresAt) =>
      (await run(extendScript, [sessionKey(prefix, session)], [whole(expiresAt)])) === 1,
    drop: async (session) => (await run(dropScript, [sessionKey(prefix, session)], [])) === 1,
  };
}
