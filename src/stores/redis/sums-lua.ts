/**
 * Sums over windows that slide, in Lua. Each has the times of its amounts (a sorted set), and the
 * amounts with the sum (a hash).
 */
import { amountsLua } from './amounts-lua.ts';

/** How long a sum that does not slide is kept after its last amount: 30 days. */
const keptMs = 30 * 86_400_000;

/** Most amounts that one run of the script removes because they have left the window. */
const maxRemoved = 500;
/** As many removals as what they cost for each sum beside the amounts. */
const slideCost = 5;
/** Most amounts that one run of the script reads to compute when refused ones fit. */
const maxLooked = 300;

/**
 * Functions for the operations on sums. Nothing else can use Redis meanwhile, so their loops have
 * bounds that no caller can raise. `sumOf` returns nothing if more has left the windows than one
 * run removes; the script must run again then.
 *
 * A store keeps 1 024 amounts one by one, and beyond that those of a 1 024th of the window as one
 * that counts until the latest of them has left the window. Field `t` has the sum, field `s` the
 * time at which the newest amount began. The
 * caller of `addTo` names the amounts that this step adds.
 */
export const sumsLua: string = `${amountsLua}
local sums, removals, looks = {}, ${maxRemoved}, ${maxLooked}
local function slide(one)
  local last = whole(one.moment - one.window)
  if one.at and one.at <= one.moment - one.window then
    redis.call('UNLINK', one.times, one.amounts)
    one.total, one.newest, one.at, one.began = big('0'), nil, nil, 0
    return true
  end
  local most = math.max(removals - ${slideCost}, 0)
  local gone = redis.call('ZRANGEBYSCORE', one.times, '-inf', last, 'LIMIT', 0, most + 1)
  if #gone == 0 then return true end
  local isLast = #gone <= most
  if not isLast then gone[#gone] = nil end
  if #gone == 0 then return false end
  removals = most - #gone
  for _, amount in ipairs(redis.call('HMGET', one.amounts, unpack(gone))) do
    one.total = sub(one.total, big(amount or '0'))
  end
  redis.call('ZREM', one.times, unpack(gone))
  redis.call('HDEL', one.amounts, unpack(gone))
  redis.call('HSET', one.amounts, 't', text(one.total))
  return isLast
end
local function sumOf(start)
  if sums[start] then return sums[start] end
  local place, amount, max, window =
    tonumber(ARGV[start + 1]), ARGV[start + 2], ARGV[start + 3], tonumber(ARGV[start + 4])
  local one = {
    times = KEYS[place], amounts = KEYS[place + 1], window = window, moment = now,
    amount = big(amount), max = max ~= '' and big(max)
  }
  local found = redis.call('HMGET', one.amounts, 't', 's')
  one.total, one.began = big(found[1] or '0'), tonumber(found[2] or '0')
  local newest = redis.call('ZREVRANGE', one.times, 0, 0, 'WITHSCORES')
  one.newest, one.at = newest[1], tonumber(newest[2])
  if one.at and one.at > now then one.moment = one.at end
  if window and one.at and not slide(one) then return nil end
  one.isOver = one.max and not atMost(add(one.total, one.amount), one.max)
  sums[start] = one
  return one
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
local function useOf(one) return {text(one.total), wait(one)} end
local function addTo(one, id)
  local bucket, at = one.newest, whole(one.moment)
  local joins = bucket and (not one.window or one.at == one.moment
    or (one.moment - one.began <= one.window / 1024
      and redis.call('ZCARD', one.times) >= 1024))
  local before = joins and redis.call('HGET', one.amounts, bucket)
  local began = joins and whole(one.began) or at
  if not joins then bucket = id end
  redis.call('ZADD', one.times, at, bucket)
  redis.call('HSET', one.amounts, bucket, text(add(big(before or '0'), one.amount)),
    't', text(add(one.total, one.amount)), 's', began)
  local keep = whole(one.window and one.moment - now + one.window + 1 or ${keptMs})
  redis.call('PEXPIRE', one.times, keep)
  redis.call('PEXPIRE', one.amounts, keep)
  return bucket
end
local function subtractFrom(amounts, amount, bucket)
  -- The names of the sum itself are no places.
  local kept = #bucket > 1 and redis.call('HGET', amounts, bucket)
  if not kept then return end
  local back = big(amount)
  kept = big(kept)
  if not atMost(back, kept) then back = kept end
  local total = big(redis.call('HGET', amounts, 't') or '0')
  redis.call('HSET', amounts, bucket, text(sub(kept, back)), 't', text(sub(total, back)))
end`;
