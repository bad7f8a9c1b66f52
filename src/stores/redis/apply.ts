/**
 * Operations on a session, in one script. The session is one hash: for each document `d:` and its
 * key has the value and `v:` the version, `n:` and a log's name has the id of the newest entry,
 * `l:` a lease, and `c:` a counter. `e` is the time when the session expires. `f` is the highest
 * version of any deleted document: new documents continue from there, so that no version is used
 * twice. Deleted documents leave nothing else. Each log is a stream with these ids, without gaps.
 *
 * The script reads its fields at once, works on them, and writes only when every operation fits,
 * first to the hash. A server without memory refuses that, so nothing is left half done.
 */
import {
  type SingleOperations,
  singleOperations,
} from '../../surfaces/relay/ports/single-operations.ts';
import type { Applied, Refused, RelayStore } from '../../surfaces/relay/ports/store.ts';
import type { OpResult, StoreOp } from '../../surfaces/relay/ports/store-ops.ts';
import type { LogEntry, StoredValue } from '../../surfaces/relay/ports/stored.ts';
import { type RedisCommands, redisScript } from './commands.ts';
import { channelName, logKey, sessionKey, whole } from './keys.ts';
import { leaseLua } from './leases.ts';

/** The name of an operation in the script, and the number of its values. */
const sizes = { get: 1, set: 3, delete: 2, append: 4, read: 4, renew: 3, count: 3, publish: 3 };

const script = redisScript(`${leaseLua}
local sizes = {${Object.entries(sizes)
  .map(([name, size]) => `${name}=${size}`)
  .join(',')}}
local fields, at, ops = {'e', 'f'}, {}, {}
local function want(field)
  if at[field] then return end
  at[field] = true
  fields[#fields + 1] = field
end
local place = 1
while place <= #ARGV do
  local op, key = ARGV[place], ARGV[place + 1]
  ops[#ops + 1] = place
  if op == 'get' then want('v:' .. key); want('d:' .. key)
  elseif op == 'set' or op == 'delete' then want('v:' .. key)
  elseif op == 'append' or op == 'read' then want('n:' .. key)
  elseif op == 'renew' then want('l:' .. key)
  elseif op == 'count' then want('c:' .. key) end
  place = place + 1 + sizes[op]
end
local has, changed = {}, {}
for index, value in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
  has[fields[index]] = value
end
local function put(field, value)
  has[field] = value
  changed[field] = true
end
local function text(number) return string.format('%.0f', number) end
local results, later = {}, {}
local function refused(index, wait) return {0, index - 1, has.e and 0 or 1, wait} end
for index, place in ipairs(ops) do
  local op, key, one, two, three =
    ARGV[place], ARGV[place + 1], ARGV[place + 2], ARGV[place + 3], ARGV[place + 4]
  if not has.e and (op == 'set' or op == 'append' or op == 'renew' or op == 'count') then
    return refused(index, 0)
  end
  if op == 'get' then results[index] = {has['v:' .. key] or false, has['d:' .. key] or false}
  elseif op == 'set' then
    local version = tonumber(has['v:' .. key] or '0')
    if two ~= '' and tonumber(two) ~= version then return refused(index, 0) end
    if version == 0 then version = tonumber(has.f or '0') end
    put('v:' .. key, text(version + 1))
    put('d:' .. key, one)
    results[index] = version + 1
  elseif op == 'delete' then
    local version = tonumber(has['v:' .. key] or '0')
    if version == 0 or (one ~= '' and tonumber(one) ~= version) then results[index] = 0
    else
      put('v:' .. key, false)
      put('d:' .. key, false)
      if version > tonumber(has.f or '0') then put('f', text(version)) end
      results[index] = 1
    end
  elseif op == 'append' then
    put('n:' .. key, text(tonumber(has['n:' .. key] or '0') + 1))
    later[#later + 1] = {index, has['n:' .. key]}
  elseif op == 'read' then later[#later + 1] = {index, has['n:' .. key] or '0'}
  elseif op == 'renew' then
    local epoch, ends, holder = leaseOf(has['l:' .. key])
    if ends <= now or epoch ~= tonumber(one) then return refused(index, 0) end
    put('l:' .. key, lease(epoch, now + two, holder))
    results[index] = 1
  elseif op == 'count' then
    local used, ends = string.match(has['c:' .. key] or '0:0', '^(%d+):(%d+)$')
    used, ends = tonumber(used), tonumber(ends)
    if ends <= now then used, ends = 0, now + two end
    if used >= tonumber(one) then return refused(index, math.max(ends - now, 1)) end
    put('c:' .. key, text(used + 1) .. ':' .. text(ends))
    results[index] = 1
  else
    later[#later + 1] = {index}
    results[index] = 1
  end
end
local written, removed = {}, {}
for field in pairs(changed) do
  if has[field] then
    written[#written + 1] = field
    written[#written + 1] = has[field]
  else removed[#removed + 1] = field end
end
if #removed > 0 then redis.call('HDEL', KEYS[1], unpack(removed)) end
if #written > 0 then redis.call('HSET', KEYS[1], unpack(written)) end
for _, step in ipairs(later) do
  local index, id = step[1], step[2]
  local place = ops[index]
  local op, one, two, three = ARGV[place], ARGV[place + 2], ARGV[place + 3], ARGV[place + 4]
  if op == 'publish' then
    local message = two == '' and one or one .. ' ' .. text(results[tonumber(two)])
    redis.call('PUBLISH', ARGV[place + 1], message)
  elseif op == 'append' then
    local stream = KEYS[tonumber(three)]
    if id == '1' then redis.call('UNLINK', stream) end
    redis.call('XADD', stream, id .. '-0', 'v', one)
    redis.call('PEXPIREAT', stream, has.e)
    local dropped = {}
    local excess = redis.call('XLEN', stream) - tonumber(two)
    if excess > 0 then
      for at, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', excess)) do
        dropped[at] = entry[2][2]
      end
      redis.call('XTRIM', stream, 'MAXLEN', two)
    end
    results[index] = {tonumber(id), dropped}
  elseif id == '0' then results[index] = {0, {}, {}}
  else
    local stream, limit, entries = KEYS[tonumber(three)], tonumber(two), {}
    if limit > 0 then entries = redis.call('XRANGE', stream, one .. '-0', '+', 'COUNT', limit) end
    results[index] = {tonumber(id), redis.call('XRANGE', stream, '-', '+', 'COUNT', 1), entries}
  end
end
return {1, results}`);

