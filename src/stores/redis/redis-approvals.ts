/**
 * Suspended calls in Redis. Any process may resume a call that another one suspended, and exactly
 * one does.
 */

import type { ApprovalQuery, InboxStore, JsonObject } from '../../core.ts';
import { headBytes, rememberedMs, rowIn } from '../../parts/durable-approvals/store.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { type RedisCommands, redisCommands, redisScript } from './commands.ts';
import { allApprovalsKey, approvalKey, approvalsKey, takenKey, whole } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { nowLua } from './redis-clock.ts';

// The set of ids lives as long as the last of them.
const indexScript = redisScript(`${nowLua}
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now))
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
if newest then redis.call('PEXPIREAT', KEYS[1], newest) end
return 1`);

// Redis keeps a key through the millisecond at which it expires, and so does the list. An id that
// is no longer in it cannot be taken.
const idsScript = redisScript(`${nowLua}
return redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%.0f', now), '+inf')`);

// Some ids and their times, from a given time that has not passed.
const rowsScript = redisScript(`${nowLua}
local from = ARGV[1]
if tonumber(from) <= now then from = string.format('(%.0f', now) end
local offset, count = ARGV[2], ARGV[3]
return redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', offset, count)`);

// KEYS: the record, and the mark that it was taken. A record beside a mark does not count.
const putScript = redisScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2])
return 1`);

const openScript = redisScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
return redis.call('GET', KEYS[1])`);

// The beginning of a record, in which its head is.
const startScript = redisScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
return redis.call('GETRANGE', KEYS[1], 0, ARGV[1])`);

const takeScript = redisScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
local record = redis.call('GETDEL', KEYS[1])
if record then redis.call('SET', KEYS[2], ARGV[1], 'PXAT', ARGV[2]) end
return record`);

const settleScript = redisScript(`
redis.call('SET', KEYS[2], ARGV[1], 'PXAT', ARGV[2])
redis.call('DEL', KEYS[1])
return 1`);

const readScript = redisScript(`
return redis.call('GET', KEYS[2]) or redis.call('GET', KEYS[1])`);

/** Fewest and most ids that are checked together for a page. */
const [fewestRows, maxRows] = [50, 200];

/**
 * A store for a registry's approvals, on Redis 6.2 or later. A record is removed when it is taken,
 * and at its `expiresAt` by the clock of Redis. The mark that it was taken, and its outcome, are
 * kept for another hour. A record is as secret as its token, so protect Redis and the connection to
 * it. Operations fail like those of `redisStore`. If `put` fails, the record may still be kept
 * until it expires, but its token was not given to anyone. If the answer to a take is lost, the
 * take is not repeated: the call must be requested again, and never runs twice.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { redisApprovals } from 'host-tools/redis';
 * import { Redis } from 'ioredis';
 *
 * const store = redisApprovals({ client: new Redis() });
 * const registry = new HostToolRegistry({
 *   approvals: { secret: process.env.APPROVAL_SECRET ?? '', store },
 * });
 * ```
 */
