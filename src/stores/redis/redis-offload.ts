/**
 * Offloaded outputs, in Redis. Each is a hash with the text `t` and the metadata `a`. A list for
 * each session has their names and sizes in bytes, oldest first.
 */
import type { OffloadStore } from '../../core.ts';
import { redisCommands, redisScript } from './commands.ts';
import { offloadKey, whole } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';

/** Most outputs of a session, however short they are. */
const maxOutputs = 1_000;

/**
 * Keeps an output, and drops the oldest ones that no longer fit. KEYS: the list of the session.
 * ARGV: the name of the output, its bytes, its text, its metadata, the milliseconds for which it is
 * kept, and the most bytes of the session.
 */
const putScript = redisScript(`
local function place(name) return KEYS[1] .. ':' .. name end
local total, count, isFull, kept = tonumber(ARGV[2]), 1, false, {}
local all = redis.call('LRANGE', KEYS[1], 0, -1)
for i = #all, 1, -1 do
  local name, bytes = string.match(all[i], '^(.*) (%d+)$')
  if name ~= ARGV[1] and redis.call('EXISTS', place(name)) == 1 then
    isFull = isFull or total + bytes > tonumber(ARGV[6]) or count >= ${maxOutputs}
    if isFull then
      redis.call('DEL', place(name))
    else
      total = total + bytes
      count = count + 1
      table.insert(kept, 1, all[i])
    end
  end
end
table.insert(kept, ARGV[1] .. ' ' .. ARGV[2])
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], unpack(kept))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('DEL', place(ARGV[1]))
redis.call('HSET', place(ARGV[1]), 't', ARGV[3], 'a', ARGV[4])
redis.call('PEXPIRE', place(ARGV[1]), ARGV[5])
return 1`);

/**
 * A store for a registry's `offload`, on Redis 6.2 or later: a session that continues in another
 * process can read the outputs that were kept in this one. Keys are digests, so neither sessions
 * nor handles can be read in Redis; outputs can. A session keeps at most 1 000 outputs. Everything
 * expires by itself. Operations fail like those of `redisStore`.
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
export function redisOffload(options: RedisOptions): OffloadStore {
  const { client, prefix, run, send } = redisCommands(redisSettings('redisOffload', options));
  return {
    async put({ session, key, text, about, maxBytes, ttlMs }) {
      const values = [key, Buffer.byteLength(text), text, about, whole(ttlMs, 1), maxBytes];
      await run(putScript, [offloadKey(prefix, session)], values);
    },
    async get(session, key) {
      const place = `${offloadKey(prefix, session)}:${key}`;
      const [text, about] = await send(() => client.hmget(place, 't', 'a'));
      return typeof text === 'string' && typeof about === 'string' ? { text, about } : undefined;
    },
  };
}
