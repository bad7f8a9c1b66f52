/**
 * The scripts that Redis runs. Each call has a record, which says who has to run it: a hash with
 *
 * - `s`: `o` is offered, `c` is claimed by a worker, `d` has its outcome
 * - `d`: when it times out, by the clock of Redis; absent if never
 * - `w`: who has claimed it, a worker and a number; `u`: until when that worker's lease lasts
 * - `n`: how many messages the worker has sent; `t`: how many the host has
 * - `r`: the run of Redis in which it was offered
 *
 * A call may be claimed once. Its record is deleted when the call has ended, so what was not claimed by
 * then never will be. All times are those of Redis, since clocks of machines differ. A Redis that was
 * restarted, or a replica that took over, may have forgotten claims: what was offered before is not
 * claimed after that.
 */

const now = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`;

/** Tells one run of Redis from another. */
const server = `local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
`;

/** Puts entries into a mailbox. One that nobody reads any more is forgotten. */
const post = `local function post(box, ttl, ...)
  redis.call('XADD', box, '*', ...)
  if redis.call('PTTL', box) < 0 then redis.call('PEXPIRE', box, ttl) end
end
`;

/** Makes sure that a mailbox is there and stays. Its numbers only rise, also if Redis has lost it. */
const keepBox = `local function keep(box, ttl, after)
  if redis.call('EXISTS', box) == 0 then redis.call('XADD', box, after, 'c', '') end
  redis.call('PEXPIRE', box, ttl)
end
`;

/** A script and how many of its arguments are keys. */
export interface FleetScript {
  readonly name: string;
  readonly keys: number;
  readonly lua: string;
}

/** Says which run of Redis has a key, and its time. */
export const serverScript: FleetScript = {
  name: 'hostToolsFleetServer',
  keys: 1,
  lua: `${now}${server}return {server, string.format('%.0f', now)}`,
};

/**
 * KEYS: record. ARGV: milliseconds left or '', ttl, the run of Redis that it is meant for, until when.
 * A client of Redis sends again what it had no answer to. So a record that is there stays as it is,
 * and where it may have been forgotten, or its ttl may be over, there is no other one.
 * Returns 1, or 0 if there is no record.
 */
export const offerScript: FleetScript = {
  name: 'hostToolsFleetOffer',
  keys: 1,
  lua: `${now}${server}if redis.call('EXISTS', KEYS[1]) == 1 then return 1 end
if ARGV[3] ~= server or now > tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], 's', 'o', 'r', server)
if ARGV[1] ~= '' then redis.call('HSET', KEYS[1], 'd', string.format('%.0f', now + ARGV[1])) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`,
};

/**
 * KEYS: record. ARGV: who claims it, milliseconds of the lease.
 * Returns 0 if the call has ended or was offered before Redis forgot things, 1 if another has claimed
 * it, 2 if its time is up; otherwise 3 and the milliseconds left, -1 for no end.
 */
export const claimScript: FleetScript = {
  name: 'hostToolsFleetClaim',
  keys: 1,
  lua: `${now}${server}local r = redis.call('HMGET', KEYS[1], 's', 'd', 'w', 'r')
if not r[1] then return {0, 0} end
if r[1] ~= 'o' and (r[1] ~= 'c' or r[3] ~= ARGV[1]) then return {1, 0} end
if r[1] == 'o' and r[4] ~= server then return {0, 0} end
local left = -1
if r[2] then
  left = tonumber(r[2]) - now
  if left <= 0 then return {2, 0} end
end
redis.call('HSET', KEYS[1], 's', 'c', 'w', ARGV[1], 'u', string.format('%.0f', now + ARGV[2]))
return {3, left}`,
};

/**
 * A worker's messages to the host.
 * KEYS: record, mailbox of the host. ARGV: claim, call, number of the first message, whether the last
 * one is the outcome, ttl of the mailbox, messages.
 * Returns 0 if the worker does not have the call any more.
 */
export const reportScript: FleetScript = {
  name: 'hostToolsFleetReport',
  keys: 2,
  lua: `${post}local r = redis.call('HMGET', KEYS[1], 's', 'w', 'n')
if r[2] ~= ARGV[1] then return 0 end
if r[1] ~= 'c' then return 1 end
local last = tonumber(r[3] or '0')
for i = 6, #ARGV do
  if ARGV[3] + i - 6 > last then
    post(KEYS[2], ARGV[5], 'c', ARGV[2], 'w', ARGV[1], 'm', ARGV[i])
  end
