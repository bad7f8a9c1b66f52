/**
 * Steps on a shared space, in one script. Each document is a string: 16 digits of its version, 16
 * of its end, 5 for the length of the names of its lists, these names with spaces around them, and
 * the value. Each list is a sorted set of keys by their ends, each log a stream, each counter a
 * string.
 *
 * First every operation is checked, on what those before it will have left. Then all are carried
 * out in their order. If a server without memory refuses the first write, it gets no other one; if
 * it takes that, it takes the others as well.
 */
import { nowLua, type RedisScript, redisScript } from './commands.ts';
import { stepLua } from './step-lua.ts';
import { sumsLua } from './sums-lua.ts';

// How many values an operation has. Those of `get` are counted by its first one.
const sizes = {
  set: 6,
  touch: 4,
  delete: 4,
  list: 6,
  append: 4,
  read: 3,
  count: 3,
  add: 4,
  sum: 4,
  subtract: 3,
  publish: 3,
};

/** Characters before the names of the lists. */
export const headChars = 37;
/** How many characters of names are read with the beginning of a value. */
const namesRead = 256;
/** Most entries of a list that one write removes because they are over. */
const maxSwept = 100;

export const sharedScript: RedisScript = redisScript(`${stepLua}
${sumsLua}
local sizes = {${Object.entries(sizes)
  .map(([name, size]) => `${name}=${size}`)
  .join(',')}}
local ops, results, docs, logs, counts, touched = {}, {}, {}, {}, {}, {}
-- A document as the step has left it so far: what its key has, and whether it counts.
local function find(place)
  local doc = docs[place]
  if not doc then
    local head = redis.call('GETRANGE', KEYS[tonumber(place)], 0, ${headChars - 1})
    local last = tonumber(string.sub(head, 17, 32)) or 0
    doc = {
      version = tonumber(string.sub(head, 1, 16)) or 0, last = last,
      isLive = #head > 0 and (last == 0 or last > now), size = tonumber(string.sub(head, 33)) or 0
    }
    docs[place] = doc
  end
  return doc
end
local function lastOf(place)
  if not logs[place] then
    local newest = redis.call('XREVRANGE', KEYS[tonumber(place)], '+', '-', 'COUNT', 1)[1]
    logs[place] = newest and tonumber(string.match(newest[1], '^%d+')) or 0
  end
  return logs[place]
end
local function refused(index, wait, place)
  local found, uses, doc = false, {}, place and find(place)
  if doc and doc.isLive then
    local value = doc.value
      or string.sub(redis.call('GET', KEYS[tonumber(place)]), ${headChars + 1} + doc.size)
    found = string.format('%016.0f%016.0f00000', doc.version, doc.last) .. value
  end
  if ARGV[ops[index]] == 'add' then
    for at, start in ipairs(ops) do
      if ARGV[start] == 'add' then
        local one = sumOf(start)
        if not one then return {2} end
        uses[#uses + 1] = useOf(one)
      end
    end
  end
  return {0, now, index - 1, wait, found, uses}
end
local start = 2
while start <= #ARGV do
  ops[#ops + 1] = start
  local size = sizes[ARGV[start]]
  start = start + 1 + (size or 1 + ARGV[start + 1])
end
for index, start in ipairs(ops) do
  local op, place, one, two, three =
    ARGV[start], ARGV[start + 1], ARGV[start + 2], ARGV[start + 3], ARGV[start + 4]
  results[index] = 1
  if op == 'set' then
    local doc = find(place)
    if three ~= '' and tonumber(three) ~= (doc.isLive and doc.version or 0) then
      return refused(index, 0, place)
    end
    doc.version = nextVersion(doc.version, doc.isLive)
    doc.last = endOf(ARGV[start + 5])
    doc.isLive, doc.value = doc.last == 0 or doc.last > now, two
    results[index] = doc.version
  elseif op == 'touch' then
    local doc = find(place)
    if not doc.isLive or doc.version ~= tonumber(two) then return refused(index, 0, place) end
    doc.last = now + three
  elseif op == 'delete' then
    local doc = find(place)
    if doc.isLive and (two == '' or doc.version == tonumber(two)) then doc.isLive = false
    elseif three == '1' then return refused(index, 0, place)
    else results[index] = 0 end
  elseif op == 'append' then
    local last = lastOf(place)
    if three ~= '' and tonumber(three) ~= last then return refused(index, 0) end
    logs[place] = last + 1
    results[index] = last + 1
  elseif op == 'count' then
    local key = KEYS[tonumber(place)]
    local used = counts[place] or tonumber(redis.call('GET', key) or '0')
    if used >= tonumber(one) then
      local left = redis.call('PTTL', key)
      return refused(index, math.max(left == -2 and tonumber(two) or left, 1))
    end
    counts[place] = used + 1
  elseif op == 'add' or op == 'sum' then
    local sum = sumOf(start)
    if not sum then return {2} end
    if op == 'sum' then results[index] = useOf(sum)
    elseif sum.isOver then return refused(index, 0) end
  end
end
local function namesOf(doc, full)
  if doc.size == 0 then return '' end
  return redis.call('GETRANGE', full, ${headChars}, ${headChars - 1} + doc.size)
end
-- Moves a document from the lists that it was in to those that it is to be in.
local function listed(doc, full, key, before, names)
  if before == '' and names == '' then return end
  doc.size = #names
  local root = string.sub(full, 1, -#key - 3) .. 'l:'
  for name in string.gmatch(before, '[^ ]+') do
    if not string.find(names, ' ' .. name .. ' ', 1, true) then
      redis.call('ZREM', root .. name, key)
      touched[root .. name] = true
    end
  end
  for name in string.gmatch(names, '[^ ]+') do
    redis.call('ZADD', root .. name, doc.last == 0 and 'inf' or whole(doc.last), key)
    touched[root .. name] = true
  end
end
-- What is over leaves a list, which lives as long as the last document in it.
local function tidy(list)
  local over = redis.call('ZRANGEBYSCORE', list, '-inf', whole(now), 'LIMIT', 0, ${maxSwept})
  if #over > 0 then redis.call('ZREM', list, unpack(over)) end
  local last = redis.call('ZREVRANGE', list, 0, 0, 'WITHSCORES')[2]
  if last == 'inf' then redis.call('PERSIST', list)
  elseif last then redis.call('PEXPIREAT', list, last) end
end
local function follows(one, other)
  for at = 1, math.min(#one, #other) do
    local left, right = string.byte(one, at), string.byte(other, at)
    if left ~= right then return left > right end
  end
  return #one > #other
end
local function list(key, name, limit, bytes, after, last)
  local from = redis.call('ZCOUNT', key, '-inf', whole(now))
  if after ~= '' then
    local low = redis.call('ZCOUNT', key, '-inf', '(' .. after)
    local high = low + redis.call('ZCOUNT', key, after, after)
    while low < high do
      local middle = math.floor((low + high) / 2)
      if follows(redis.call('ZRANGE', key, middle, middle)[1], last) then high = middle
      else low = middle + 1 end
    end
    from = math.max(from, low)
  end
  local root, found = string.sub(key, 1, -#name - 3) .. 'd:', {}
  local named, most = ' ' .. name .. ' ', bytes == '' and '-1' or ${headChars + namesRead} + bytes
  while #found < 2 * limit do
    local wanted = limit - #found / 2
    local members = redis.call('ZRANGE', key, from, from + wanted - 1)
    for _, member in ipairs(members) do
      local text = redis.call('GETRANGE', root .. member, 0, most)
      local size = tonumber(string.sub(text, 33, ${headChars})) or 0
      if size > ${namesRead} and bytes ~= '' then
        text = redis.call('GETRANGE', root .. member, 0, ${headChars} + size + bytes)
      end
      local place = string.find(text, named, ${headChars + 1}, true)
      if place and place < ${headChars} + size then
        found[#found + 1] = member
        found[#found + 1] = text
        from = from + 1
      else redis.call('ZREM', key, member) end
    end
    if #members < wanted then break end
  end
  return found
end
for index, start in ipairs(ops) do
  local op, place, one, two, three =
    ARGV[start], ARGV[start + 1], ARGV[start + 2], ARGV[start + 3], ARGV[start + 4]
  local key = KEYS[tonumber(place)]
  if op == 'get' then
    local keys = {}
    for at = start + 2, start + 1 + place do keys[#keys + 1] = KEYS[tonumber(ARGV[at])] end
    results[index] = #keys > 0 and redis.call('MGET', unpack(keys)) or keys
  elseif op == 'set' then
    local doc, names = find(place), ARGV[start + 6]
    local before = namesOf(doc, key)
    doc.last = endOf(ARGV[start + 5])
    local head = string.format('%016.0f%016.0f%05d', results[index], doc.last, #names)
    if doc.last == 0 then redis.call('SET', key, head .. names .. two)
    elseif doc.last > now then
      redis.call('SET', key, head .. names .. two, 'PXAT', whole(doc.last))
    else
      redis.call('UNLINK', key)
      names = ''
    end
    listed(doc, key, one, before, names)
  elseif op == 'touch' then
    local doc = find(place)
    doc.last = now + three
    redis.call('SETRANGE', key, 16, string.format('%016.0f', doc.last))
    redis.call('PEXPIREAT', key, whole(doc.last))
    local names = namesOf(doc, key)
    listed(doc, key, one, names, names)
  elseif op == 'delete' then
    if results[index] == 1 then
      local doc = find(place)
      local before = namesOf(doc, key)
      redis.call('UNLINK', key)
      listed(doc, key, one, before, '')
    end
  elseif op == 'list' then
    results[index] = list(key, one, tonumber(two), three, ARGV[start + 5], ARGV[start + 6])
  elseif op == 'append' then results[index] = append(key, results[index], one, two)
  elseif op == 'read' then
    local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
    local last = newest and tonumber(string.match(newest[1], '^%d+')) or 0
    results[index] = read(key, last, one, two)
  elseif op == 'count' then
    if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, two) end
  elseif op == 'add' then results[index] = addTo(sumOf(start), ARGV[1])
  elseif op == 'subtract' then subtractFrom(KEYS[place + 1], one, two)
  elseif op == 'publish' then publish(place, one, two ~= '' and results[tonumber(two)]) end
end
for list in pairs(touched) do tidy(list) end
return {1, now, results}`);

/** Reads documents only, which costs Redis less. */
export const getDocumentsScript: RedisScript = redisScript(`${nowLua}
return {1, now, {redis.call('MGET', unpack(KEYS))}}`);
