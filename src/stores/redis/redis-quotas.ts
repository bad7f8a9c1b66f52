/**
 * The counts of quotas, in Redis. Processes that share it spend together. Each key has the times of
 * its reservations (a sorted set), and their amounts with the sum (a hash).
 */
import { randomUUID } from 'node:crypto';
import type { QuotaAnswer, QuotaSpend, QuotaStore, QuotaUse } from '../../core.ts';
import { amountsLua } from './amounts-lua.ts';
import { redisCommands, redisScript } from './commands.ts';
import { quotaAmountsKey, quotaBackKey, quotaTimesKey } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { nowLua } from './redis-clock.ts';

/** How long the sum of a session is kept after its last reservation: 30 days. */
const keepSessionMs = 30 * 86_400_000;

/** Most reservations that one run of the script removes because they have left the window. */
const maxRemoved = 300;
/** Most reservations that one run of the script reads to compute when refused amounts fit. */
const maxLooked = 300;

/**
 * Reserves all amounts or none, or, without an id, only looks. KEYS: times and amounts of each.
 * ARGV: the id of the reservation, then for each the amount, the most and the window in
 * milliseconds; the last two may be empty. Answers 1 and the buckets, 0 and for each the sum and
 * the time to wait, or 2: more has left the windows than one run removes, so it must run again.
 * Nothing else can use Redis meanwhile, so its loops have bounds that no caller can raise.
 *
 * Like the store in memory it keeps 1 024 reservations one by one, and beyond that those of a 1
 * 024th of the window as one that counts until the latest of them has left the window. Field \`t\`
 * has the sum, field \`s\` the time at which the newest reservation began.
 */
const reserveScript = redisScript(`${nowLua}
${amountsLua}
local id, isLook = ARGV[1], ARGV[1] == ''
local count = #KEYS / 2
local found, answer, fits, removals, looks = {}, {0}, true, ${maxRemoved}, ${maxLooked}

local function slide(one)
  local last = string.format('%.0f', one.moment - one.window)
  if one.at and one.at <= one.moment - one.window then
    redis.call('UNLINK', one.times, one.amounts)
    one.total, one.newest, one.at = big('0'), nil, nil
    return true
  end
  local gone = redis.call('ZRANGEBYSCORE', one.times, '-inf', last, 'LIMIT', 0, removals + 1)
  if #gone == 0 then return true end
  local isLast = #gone <= removals
  if not isLast then gone[#gone] = nil end
  if #gone == 0 then return false end
  removals = removals - #gone
  for _, amount in ipairs(redis.call('HMGET', one.amounts, unpack(gone))) do
    one.total = sub(one.total, big(amount or '0'))
  end
  redis.call('ZREM', one.times, unpack(gone))
  redis.call('HDEL', one.amounts, unpack(gone))
  redis.call('HSET', one.amounts, 't', text(one.total))
  return isLast
end

for i = 1, count do
  local times, amounts = KEYS[2 * i - 1], KEYS[2 * i]
  local one = {
    times = times, amounts = amounts, window = tonumber(ARGV[3 * i + 1]), moment = now,
    amount = big(ARGV[3 * i - 1]), max = ARGV[3 * i] ~= '' and big(ARGV[3 * i])
  }
  found[i] = one
  one.total = big(redis.call('HGET', amounts, 't') or '0')
  local newest = redis.call('ZREVRANGE', times, 0, 0, 'WITHSCORES')
  one.newest, one.at = newest[1], tonumber(newest[2])
  if one.at and one.at > now then one.moment = one.at end
  if one.window and not slide(one) then return {2} end
  one.isOver = one.max and not atMost(add(one.total, one.amount), one.max)
  if one.isOver then fits = false end
end

local function wait(one)
  if not one.isOver then return 0 end
  if not one.window or not one.at or not atMost(one.amount, one.max) then return -1 end
  local left, from = one.total, 0
  while looks > 0 do
    local size = math.min(looks, 100)
    local page = redis.call('ZRANGE', one.times, from, from + size - 1, 'WITHSCORES')
    if #page == 0 then break end
    local ids = {}
    for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
    for i, amount in ipairs(redis.call('HMGET', one.amounts, unpack(ids))) do
      left = sub(left, big(amount or '0'))
      if atMost(add(left, one.amount), one.max) then
        return math.max(1, tonumber(page[2 * i]) + one.window - now)
      end
    end
    looks = looks - #ids
    from = from + #ids
  end
  return math.max(1, one.at + one.window - now)
end

if isLook or not fits then
  for _, one in ipairs(found) do
    answer[#answer + 1] = text(one.total)
    answer[#answer + 1] = wait(one)
  end
  return answer
end
answer[1] = 1
for _, one in ipairs(found) do
  local bucket, at = one.newest, string.format('%.0f', one.moment)
  local started = tonumber(redis.call('HGET', one.amounts, 's') or '0')
  local joins = bucket and (not one.window or one.at == one.moment
    or (redis.call('ZCARD', one.times) >= 1024 and one.moment - started <= one.window / 1024))
  if not joins then
    bucket = id
    redis.call('HSET', one.amounts, 's', at)
  end
  redis.call('ZADD', one.times, at, bucket)
  local before = big(redis.call('HGET', one.amounts, bucket) or '0')
  redis.call('HSET', one.amounts, bucket, text(add(before, one.amount)),
    't', text(add(one.total, one.amount)))
  local keep = one.window and one.moment - now + one.window + 1 or ${keepSessionMs}
  redis.call('PEXPIRE', one.times, string.format('%.0f', keep))
  redis.call('PEXPIRE', one.amounts, string.format('%.0f', keep))
  answer[#answer + 1] = bucket
end
return answer`);