export function redisApprovals(options: RedisOptions): InboxStore {
  const commands = redisCommands(redisSettings('redisApprovals', options));
  const { client, prefix, run, send } = commands;
  const keysOf = (id: string): string[] => [approvalKey(prefix, id), takenKey(prefix, id)];
  const open = async (id: string): Promise<JsonObject | undefined> =>
    parsed(await run(openScript, keysOf(id), []));
  const row = async (id: string): Promise<JsonObject | undefined> =>
    rowOf(await run(startScript, keysOf(id), [headBytes]), () => open(id));
  return {
    async put(record) {
      const { id, sessionId, expiresAt } = record;
      const until = whole(expiresAt, 1);
      // The writes need not be atomic: an id without its record is ignored, and a record without
      // its id was never acknowledged.
      await Promise.all([
        run(indexScript, [approvalsKey(prefix, sessionId)], [id, until]),
        ...(Object.hasOwn(record, 'used')
          ? []
          : [run(indexScript, [allApprovalsKey(prefix)], [id, until])]),
        run(putScript, keysOf(id), [JSON.stringify(record), until]),
      ]);
    },
    async take(id) {
      // Read first for the mark. The script decides which caller takes the record.
      const found = await open(id);
      if (found === undefined) return undefined;
      const { sessionId, principal, expiresAt } = found;
      if (typeof expiresAt !== 'number') return undefined;
      const mark = JSON.stringify({ id, sessionId, principal, expiresAt });
      const until = whole(expiresAt + rememberedMs, 1);
      const record = parsed(await run(takeScript, keysOf(id), [mark, until]));
      // An id that stays in the lists is ignored there, and leaves them when it expires.
      if (record !== undefined)
        for (const key of [approvalsKey(prefix, String(sessionId)), allApprovalsKey(prefix)])
          void send(() => client.zrem(key, id)).catch(() => undefined);
      return record;
    },
    async list(sessionId) {
      const index = approvalsKey(prefix, sessionId);
      const ids = (await run(idsScript, [index], [])) as string[];
      const records = await Promise.all(ids.map(open));
      // An id can be put again for another session.
      return records.filter((record): record is JsonObject => record?.sessionId === sessionId);
    },
    async settle(outcome) {
      const until = whole(outcome.expiresAt + rememberedMs, 1);
      await run(settleScript, keysOf(outcome.id), [JSON.stringify(outcome), until]);
    },
    async read(id) {
      return parsed(await run(readScript, keysOf(id), []));
    },
    page: (query) =>
      pageFrom(commands, query, async (id, fits) => {
        const found = await row(id);
        return found !== undefined && fits(found) ? open(id) : undefined;
      }),
    heads: (query) => pageFrom(commands, query, row),
  };
}

/** The row of a list, from the beginning of a record. A record without a head may be longer. */
function rowOf(
  start: unknown,
  open: () => Promise<JsonObject | undefined>,
): Promise<JsonObject | undefined> | JsonObject | undefined {
  if (typeof start !== 'string' || start === '') return undefined;
  return rowIn(start) ?? parsed(start) ?? open();
}

/**
 * Goes through the ids in the order in which they expire, until the page is full.
 * @param open Reads a record. It need not read one that does not fit.
 */
async function pageFrom(
  { prefix, run }: RedisCommands,
  { sessionId, principal, after, limit }: ApprovalQuery,
  open: (id: string, fits: (record: JsonObject) => boolean) => Promise<JsonObject | undefined>,
): Promise<JsonObject[]> {
  const fits = (record: JsonObject): boolean =>
    !Object.hasOwn(record, 'used') &&
    (sessionId === undefined || record.sessionId === sessionId) &&
    (principal === undefined || record.principal === principal);
  const index = sessionId === undefined ? allApprovalsKey(prefix) : approvalsKey(prefix, sessionId);
  const found: JsonObject[] = [];
  const rowsAtOnce = Math.min(Math.max(limit + 1, fewestRows), maxRows);
  let last = after;
  let skip = 0;
  for (;;) {
    const from = last === undefined ? 0 : whole(last.expiresAt);
    const rows = rowsOf((await run(rowsScript, [index], [from, skip, rowsAtOnce])) as string[]);
    const seen = last;
    const next = rows.filter((row) => seen === undefined || comesAfter(row, seen));
    for (const record of await Promise.all(next.map(({ id }) => open(id, fits))))
      if (record !== undefined && fits(record)) found.push(record);
    const end = rows.at(-1);
    if (found.length >= limit || end === undefined || rows.length < rowsAtOnce)
      return found.slice(0, limit);
    // Those that expire in the same millisecond are requested again, because some may have left
    // meanwhile. They are skipped only if they fill the whole request.
    skip = end.expiresAt === from ? skip + rows.length : 0;
    last = next.at(-1) ?? last ?? end;
  }
}

interface Row {
  readonly id: string;
  readonly expiresAt: number;
}

function rowsOf(reply: readonly string[]): Row[] {
  const rows: Row[] = [];
  for (let index = 0; index + 1 < reply.length; index += 2)
    rows.push({ id: reply[index] as string, expiresAt: Number(reply[index + 1]) });
  return rows;
}

/** The order of Redis: by time, then by bytes. */
function comesAfter(row: Row, other: Row): boolean {
  return (
    row.expiresAt > other.expiresAt ||
    (row.expiresAt === other.expiresAt &&
      Buffer.compare(Buffer.from(row.id), Buffer.from(other.id)) > 0)
  );
}

function parsed(text: unknown): JsonObject | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
