/** Per-minute limits, shared by all nodes. The store counts uses, but not refused ones. */
import { waitText } from '../../../values/text/duration.ts';
import type { Use } from '../calls/usage.ts';
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
  const { session } = one;
  const space = session === undefined ? { shared: 'relay' } : { session };
  const applied = await store.apply(space, [useOf(one).op]);
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

// Slows down a client whose requests are refused again and again. One refusal costs the node
// little, but thousands per second would keep it from serving other sessions.

/** Most refusals within a second that have no consequence. */
const freeRefusals = 20;
const secondMs = 1_000;
/** A slowed client may use at most one part in this many of the node's time. */
const share = 20;
/** Milliseconds between two requests of a slowed client. */
const leastGapMs = 50;
const maxGapMs = 1_000;
/** Milliseconds that a request waits at most. */
const maxWaitMs = 10_000;

/** What a node remembers of a client that was refused. */
interface Refused {
  /** Refusals since `startedAt`. */
  count: number;
  startedAt: number;
  /** The client is slow until then. */
  slowUntil: number;
  /** When its next request may start. */
  nextAt: number;
  gapMs: number;
}

/** The pace of each client. The caller names the clients; each is a side of a session. */
export interface RefusalPace {
  /**
   * Called before a request is processed. Resolves when the request may start. Undefined if it may
   * start at once.
   */
  enter(client: string): Promise<void> | undefined;
  /** Called after each refused request. @param workMs milliseconds that the request took */
  refused(client: string, workMs: number): void;
  /** The number of clients that are remembered. */
  readonly size: number;
}

/** Options of {@link createRefusalPace}. */
export interface RefusalPaceOptions {
  /** Ends all waits. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. @default performance.now */
  readonly now?: () => number;
  /** Resolves after some milliseconds. @default a timer that also ends when the signal aborts */
  readonly wait?: (ms: number) => Promise<void>;
}

/**
 * Makes the pace of a node. A client with more than 20 refusals within a second is slowed until it
 * has not been refused for two seconds: its requests then start one after another, at least 50 ms
 * apart, and further apart if they are expensive. Clients that were not refused are not touched.
 */
export function createRefusalPace({
  signal,
  now = () => performance.now(),
  wait = timers(signal),
}: RefusalPaceOptions): RefusalPace {
  const clients = new Map<string, Refused>();
  let sweepAt = 0;
  /** Forgets clients whose second of counting has passed and that are no longer slowed. */
  const sweep = (at: number): void => {
    if (at < sweepAt) return;
    sweepAt = at + secondMs;
    for (const [client, { startedAt, slowUntil }] of clients)
      if (at >= Math.max(startedAt + secondMs, slowUntil)) clients.delete(client);
  };
  return {
    enter(client) {
      if (clients.size === 0) return undefined;
      const known = clients.get(client);
      const at = now();
      if (known === undefined || at >= known.slowUntil || signal.aborted) return undefined;
      known.nextAt = Math.min(Math.max(at, known.nextAt) + known.gapMs, at + maxWaitMs);
      return wait(known.nextAt - at);
    },
    refused(client, workMs) {
      const at = now();
      sweep(at);
      let known = clients.get(client);
      if (known === undefined) {
        known = { count: 0, startedAt: at, slowUntil: at, nextAt: at, gapMs: leastGapMs };
        clients.set(client, known);
      }
      if (at >= known.startedAt + secondMs && at >= known.slowUntil) {
        known.count = 0;
        known.startedAt = at;
      }
      known.count++;
      if (known.count <= freeRefusals) return;
      // Longer than the gap, so that the next refusal finds the client still slow.
      known.slowUntil = at + secondMs + maxGapMs;
      known.gapMs = Math.min(maxGapMs, Math.max(leastGapMs, share * workMs));
    },
    get size() {
      return clients.size;
    },
  };
}

/** Waits that all end when the signal aborts. */
function timers(signal: AbortSignal): (ms: number) => Promise<void> {
  const waiting = new Set<() => void>();
  signal.addEventListener('abort', () => {
    for (const done of waiting) done();
  });
  return (ms) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waiting.add(done);
    });
}
