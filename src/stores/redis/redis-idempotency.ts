/**
 * The outcomes of calls with an idempotency key, in Redis. Processes that share it run a call once.
 * Each key is a hash: `i` is the digest of the input, `h` the holder, `l` the end of its lease in
 * epoch milliseconds by the clock of Redis, and `o` the outcome.
 */
import type { ClaimAnswer, IdempotencyStore } from '../../core.ts';
import { redisCommands, redisScript } from './commands.ts';
import { onceKey, whole } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { nowLua } from './redis-clock.ts';

const claimScript = redisScript(`${nowLua}
local function take()
  redis.call('HSET', KEYS[1], 'i', ARGV[1], 'h', ARGV[2], 'l', string.format('%.0f', now + ARGV[3]))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return {'claimed'}
end
local found = redis.call('HMGET', KEYS[1], 'i', 'h', 'l', 'o')
if not found[1] then return take() end
if found[1] ~= ARGV[1] then return {'conflict'} end
if found[4] then return {'done', found[4]} end
if found[2] == ARGV[2] then return take() end
local left = tonumber(found[3]) - now
if left > 0 then return {'running', left} end
if ARGV[5] == '1' then return take() end
return {'lost'}`);

/** The start of a script for a holder whose call has not ended. */
const heldLua = `
local found = redis.call('HMGET', KEYS[1], 'h', 'o')
if found[1] ~= ARGV[1] or found[2] then return 0 end`;

const renewScript = redisScript(`${heldLua}${nowLua}
redis.call('HSET', KEYS[1], 'l', string.format('%.0f', now + ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`);

const finishScript = redisScript(`${heldLua}
redis.call('HSET', KEYS[1], 'o', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`);

const releaseScript = redisScript(`${heldLua}
redis.call('DEL', KEYS[1])
return 1`);

/**
 * A store for a registry's `idempotency`, on Redis 6.2 or later. Registries with the same Redis and
 * prefix share keys, whichever process they are in. Every operation is one script and one round
 * trip, and leases use the clock of Redis. Keys are digests, so no idempotency key, principal or
 * input can be read in Redis; outcomes can. Everything expires by itself. Give that Redis
 * `maxmemory-policy noeviction`: a key that is evicted could run again.
 *
 * Operations fail like those of `redisStore`. A claim that is answered after `commandTimeoutMs` is
 * released. If its answer is lost, its key counts as lost after the lease.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisIdempotency } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({
 *   idempotency: { store: redisIdempotency({ client: new Redis() }) },
 * });
 * ```
 */
export function redisIdempotency(options: RedisOptions): IdempotencyStore {
  const { prefix, run } = redisCommands(redisSettings('redisIdempotency', options));
  const release = async (key: string, holder: string): Promise<void> => {
    await run(releaseScript, [onceKey(prefix, key)], [holder]);
  };
  return {
    async claim({ key, input, holder, leaseMs, ttlMs, takeOver }) {
      const values = [
        input,
        holder,
        whole(leaseMs, 1),
        whole(leaseMs + ttlMs, 1),
        takeOver ? '1' : '0',
      ];
      const reply = await run(claimScript, [onceKey(prefix, key)], values, (late) => {
        // If this fails too, the key counts as lost after the lease.
        if (answerOf(late).state === 'claimed') release(key, holder).catch(() => undefined);
      });
      return answerOf(reply);
    },
    async renew(key, holder, { leaseMs, ttlMs }) {
      const values = [holder, whole(leaseMs, 1), whole(leaseMs + ttlMs, 1)];
      return (await run(renewScript, [onceKey(prefix, key)], values)) === 1;
    },
    async finish(key, holder, outcome, ttlMs) {
      const values = [holder, outcome, whole(ttlMs, 1)];
      return (await run(finishScript, [onceKey(prefix, key)], values)) === 1;
    },
    release,
  };
}

function answerOf(reply: unknown): ClaimAnswer {
  const [state, more] = reply as [ClaimAnswer['state'], string | number | undefined];
  if (state === 'done') return { state, outcome: more as string };
  if (state === 'running') return { state, leaseMs: more as number };
  return { state };
}