end
if ARGV[4] == '1' then redis.call('HSET', KEYS[1], 's', 'd') end
redis.call('HSET', KEYS[1], 'n', string.format('%.0f', math.max(last, ARGV[3] + #ARGV - 6)))
return 1`,
};

/**
 * A host's messages to the worker that runs a call.
 * KEYS: record, mailbox of the worker. ARGV: claim, call, ttl of the mailbox, number of the first
 * message, messages.
 */
export const tellScript: FleetScript = {
  name: 'hostToolsFleetTell',
  keys: 2,
  lua: `${post}local r = redis.call('HMGET', KEYS[1], 's', 'w', 't')
if r[1] ~= 'c' or r[2] ~= ARGV[1] then return 0 end
local last = tonumber(r[3] or '0')
for i = 5, #ARGV do
  if ARGV[4] + i - 5 > last then
    post(KEYS[2], ARGV[3], 'c', ARGV[2], 'w', ARGV[1], 'm', ARGV[i])
  end
end
redis.call('HSET', KEYS[1], 't', string.format('%.0f', math.max(last, ARGV[4] + #ARGV - 5)))
return 1`,
};

/**
 * Ends a call for the host. A call that was not claimed never will be.
 * KEYS: record. ARGV: root of the keys, call, whether only if it was not claimed, ttl of the mailbox,
 * what its worker is told.
 * Returns 0 if it has ended, 1 if it was not claimed, 2 if it was.
 */
export const withdrawScript: FleetScript = {
  name: 'hostToolsFleetWithdraw',
  keys: 1,
  lua: `${post}local r = redis.call('HMGET', KEYS[1], 's', 'w')
if not r[1] then return 0 end
if r[1] ~= 'o' and ARGV[3] == '1' then return 2 end
redis.call('DEL', KEYS[1])
if r[1] == 'o' then return 1 end
if r[1] == 'c' then
  local worker = string.match(r[2], '^[^.]+')
  post(ARGV[1] .. 'worker:' .. worker, ARGV[4], 'c', ARGV[2], 'w', r[2], 'm', ARGV[5])
end
return 2`,
};

/**
 * Keeps the records of a host's calls, and says how they are.
 * KEYS: mailbox of the host. ARGV: root of the keys, ttl of records, ttl of the mailbox, number for a
 * new mailbox, calls.
 * Returns for each call: 0 no record, 1 offered, 2 claimed, 3 claimed and the lease is over, 4 has its
 * outcome, 5 offered before Redis forgot things.
 */
export const watchScript: FleetScript = {
  name: 'hostToolsFleetWatch',
  keys: 1,
  lua: `${now}${server}${keepBox}keep(KEYS[1], ARGV[3], ARGV[4])
local states = {}
for i = 5, #ARGV do
  local record = ARGV[1] .. 'call:' .. ARGV[i]
  local r = redis.call('HMGET', record, 's', 'u', 'r')
  local state = 0
  if r[1] then
    redis.call('PEXPIRE', record, ARGV[2])
    if r[1] == 'o' then state = r[3] == server and 1 or 5
    elseif r[1] == 'd' then state = 4
    elseif tonumber(r[2]) < now then state = 3
    else state = 2 end
  end
  states[#states + 1] = state
end
return states`,
};

/**
 * Renews the leases of a worker's calls.
 * KEYS: mailbox of the worker. ARGV: root of the keys, ttl of the mailbox, number for a new mailbox,
 * then for each call: call, claim, milliseconds.
 * Returns for each call 1, or 0 if the worker does not have it any more.
 */
export const renewScript: FleetScript = {
  name: 'hostToolsFleetRenew',
  keys: 1,
  lua: `${now}${keepBox}keep(KEYS[1], ARGV[2], ARGV[3])
local states = {}
for i = 4, #ARGV, 3 do
  local record = ARGV[1] .. 'call:' .. ARGV[i]
  local r = redis.call('HMGET', record, 's', 'w')
  if r[1] and r[2] == ARGV[i + 1] then
    redis.call('HSET', record, 'u', string.format('%.0f', now + ARGV[i + 2]))
    states[#states + 1] = 1
  else
    states[#states + 1] = 0
  end
end
return states`,
};

/**
 * Forgets what a host or a worker has read.
 * KEYS: mailbox. ARGV: root of the keys, number of the first entry that stays, calls that have ended.
 */
export const settleScript: FleetScript = {
  name: 'hostToolsFleetSettle',
  keys: 1,
  lua: `redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])
for i = 3, #ARGV do redis.call('DEL', ARGV[1] .. 'call:' .. ARGV[i]) end
return 1`,
};

export const fleetScripts: readonly FleetScript[] = [
  serverScript,
  offerScript,
  claimScript,
  reportScript,
  tellScript,
  withdrawScript,
  watchScript,
  renewScript,
  settleScript,
];