type StreamEntry = readonly [id: string, fields: readonly [name: string, value: string]];
type Reply =
  | readonly [applied: 1, results: readonly unknown[]]
  | readonly [applied: 0, refused: number, gone: 0 | 1, retryAfterMs: number];

/** `apply` and the methods that are one operation of it. */
export function redisApply(commands: RedisCommands): Pick<RelayStore, 'apply'> & SingleOperations {
  const apply: RelayStore['apply'] = async <const T extends readonly StoreOp[]>(
    session: string,
    ops: T,
  ) => (await applyOps(commands, session, ops)) as Applied<T>;
  return { apply, ...singleOperations(apply) };
}

async function applyOps(
  commands: RedisCommands,
  session: string,
  ops: readonly StoreOp[],
): Promise<Applied> {
  const [first] = ops;
  // Reading documents needs no script, and a plain command costs Redis less.
  if (ops.length === 1 && first?.op === 'get')
    return { results: [await getDocuments(commands, session, first.keys)] };
  const keys = [sessionKey(commands.prefix, session)];
  const values: (string | number)[] = [];
  const { prefix } = commands;
  for (const op of ops) {
    const versionOf = op.op === 'publish' ? op.versionOf : undefined;
    const versionPlace = versionOf === undefined ? '' : placesBefore(ops, versionOf) + 1;
    addValues(values, keys, op, { prefix, session, versionPlace });
  }
  const reply = (await commands.run(script, keys, values)) as Reply;
  if (reply[0] === 0) return refusal(ops, reply);
  let place = 0;
  return {
    results: ops.map((op) => {
      const parts = reply[1].slice(place, place + placesOf(op));
      place += placesOf(op);
      return resultOf(op, parts);
    }),
  };
}

