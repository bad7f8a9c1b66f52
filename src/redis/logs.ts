/**
 * Logs. Each is a stream. Its ids are counted in the session's hash, in the field named `n:` and
 * the log's name, so that they have no gaps.
 */
import type { RelayStore } from '../relay/ports/store.ts';
import { type RedisCommands, redisScript } from './commands.ts';
import { logKey, sessionKey, whole } from './keys.ts';

// A server without memory refuses the first write, so nothing is left half done. The first entry
// deletes what may be left of an earlier session of this name.
const appendScript = redisScript(`
local found = redis.call('HMGET', KEYS[1], 'e', 'n:' .. ARGV[1])
if not found[1] then return false end
local id = tonumber(found[2] or '0') + 1
redis.call('HSET', KEYS[1], 'n:' .. ARGV[1], string.format('%.0f', id))
if id == 1 then redis.call('UNLINK', KEYS[2]) end
redis.call('XADD', KEYS[2], string.format('%.0f-0', id), 'v', ARGV[2])
redis.call('PEXPIREAT', KEYS[2], found[1])
local dropped = {}
local excess = redis.call('XLEN', KEYS[2]) - tonumber(ARGV[3])
if excess > 0 then
  for at, entry in ipairs(redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', excess)) do dropped[at] = entry[2][2] end
  redis.call('XTRIM', KEYS[2], 'MAXLEN', ARGV[3])
end
return {id, dropped}`);

const readScript = redisScript(`
local last = tonumber(redis.call('HGET', KEYS[1], 'n:' .. ARGV[1]) or '0')
if last == 0 then return {0, {}, {}} end
local limit = tonumber(ARGV[3])
local entries = {}
if limit > 0 then entries = redis.call('XRANGE', KEYS[2], ARGV[2] .. '-0', '+', 'COUNT', limit) end
return {last, redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1), entries}`);

type StreamEntry = readonly [id: string, fields: readonly [name: string, value: string]];

export function redisLogs({ prefix, run }: RedisCommands): Pick<RelayStore, 'append' | 'read'> {
  const keys = (session: string, log: string): string[] => [
    sessionKey(prefix, session),
    logKey(prefix, session, log),
  ];
  return {
    async append(session, log, value, keep) {
      const reply = (await run(appendScript, keys(session, log), [log, value, whole(keep)])) as
        | [number, string[]]
        | null;
      return reply === null ? undefined : { id: reply[0], dropped: reply[1] };
    },
    async read(session, log, after, limit) {
      const from = whole(Math.floor(after) + 1, 1);
      const [last, [oldest], entries] = (await run(readScript, keys(session, log), [
        log,
        from,
        whole(limit),
      ])) as [number, StreamEntry[], StreamEntry[]];
      return {
        entries: entries.map((entry) => ({ id: entryId(entry), value: entry[1][1] })),
        first: oldest === undefined ? 0 : entryId(oldest),
        last,
      };
    },
  };
}

/** The number 12 of the id `12-0`. */
function entryId([id]: StreamEntry): number {
  return Number.parseInt(id, 10);
}