/**
 * How long a returned reservation is remembered. No client repeats a command after a longer time.
 */
const keepBackMs = 600_000;

/**
 * Subtracts the amounts of a reservation, once, because a client may repeat a command whose answer
 * was lost. KEYS: the mark of the reservation, and the amounts of each. ARGV: for each its bucket,
 * and the amount.
 */
const giveBackScript = redisScript(`${amountsLua}
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ${keepBackMs}) then return 0 end
for i = 1, #KEYS - 1 do
  local amounts, bucket, back = KEYS[i + 1], ARGV[2 * i - 1], big(ARGV[2 * i])
  local kept = redis.call('HGET', amounts, bucket)
  if kept then
    kept = big(kept)
    if not atMost(back, kept) then back = kept end
    local total = big(redis.call('HGET', amounts, 't') or '0')
    redis.call('HSET', amounts, bucket, text(sub(kept, back)), 't', text(sub(total, back)))
  end
end
return 1`);

/** The added amounts, until they are given back. */
class Reservation {
  readonly id: string;
  parts: readonly { readonly key: string; readonly bucket: string; readonly amount: bigint }[];

  constructor(id: string, parts: Reservation['parts']) {
    this.id = id;
    this.parts = parts;
  }
}

/**
 * A store for a registry's quotas, on Redis 6.2 or later. All registries with the same Redis and
 * prefix spend together. A reservation is one script and one round trip, and windows slide by the
 * clock of Redis. Keys are digests, so no principal or payee can be read in Redis. They expire with
 * their windows. The sum of a session expires 30 days after its last call. In a cluster, all keys
 * of a prefix are on one server, since a call reserves all of its quotas in one step.
 *
 * Operations fail like those of `redisStore`. A reservation that is answered after
 * `commandTimeoutMs` is given back. If its answer is lost, it may stay spent until it leaves the
 * window: a quota is never exceeded, but less than all of it may be spent. In a window with more
 * than 1 024 reservations, a refusal may last a 1 024th of the window too long. If it depends on
 * many reservations when refused amounts fit, the time to wait is that until the newest of them has
 * left the window.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisQuotas } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const registry = new HostToolRegistry({
 *   quotaStore: redisQuotas({ client: new Redis() }),
 *   quotas: [
 *     { id: 'refunds', tools: 'refund', sum: 'amount', max: 500, per: 'day', by: 'registry' },
 *   ],
 * });
 * ```
 */
export function redisQuotas(options: RedisOptions): QuotaStore {
  const { prefix, run } = redisCommands(redisSettings('redisQuotas', options));
  const keysOf = (spends: readonly QuotaSpend[]): string[] =>
    spends.flatMap(({ key }) => [quotaTimesKey(prefix, key), quotaAmountsKey(prefix, key)]);
  const takeOff = async (reservation: Reservation): Promise<void> => {
    const { id, parts } = reservation;
    reservation.parts = [];
    if (parts.length === 0) return;
    await run(
      giveBackScript,
      [quotaBackKey(prefix, id), ...parts.map(({ key }) => quotaAmountsKey(prefix, key))],
      parts.flatMap(({ bucket, amount }) => [bucket, String(amount)]),
    );
  };
  /** Each run removes some of what has left the windows, so this ends. */
  const whole = async (
    id: string,
    spends: readonly QuotaSpend[],
    late?: (reply: unknown) => void,
  ): Promise<Reply> => {
    const values = [id, ...spends.flatMap(argumentsOf)];
    for (;;) {
      const reply = (await run(reserveScript, keysOf(spends), values, late)) as Reply;
      if (reply[0] !== 2) return reply;
    }
  };
  return {
    async reserve(spends) {
      const id = randomUUID();
      const reply = await whole(id, spends, (late) => {
        const answer = answerOf(id, late as Reply, spends);
        // If this fails too, the amounts stay spent until they leave the window.
        if (Object.hasOwn(answer, 'reservation'))
          takeOff((answer as { reservation: Reservation }).reservation).catch(() => undefined);
      });
      return answerOf(id, reply, spends);
    },
    async giveBack(reservation) {
      if (reservation instanceof Reservation) await takeOff(reservation);
    },
    async look(spends) {
      return usesOf(await whole('', spends));
    },
  };
}

/** The answer of the script. */
type Reply = readonly [number, ...(string | number)[]];

function argumentsOf({ amount, max, windowMs }: QuotaSpend): string[] {
  return [String(amount), max === undefined ? '' : String(max), String(windowMs ?? '')];
}

function answerOf(id: string, reply: Reply, spends: readonly QuotaSpend[]): QuotaAnswer {
  const [reserved, ...buckets] = reply;
  if (reserved !== 1) return { refused: usesOf(reply) };
  return {
    reservation: new Reservation(
      id,
      spends.map(({ key, amount }, index) => ({ key, bucket: String(buckets[index]), amount })),
    ),
  };
}

function usesOf([, ...found]: Reply): QuotaUse[] {
  return Array.from({ length: found.length / 2 }, (_, index) => {
    const wait = Number(found[index * 2 + 1]);
    return {
      used: BigInt(found[index * 2] as string),
      retryAfterMs: wait < 0 ? undefined : wait,
    };
  });
}
