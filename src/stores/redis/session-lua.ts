/**
 * Steps on a session, in one script. The session is one hash: for each document `d:` and its key
 * has the value, and `v:` the version with the end if it has one; `n:` and a log's name has the id
 * of the newest entry, and `c:` a counter with the end of its window. `e` is the time when the
 * session expires, and `L` the names of the logs. Each log is a stream with these ids, without
 * gaps. A sorted set has the fields that end earlier than the session, so that they are removed.
 *
 * The script reads its fields at once, works on them, and writes only when every operation fits,
 * first to the hash. A server without memory refuses that, so nothing is left half done.
 */
import { nowLua, type RedisScript, redisScript } from './commands.ts';
import { stepLua } from './step-lua.ts';

/** Most fields that one step removes because they are over. */
const maxSwept = 20;

// ARGV: how many fields are read, how many there are, all fields, and the operations, which name
// them by their positions. The first field is `e`.
export const sessionScript: RedisScript = redisScript(`${stepLua}
local root, ends, place = KEYS[1], KEYS[2], ARGV[2] + 3
local has, changed = redis.call('HMGET', root, unpack(ARGV, 3, ARGV[1] + 2)), {}
-- Redis keeps a key through the millisecond at which it expires.
local isLeft = has[1] and tonumber(has[1]) <= now
if isLeft then has = {} end
local isOpen = has[1]
-- A version or a count, and its end: 12, or 12 1700000000000.
local function pairOf(text)
  if not text then return 0, 0 end
  local plain = tonumber(text)
  if plain then return plain, 0 end
  local number, last = string.match(text, '^(%d+) (%d+)$')
  return tonumber(number), tonumber(last)
end
local ending, results, later, logs, isDropped = {}, {}, {}, {}, false
local function put(field, number, last)
  changed[field] = true
  if last == 0 then
    has[field] = whole(number)
    return
  end
  local _, before = pairOf(has[field])
  if before == 0 then ending[#ending + 1] = whole(last); ending[#ending + 1] = ARGV[field + 2] end
  has[field] = whole(number) .. ' ' .. whole(last)
end
-- With the document as the step has left it so far.
local function refused(wait, field, value)
  local found = {}
  if isOpen and field and has[field] then
    value = tonumber(value)
    local text = has[value]
    if not text then text = redis.call('HGET', root, ARGV[value + 2]) end
    found = {has[field], text}
  end
  local isGone = not isOpen and ARGV[place] ~= 'open'
  return {0, now, #results, isGone and 1 or 0, wait, found}
end
while place <= #ARGV do
  local op, field, one, two, three =
    ARGV[place], tonumber(ARGV[place + 1]), ARGV[place + 2], ARGV[place + 3], ARGV[place + 4]
  local result, size = 1, 5
  if op == 'get' then
    result, size = {}, 2 + 2 * field
    for at = 1, 2 * field do result[at] = has[tonumber(ARGV[place + 1 + at])] or false end
  elseif op == 'publish' then
    later[#later + 1] = place
    later[#later + 1] = #results + 1
    size = 4
  elseif op == 'read' then
    later[#later + 1] = place
    later[#later + 1] = #results + 1
    result = tonumber(has[field] or '0')
  elseif op == 'open' then
    if isOpen then return refused(0) end
    has[1], changed[1] = one, true
    isOpen, size = tonumber(one) > now, 3
  elseif op == 'drop' then
    result, isDropped, size = isOpen and 1 or 0, true, 2
  elseif op == 'delete' then
    local version, last = pairOf(has[field])
    if last > 0 and last <= now then version = 0 end
    if version > 0 and (two == '' or version == tonumber(two)) then
      local value = tonumber(one)
      has[field], has[value], changed[field], changed[value] = false, false, true, true
    elseif three == '1' then return refused(0, field, one)
    else result = 0 end
  elseif not isOpen then return refused(0)
  elseif op == 'set' then
    local version, last = pairOf(has[field])
    local isLive = version > 0 and (last == 0 or last > now)
    if three ~= '' and tonumber(three) ~= (isLive and version or 0) then
      return refused(0, field, one)
    end
    result, size = nextVersion(version, isLive), 6
    put(field, result, endOf(ARGV[place + 5]))
    local value = tonumber(one)
    has[value], changed[value] = two, true
  elseif op == 'touch' then
    local version, last = pairOf(has[field])
    if version ~= tonumber(two) or version == 0 or (last > 0 and last <= now) then
      return refused(0, field, one)
    end
    put(field, version, now + three)
  elseif op == 'append' then
    local last = tonumber(has[field] or '0')
    if three ~= '' and tonumber(three) ~= last then return refused(0) end
    if last == 0 then logs[#logs + 1] = string.sub(ARGV[field + 2], 3) end
    result, size = last + 1, 6
    has[field], changed[field] = whole(result), true
    later[#later + 1] = place
    later[#later + 1] = #results + 1
  elseif op == 'count' then
    local used, last = pairOf(has[field])
    if last <= now then used, last = 0, now + two end
    if used >= tonumber(one) then return refused(math.max(last - now, 1)) end
    put(field, used + 1, last)
    size = 4
  else -- extend
    if tonumber(one) > tonumber(has[1]) then has[1], changed[1] = one, true end
    size = 3
  end
  results[#results + 1] = result
  place = place + size
end
local written, removed = {}, {}
for field in pairs(changed) do
  if has[field] then
    written[#written + 1] = ARGV[field + 2]
    written[#written + 1] = has[field]
  else removed[#removed + 1] = ARGV[field + 2] end
end
if isLeft and changed[1] then redis.call('UNLINK', root, ends) end
if #removed > 0 then redis.call('HDEL', root, unpack(removed)) end
if #written > 0 then redis.call('HSET', root, unpack(written)) end
if #ending > 0 then
  redis.call('ZADD', ends, unpack(ending))
  redis.call('PEXPIREAT', ends, has[1])
  -- A field that has a later end now is looked at again then.
  local over = redis.call('ZRANGEBYSCORE', ends, '-inf', whole(now), 'LIMIT', 0, ${maxSwept})
  for index, value in ipairs(#over > 0 and redis.call('HMGET', root, unpack(over)) or {}) do
    local field = over[index]
    local _, last = pairOf(value)
    if last > now then redis.call('ZADD', ends, whole(last), field)
    else
      redis.call('ZREM', ends, field)
      if last > 0 then
        redis.call('HDEL', root, field)
        if string.sub(field, 1, 2) == 'v:' then
          redis.call('HDEL', root, 'd:' .. string.sub(field, 3))
        end
      end
    end
  end
end
for at = 1, #later, 2 do
  local place, index = later[at], later[at + 1]
  local op, one, two, three = ARGV[place], ARGV[place + 1], ARGV[place + 2], ARGV[place + 3]
  if op == 'publish' then publish(one, two, three ~= '' and results[tonumber(three)])
  elseif op == 'append' then
    results[index] = append(KEYS[tonumber(ARGV[place + 5])], results[index], two, three, has[1])
  else results[index] = read(KEYS[tonumber(ARGV[place + 4])], results[index], two, three) end
end
if #logs > 0 or changed[1] or isDropped then
  local packed = redis.call('HGET', root, 'L')
  local all = packed and cmsgpack.unpack(packed) or {}
  for _, log in ipairs(logs) do all[#all + 1] = log end
  if #logs > 0 then redis.call('HSET', root, 'L', cmsgpack.pack(all)) end
  for _, log in ipairs(all) do
    local stream = root .. ':log:' .. log
    if isDropped then redis.call('UNLINK', stream) else redis.call('PEXPIREAT', stream, has[1]) end
  end
  if isDropped then redis.call('UNLINK', root, ends)
  else
    redis.call('PEXPIREAT', root, has[1])
    redis.call('PEXPIREAT', ends, has[1])
  end
end
return {1, now, results}`);

/** Reads documents only, which costs Redis less. */
export const getFieldsScript: RedisScript = redisScript(`${nowLua}
return {1, now, {redis.call('HMGET', KEYS[1], unpack(ARGV))}}`);
