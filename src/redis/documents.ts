/**
 * A session and its documents. They are the fields of one hash: for each key, `d:` has the value
 * and `v:` the version. `f` is the highest version of any deleted document. New documents continue
 * from there, so that no version is used twice although deleted documents leave nothing else
 * behind.
 */
import type { RelayStore, StoredValue } from '../relay/ports/store.ts';
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
  if string.sub(field, 1, 2) == 'n:' then redis.call('PEXPIREAT', KEYS[1] .. ':log:' .. string.sub(field, 3), ARGV[1]) end
end
return 1`);

const dropScript = redisScript(`
local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then return 0 end
for _, field in ipairs(fields) do
  if string.sub(field, 1, 2) == 'n:' then redis.call('UNLINK', KEYS[1] .. ':log:' .. string.sub(field, 3)) end
end
redis.call('UNLINK', KEYS[1])
return 1`);

const setScript = redisScript(`
local found = redis.call('HMGET', KEYS[1], 'e', 'f', 'v:' .. ARGV[1])
if not found[1] or (ARGV[3] ~= '' and tonumber(ARGV[3]) ~= tonumber(found[3] or '0')) then return false end
local version = tonumber(found[3] or found[2] or '0') + 1
redis.call('HSET', KEYS[1], 'v:' .. ARGV[1], string.format('%.0f', version), 'd:' .. ARGV[1], ARGV[2])
return version`);

const deleteScript = redisScript(`
local found = redis.call('HMGET', KEYS[1], 'f', 'v:' .. ARGV[1])
if not found[2] or (ARGV[2] ~= '' and tonumber(ARGV[2]) ~= tonumber(found[2])) then return 0 end
redis.call('HDEL', KEYS[1], 'v:' .. ARGV[1], 'd:' .. ARGV[1])
if tonumber(found[2]) > tonumber(found[1] or '0') then redis.call('HSET', KEYS[1], 'f', found[2]) end
return 1`);

export function redisDocuments({
  client,
  prefix,
  run,
  send,
}: RedisCommands): Pick<RelayStore, 'create' | 'extend' | 'drop' | 'get' | 'set' | 'delete'> {
  return {
    create: async (session, key, value, expiresAt) =>
      (await run(createScript, [sessionKey(prefix, session)], [key, value, whole(expiresAt)])) ===
      1,
    extend: async (session, expiresAt) =>
      (await run(extendScript, [sessionKey(prefix, session)], [whole(expiresAt)])) === 1,
    drop: async (session) => (await run(dropScript, [sessionKey(prefix, session)], [])) === 1,
    async get(session, keys) {
      if (keys.length === 0) return [];
      const fields = await send(() =>
        client.hmget(
          sessionKey(prefix, session),
          ...keys.flatMap((key) => [`v:${key}`, `d:${key}`]),
        ),
      );
      return keys.map((_, index) => stored(fields[2 * index], fields[2 * index + 1]));
    },
    set: async (session, key, value, version) =>
      ((await run(setScript, [sessionKey(prefix, session)], [key, value, version ?? ''])) as
        | number
        | null) ?? undefined,
    delete: async (session, key, version) =>
      (await run(deleteScript, [sessionKey(prefix, session)], [key, version ?? ''])) === 1,
  };
}

function stored(
  version: string | null | undefined,
  value: string | null | undefined,
): StoredValue | undefined {
  return typeof version === 'string' && typeof value === 'string'
    ? { value, version: Number(version) }
    : undefined;
}