/** A `get` of several keys counts as that many operations of the script. */
function placesOf(op: StoreOp): number {
  return op.op === 'get' ? op.keys.length : 1;
}

function placesBefore(ops: readonly StoreOp[], index: number): number {
  return ops.slice(0, index).reduce((sum, op) => sum + placesOf(op), 0);
}

function refusal(
  ops: readonly StoreOp[],
  [, place, gone, retryAfterMs]: readonly [0, number, 0 | 1, number],
): Refused {
  let left = place;
  const refused = ops.findIndex((op) => {
    left -= placesOf(op);
    return left < 0;
  });
  return { refused, gone: gone === 1, retryAfterMs };
}

interface Addressed {
  readonly prefix: string;
  readonly session: string;
  /** The position, from 1, of the operation whose version a message gets; empty for none. */
  readonly versionPlace: number | '';
}

/** Adds an operation to the arguments of the script. */
function addValues(
  values: (string | number)[],
  keys: string[],
  op: StoreOp,
  { prefix, session, versionPlace }: Addressed,
): void {
  const stream = (log: string): number => {
    const key = logKey(prefix, session, log);
    const known = keys.indexOf(key);
    return known === -1 ? keys.push(key) : known + 1;
  };
  switch (op.op) {
    case 'get':
      for (const key of op.keys) values.push('get', key);
      return;
    case 'set':
      values.push('set', op.key, op.value, op.version ?? '');
      return;
    case 'delete':
      values.push('delete', op.key, op.version ?? '');
      return;
    case 'append':
      values.push('append', op.log, op.value, whole(op.keep), stream(op.log));
      return;
    case 'read':
      values.push(
        'read',
        op.log,
        whole(Math.floor(op.after) + 1, 1),
        whole(op.limit),
        stream(op.log),
      );
      return;
    case 'renew':
      values.push('renew', op.lease, op.epoch, whole(op.ttlMs));
      return;
    case 'count':
      values.push('count', op.key, whole(op.limit), whole(op.windowMs, 1));
      return;
    case 'publish':
      values.push('publish', channelName(prefix, session), op.message, versionPlace);
  }
}

function resultOf(op: StoreOp, parts: readonly unknown[]): OpResult {
  const [reply] = parts;
  switch (op.op) {
    case 'get':
      return parts.map((pair) => stored(...(pair as readonly [string | null, string | null])));
    case 'set':
      return reply as number;
    case 'delete':
      return reply === 1;
    case 'append': {
      const [id, dropped] = reply as readonly [number, readonly string[]];
      return { id, dropped };
    }
    case 'read': {
      const [last, [oldest], found] = reply as readonly [number, StreamEntry[], StreamEntry[]];
      const entries = found.map((entry): LogEntry => ({ id: entryId(entry), value: entry[1][1] }));
      return { entries, first: oldest === undefined ? 0 : entryId(oldest), last };
    }
    default:
      return true;
  }
}

async function getDocuments(
  { client, prefix, send }: RedisCommands,
  session: string,
  keys: readonly string[],
): Promise<readonly (StoredValue | undefined)[]> {
  if (keys.length === 0) return [];
  const fields = await send(() =>
    client.hmget(sessionKey(prefix, session), ...keys.flatMap((key) => [`v:${key}`, `d:${key}`])),
  );
  return keys.map((_, index) => stored(fields[2 * index], fields[2 * index + 1]));
}

function stored(
  version: string | null | undefined,
  value: string | null | undefined,
): StoredValue | undefined {
  return typeof version === 'string' && typeof value === 'string'
    ? { value, version: Number(version) }
    : undefined;
}

/** The number 12 of the id `12-0`. */
function entryId([id]: StreamEntry): number {
  return Number.parseInt(id, 10);
}
