/** What the scripts of steps share, in Lua, and how their arguments are put together. */

import type { Store } from '../../api/store.ts';
import { nowLua } from './commands.ts';

/**
 * The start of the script of a step.
 *
 * Versions start from the clock in microseconds, so that those of a document that is written again
 * continue where the earlier ones ended, and a removed document need not leave anything.
 */
export const stepLua: string = `${nowLua}
local us = time[1] * 1000000 + time[2]
local function whole(number) return string.format('%.0f', number) end
local function nextVersion(before, isLive)
  local version = (isLive and before or math.max(before, us)) + 1
  us = math.max(us, version)
  return version
end
-- The end that a document gets: '' for none, +1000 for a time to live, else epoch milliseconds.
local function endOf(text)
  if text == '' then return 0 end
  return string.byte(text) == 43 and now + tonumber(text) or tonumber(text)
end
local function append(stream, id, value, keep, expiresAt)
  -- What a session of the same name has left, that was evicted.
  if id == 1 and expiresAt then redis.call('UNLINK', stream) end
  redis.call('XADD', stream, whole(id) .. '-0', 'v', value)
  local dropped, excess = {}, 0
  if expiresAt or keep ~= '' then
    local length = redis.call('XLEN', stream)
    if expiresAt and length == 1 then redis.call('PEXPIREAT', stream, expiresAt) end
    if keep ~= '' then excess = length - tonumber(keep) end
  end
  if excess > 0 then
    for at, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', excess)) do
      dropped[at] = entry[2][2]
    end
    redis.call('XTRIM', stream, 'MAXLEN', keep)
  end
  return {id, dropped}
end
local function read(stream, last, from, limit)
  if last == 0 then return {0, {}, {}} end
  local entries = {}
  if limit ~= '0' then entries = redis.call('XRANGE', stream, from .. '-0', '+', 'COUNT', limit) end
  return {last, redis.call('XRANGE', stream, '-', '+', 'COUNT', 1), entries}
end
local function publish(channel, message, version)
  redis.call('PUBLISH', channel, version and message .. ' ' .. whole(version) or message)
end`;

/** Names that a script gets, each once, and their positions from 1. */
export class Positions {
  readonly names: string[];
  readonly #known = new Map<string, number>();

  constructor(names: readonly string[] = []) {
    this.names = [...names];
  }

  /** A name that is not known yet is added, and those that follow it. */
  of(name: string, ...following: readonly string[]): number {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const position = this.names.push(name);
    this.names.push(...following);
    this.#known.set(name, position);
    return position;
  }
}

/** What `endOf` reads. */
export function endText({ ttlMs, expiresAt }: Pick<Store.Set, 'ttlMs' | 'expiresAt'>): string {
  return ttlMs === undefined ? `${expiresAt ?? ''}` : `+${ttlMs}`;
}

/** Most characters of a message. Every server of a cluster gets each of them. */
export const maxMessageChars = 65_536;

/**
 * What is sent on, and the position of the operation whose version is added to it. Nothing is sent
 * on of a message that is too long, so that its listeners read the store.
 */
export function sentMessage({ message, versionOf }: Store.Publish): [string, number | ''] {
  if (message.length > maxMessageChars) return ['', ''];
  return [`=${message}`, versionOf === undefined ? '' : versionOf + 1];
}

/** What a listener gets. */
export function heardMessage(sent: string): string | undefined {
  return sent === '' ? undefined : sent.slice(1);
}

/** A document as it is kept. Undefined if it is over. */
export function documentOf(
  value: string,
  version: number,
  { expiresAt, now }: { readonly expiresAt: number; readonly now: number },
): Store.Document | undefined {
  if (expiresAt === 0) return { value, version, remainingMs: undefined };
  return expiresAt > now ? { value, version, remainingMs: expiresAt - now } : undefined;
}

/** What any operation returns. */
export type StepResult = Store.Results[keyof Store.Results];

/** The reply to `append`. */
export type AppendReply = readonly [id: number, dropped: readonly string[]];
type StreamEntry = readonly [id: string, fields: readonly [name: string, value: string]];
/** The reply to `read`. */
export type ReadReply = readonly [
  last: number,
  oldest: readonly StreamEntry[],
  found: readonly StreamEntry[],
];

export function pageOf([last, [oldest], found]: ReadReply): Store.Page {
  const entries = found.map((entry): Store.Entry => ({ id: entryId(entry), value: entry[1][1] }));
  return { entries, first: oldest === undefined ? 0 : entryId(oldest), last };
}

/** The number 12 of the id `12-0`. */
function entryId([id]: StreamEntry): number {
  return Number.parseInt(id, 10);
}
