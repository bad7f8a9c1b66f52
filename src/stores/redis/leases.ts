/**
 * Leases. Each is a field of the session's hash, named `l:` and the lease's name. It has the epoch,
 * the end by the clock of Redis, and the holder. It is kept when the lease ends, because epochs
 * continue.
 */
import type { RelayStore } from '../../surfaces/relay/ports/store.ts';
import { type RedisCommands, redisScript } from './commands.ts';
import { sessionKey, whole } from './keys.ts';
import { nowLua } from './redis-clock.ts';

/** The start of a script that reads and writes leases. */
export const leaseLua = `
local function leaseOf(text)
  local epoch, ends, holder = string.match(text or '0:0:', '^(%d+):(%d+):(.*)$')
  return tonumber(epoch), tonumber(ends), holder
end
local function lease(epoch, ends, holder)
  return string.format('%.0f:%.0f:', epoch, ends) .. holder
end
${nowLua}`;

const acquireScript = redisScript(`${leaseLua}
local found = redis.call('HMGET', KEYS[1], 'e', 'l:' .. ARGV[1])
if not found[1] then return false end
local epoch, ends, holder = leaseOf(found[2])
if ends > now and holder ~= ARGV[2] and ARGV[4] == '0' then return false end
redis.call('HSET', KEYS[1], 'l:' .. ARGV[1], lease(epoch + 1, now + ARGV[3], ARGV[2]))
return epoch + 1`);

const holderScript = redisScript(`${leaseLua}
local epoch, ends, holder = leaseOf(redis.call('HGET', KEYS[1], 'l:' .. ARGV[1]))
if ends <= now then return false end
return {holder, epoch, ends - now}`);

/** @param renew renews a lease; one that is released is renewed for 0 ms */
export function redisLeases(
  { prefix, run }: RedisCommands,
  renew: RelayStore['renew'],
): Pick<RelayStore, 'acquire' | 'release' | 'holder'> {
  return {
    async acquire(session, lease, holder, ttlMs, steal = false) {
      const epoch = await run(
        acquireScript,
        [sessionKey(prefix, session)],
        [lease, holder, whole(ttlMs), steal ? 1 : 0],
      );
      return (epoch as number | null) ?? undefined;
    },
    release: (session, lease, epoch) => renew(session, lease, epoch, 0),
    async holder(session, lease) {
      const reply = (await run(holderScript, [sessionKey(prefix, session)], [lease])) as
        | [string, number, number]
        | null;
      return reply === null
        ? undefined
        : { holder: reply[0], epoch: reply[1], remainingMs: reply[2] };
    },
  };
}
