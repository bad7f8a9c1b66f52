/** Per-minute limits, shared by all nodes. The store counts uses, but not refused ones. */
import { waitText } from '../../../values/text/duration.ts';
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
 * Each method counts uses.
 * @throws RelayError 429 `rate_limit_exceeded`
 */
export interface RateLimits {
  /** A new session from an address. */
  session(address: string | undefined): Promise<void>;
  /** An attempt to exchange a code for a token. */
  pair(address: string | undefined, code: string): Promise<void>;
  /** One use of a session's limit. */
  take(kind: SessionLimit, code: string): Promise<void>;
  /** One use of the limit that a side of a session has. */
  takeBySide(kind: SideLimit, code: string, side: Side): Promise<void>;
  /** Uses that are counted in the same step as the operation that they are for. */
  readonly uses: { readonly request: Use; readonly response: Use };
}

/**
 * Limits of a session: the first part of the key, the code of the refusal, the words for what is
 * counted, and the option; undefined for a fixed limit.
 */
const sessionLimits = {
  request: ['requests', 'REQUEST_RATE_LIMIT', 'requests', 'requestsPerMinute'],
  response: ['responses', 'RESPONSE_RATE_LIMIT', 'responses', 'responsesPerMinute'],
  progress: ['progress', 'PROGRESS_RATE_LIMIT', 'reports of progress', 'progressPerMinute'],
  update: ['updates', 'UPDATE_RATE_LIMIT', 'registrations and updates', 'updatesPerMinute'],
  ticket: ['tickets', 'TICKET_RATE_LIMIT', 'tickets', undefined],
  mcp: ['mcp', 'MCP_RATE_LIMIT', 'MCP messages', 'mcpMessagesPerMinute'],
} as const;
/** The same, for one side of a session. */
const sideLimits = {
  metadata: ['metadata', 'METADATA_RATE_LIMIT', 'requests for the metadata', 'metadataPerMinute'],
  read: ['reads', 'READ_RATE_LIMIT', 'polls and status requests', 'readsPerMinute'],
  stream: ['streams', 'STREAM_RATE_LIMIT', 'opened streams', 'streamsPerMinute'],
} as const;
type SessionLimit = keyof typeof sessionLimits;
type SideLimit = keyof typeof sideLimits;

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
  return {
    async session(address) {
      if (address !== undefined) await takeOne(settings, sessionLimit(limits, address));
    },
    async pair(address, code) {
      for (const limit of pairLimits(address, code)) await takeOne(settings, limit);
    },
    take: (kind, code) => takeOne(settings, ofSession(limits, kind, code)),
    takeBySide: (kind, code, side) => takeOne(settings, ofSide(limits, kind, code, side)),
    uses: {
      request: useOf(ofSession(limits, 'request', '')),
      response: useOf(ofSession(limits, 'response', '')),
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
    `More than ${limit} ${what} per minute. Try again in ${waitText(seconds * 1_000)}.`,
    { code, headers: { 'Retry-After': String(seconds) } },
  );
}

function ofSession(limits: RelayLimits, kind: SessionLimit, session: string): MinuteLimit {
  const [key, code, what, option] = sessionLimits[kind];
  const limit = option === undefined ? ticketsPerMinute : limits[option];
  return { key, session, limit, code, what: `${what} in this session` };
}

function ofSide(limits: RelayLimits, kind: SideLimit, session: string, side: Side): MinuteLimit {
  const [prefix, code, what, option] = sideLimits[kind];
  return {
    key: `${prefix}:${side}`,
    session,
    limit: limits[option],
    code,
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
