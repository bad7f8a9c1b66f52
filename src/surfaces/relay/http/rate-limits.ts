/** Per-minute limits, shared by all nodes. The store counts uses, but not refused ones. */
import type { Use } from '../calls/use.ts';
import type { Side } from '../ports/documents.ts';
import { type RelayError, relayError, sessionNotFound } from '../relay-error.ts';
import { hashOf } from '../secrets.ts';
import type { RelayLimits, RelaySettings } from '../settings.ts';

const minuteMs = 60_000;
/** Attempts to pair: from one address, from all unknown addresses together, and for one code. */
const pairTries = { address: 10, unknown: 600, code: 10 };
const ticketsPerMinute = 60;

/**
 * Each method counts one use.
 * @throws RelayError 429 `rate_limit_exceeded`
 */
export interface RateLimits {
  /** A new session from an address. */
  session(address: string | undefined): Promise<void>;
  /** An attempt to exchange a code for a token. */
  pair(address: string | undefined, code: string): Promise<void>;
  request(code: string): Promise<void>;
  response(code: string): Promise<void>;
  /** A report of a call's progress. */
  progress(code: string): Promise<void>;
  /** A registration or an update. */
  update(code: string): Promise<void>;
  ticket(code: string): Promise<void>;
  /** A request for the metadata by one side. */
  metadata(code: string, side: Side): Promise<void>;
  /** A poll, or a request for the status of a call, by one side. */
  read(code: string, side: Side): Promise<void>;
  /** A stream or WebSocket opened by one side. */
  stream(code: string, side: Side): Promise<void>;
  /** Messages of the Model Context Protocol. @param count how many there are in the batch */
  mcp(code: string, count: number): Promise<void>;
  /** Uses that are counted together with what they are for. */
  readonly uses: { readonly request: Use; readonly response: Use };
}

/** One limit per minute: its key in the store, and the text of its refusal. */
interface MinuteLimit {
  readonly key: string;
  /** The session that the limit belongs to; absent for limits of addresses. */
  readonly session?: string;
  readonly limit: number;
  readonly code: string;
  readonly what: string;
}

/** Makes the limits of a relay. */
export function createRateLimits(settings: RelaySettings): RateLimits {
  const { limits } = settings;
  const take = (limit: MinuteLimit): Promise<void> => takeOne(settings, limit);
  return {
    async session(address) {
      if (address !== undefined) await take(sessionLimit(limits, address));
    },
    async pair(address, code) {
      for (const limit of pairLimits(address, code)) await take(limit);
    },
    request: (code) => take(ofSession('request', code, limits.requestsPerMinute)),
    response: (code) => take(ofSession('response', code, limits.responsesPerMinute)),
    progress: (code) => take(ofSession('progress', code, limits.progressPerMinute)),
    update: (code) => take(ofSession('update', code, limits.updatesPerMinute)),
    ticket: (code) => take(ofSession('ticket', code, ticketsPerMinute)),
    metadata: (code, side) => take(ofSide('metadata', code, side, limits.metadataPerMinute)),
    read: (code, side) => take(ofSide('read', code, side, limits.readsPerMinute)),
    stream: (code, side) => take(ofSide('stream', code, side, limits.streamsPerMinute)),
    async mcp(code, count) {
      const limit = ofSession('mcp', code, limits.mcpMessagesPerMinute);
      for (let left = count; left > 0; left--) await take(limit);
    },
    uses: {
      request: useOf(ofSession('request', '', limits.requestsPerMinute)),
      response: useOf(ofSession('response', '', limits.responsesPerMinute)),
    },
  };
}

async function takeOne({ store }: RelaySettings, one: MinuteLimit): Promise<void> {
  const { key, limit, session } = one;
  if (session === undefined) {
    const { allowed, retryAfterMs } = await store.count(key, limit, minuteMs);
    if (!allowed) throw refusalOf(one, retryAfterMs);
    return;
  }
  const applied = await store.apply(session, [useOf(one).op]);
  if (applied.results !== undefined) return;
  throw applied.gone ? sessionNotFound() : refusalOf(one, applied.retryAfterMs);
}

function useOf(one: MinuteLimit): Use {
  const { key, limit } = one;
  return {
    op: { op: 'count', key, limit, windowMs: minuteMs },
    refusal: (retryAfterMs) => refusalOf(one, retryAfterMs),
  };
}

function refusalOf({ limit, code, what }: MinuteLimit, retryAfterMs: number): RelayError {
  const seconds = Math.min(60, Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  return relayError(
    429,
    'rate_limit_exceeded',
    `More than ${limit} ${what} per minute. Try again in ${seconds} s.`,
    { code, headers: { 'Retry-After': String(seconds) } },
  );
}

/** Limits of a session: the first part of the key, the code, and what is counted. */
const sessionLimits = {
  request: ['requests', 'REQUEST_RATE_LIMIT', 'requests in this session'],
  response: ['responses', 'RESPONSE_RATE_LIMIT', 'responses in this session'],
  progress: ['progress', 'PROGRESS_RATE_LIMIT', 'reports of progress in this session'],
  update: ['updates', 'UPDATE_RATE_LIMIT', 'registrations and updates in this session'],
  ticket: ['tickets', 'TICKET_RATE_LIMIT', 'tickets in this session'],
  mcp: ['mcp', 'MCP_RATE_LIMIT', 'MCP messages in this session'],
} as const;

function ofSession(kind: keyof typeof sessionLimits, code: string, limit: number): MinuteLimit {
  const [prefix, error, what] = sessionLimits[kind];
  return { key: prefix, session: code, limit, code: error, what };
}

/** The same, for one side of a session. */
const sideLimits = {
  metadata: ['metadata', 'METADATA_RATE_LIMIT', 'requests for the metadata'],
  read: ['reads', 'READ_RATE_LIMIT', 'polls and status requests'],
  stream: ['streams', 'STREAM_RATE_LIMIT', 'opened streams'],
} as const;

function ofSide(
  kind: keyof typeof sideLimits,
  code: string,
  side: Side,
  limit: number,
): MinuteLimit {
  const [prefix, error, what] = sideLimits[kind];
  return {
    key: `${prefix}:${side}`,
    session: code,
    limit,
    code: error,
    what: `${what} by this side of the session`,
  };
}

function sessionLimit({ sessionsPerMinute }: RelayLimits, address: string): MinuteLimit {
  return {
    key: `sessions:${nameOf(address)}`,
    limit: sessionsPerMinute,
    code: 'SESSION_RATE_LIMIT',
    what: 'new sessions from this address',
  };
}

function pairLimits(address: string | undefined, code: string): readonly MinuteLimit[] {
  return [
    {
      key: `pair:from:${address === undefined ? '' : nameOf(address)}`,
      limit: address === undefined ? pairTries.unknown : pairTries.address,
      code: 'PAIR_RATE_LIMIT',
      what: 'attempts to pair',
    },
    {
      key: `pair:code:${code}`,
      limit: pairTries.code,
      code: 'PAIR_RATE_LIMIT',
      what: 'attempts to pair with this code',
    },
  ];
}

/** Hashes an address, so that the store holds no personal data. */
function nameOf(address: string): string {
  return hashOf(address).slice(0, 32);
}
