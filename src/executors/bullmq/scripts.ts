/**
 * The Lua scripts that Redis runs. Each call has a record, which says which worker runs it. The
 * record is a hash with these fields:
 *
 * - `s`: the state: `o` for offered, `c` for claimed by a worker, `d` for done (it has its outcome)
 * - `d`: the time when the call times out; absent if it never does
 * - `w`: the claim: the worker that has claimed the call, and a number
 * - `u`: the time when the lease of that worker ends
 * - `n`: the number of messages that the worker has sent
 * - `t`: the number of messages that the host has sent
 * - `r`: the run of Redis in which the call was offered
 *
 * A call can be claimed only once. Its record is deleted when the call has ended, so a call that
 * was not claimed by then never runs. All times are those of Redis, because the clocks of machines
 * differ. A Redis that was restarted, or a replica that took over, may have lost claims. So a call
 * that was offered before that cannot be claimed afterwards.
 */

const now = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`;

/** Reads the id of the current run of Redis, which changes when it restarts or is replaced. */
const server = `local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
`;

/** Adds an entry to a mailbox. A mailbox without a reader expires. */
const post = `local function post(box, ttl, ...)
  redis.call('XADD', box, '*', ...)
  if redis.call('PTTL', box) < 0 then redis.call('PEXPIRE', box, ttl) end
end
`;

/**
 * Makes sure that a mailbox exists, and renews it. The ids of its entries only rise, even if Redis
 * has lost the mailbox and it is created again.
 */
const keepBox = `local function keep(box, ttl, after)
  if redis.call('EXISTS', box) == 0 then redis.call('XADD', box, after, 'c', '') end
  redis.call('PEXPIRE', box, ttl)
end
`;

/** A script, and the number of its arguments that are keys. */
export interface FleetScript {
  readonly name: string;
  readonly keys: number;
  readonly lua: string;
}

/** KEYS: any key. Returns the run of the Redis that has the key, and its time. */
export const serverScript: FleetScript = {
  name: 'hostToolsFleetServer',
  keys: 1,
  lua: `${now}${server}return {server, string.format('%.0f', now)}`,
};

/**
 * Offers a call: creates its record. A client of Redis repeats a command that got no answer. So an
 * existing record is left as it is. If an earlier record may have been lost or may have expired, no
 * new one is created.
 * KEYS: record.
 * ARGV: milliseconds until the call times out or '', ttl of the record, the run of Redis that the
 * command is meant for, the time until which it may create the record.
 * Returns 1 if there is a record, otherwise 0.
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
 * Claims a call for a worker.
 * KEYS: record. ARGV: claim, milliseconds of the lease.
 * Returns 0 if the call has ended or was offered in another run of Redis, 1 if another worker has
 * claimed it, 2 if it has timed out. Otherwise 3 and the milliseconds until it times out, or -1 if
 * it never does.
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
 * Sends a worker's messages to the host. Messages that were already sent are skipped.
 * KEYS: record, mailbox of the host.
 * ARGV: claim, call, number of the first message, '1' if the last message is the outcome, ttl of
 * the mailbox, messages.
 * Returns 0 if the worker no longer has the call, otherwise 1.
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
 * Sends a host's messages to the worker that runs a call. Messages that were already sent are
 * skipped.
 * KEYS: record, mailbox of the worker.
 * ARGV: claim, call, ttl of the mailbox, number of the first message, messages.
 * Returns 0 if the worker no longer has the call, otherwise 1.
 */
export const notifyScript: FleetScript = {
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
 * Ends a call for the host, and sends a last message to its worker. A call that no worker has
 * claimed can never be claimed after this.
 * KEYS: record.
 * ARGV: root of the keys, call, '1' to end it only if it was not claimed, ttl of the mailbox, the
 * message to its worker.
 * Returns 0 if the call had already ended, 1 if it was not claimed, 2 if it was.
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
 * Renews the mailbox of a host and the records of its calls, and returns the states of the calls.
 * KEYS: mailbox of the host.
 * ARGV: root of the keys, ttl of records, ttl of the mailbox, first id of a new mailbox, calls.
 * Returns for each call: 0 no record, 1 offered, 2 claimed, 3 claimed and the lease has expired,
 * 4 has its outcome, 5 offered in another run of Redis.
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
 * Renews the mailbox of a worker and the leases of its calls.
 * KEYS: mailbox of the worker.
 * ARGV: root of the keys, ttl of the mailbox, first id of a new mailbox, then for each call: call,
 * claim, milliseconds of the lease.
 * Returns for each call 1, or 0 if the worker no longer has it.
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
 * Deletes the entries of a mailbox that were read, and the records of calls that have ended.
 * KEYS: mailbox. ARGV: root of the keys, id of the first entry that stays, calls that have ended.
 */
export const settleScript: FleetScript = {
  name: 'hostToolsFleetSettle',
  keys: 1,
  lua: `redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])
for i = 3, #ARGV do redis.call('DEL', ARGV[1] .. 'call:' .. ARGV[i]) end
return 1`,
};

/** All scripts, to be defined on a client. */
export const fleetScripts: readonly FleetScript[] = [
  serverScript,
  offerScript,
  claimScript,
  reportScript,
  notifyScript,
  withdrawScript,
  watchScript,
  renewScript,
  settleScript,
];
