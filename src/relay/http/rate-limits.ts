/** Limits a minute, over all nodes: counted in the store, where what was refused does not count. */
import type { Side } from '../ports/documents.ts';
import { relayError } from '../relay-error.ts';
import { hashOf } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';

const minuteMs = 60_000;
/** Tries to pair: of one address, of all whose address nobody knows, and for one code. */
const pairTries = { address: 10, unknown: 600, code: 10 };
const ticketsPerMinute = 60;

/** Each resolves when there is room, and counts. @throws RelayError 429 `rate_limit_exceeded` */
export interface RateLimits {
  /** New sessions of an address. */
  session(address: string | undefined): Promise<void>;
  /** Tries to trade a code. */
  pair(address: string | undefined, code: string): Promise<void>;
  request(code: string): Promise<void>;
  response(code: string): Promise<void>;
  /** Registrations and updates. */
  update(code: string): Promise<void>;
  ticket(code: string): Promise<void>;
  /** Readings of the metadata, by one side. */
  metadata(code: string, side: Side): Promise<void>;
  /** Polls, and readings of what became of a request, by one side. */
  read(code: string, side: Side): Promise<void>;
  /** Openings of streams and WebSockets, by one side. */
  stream(code: string, side: Side): Promise<void>;
  /** Messages of the Model Context Protocol. @param count of a batch */
  mcp(code: string, count: number): Promise<void>;
}

/** Makes the limits of a relay. */
export function createRateLimits({ store, limits }: RelaySettings): RateLimits {
  const take = async (key: string, limit: number, code: string, what: string): Promise<void> => {
    const { allowed, retryAfterMs } = await store.count(key, limit, minuteMs);
    if (allowed) return;
    const seconds = Math.min(60, Math.max(1, Math.ceil(retryAfterMs / 1_000)));
    throw relayError(
      429,
      'rate_limit_exceeded',
      `More than ${limit} ${what} a minute. Try again in ${seconds} s.`,
      {
        code,
        headers: { 'Retry-After': String(seconds) },
      },
    );
  };
  // Addresses are people's: the store need not hold them.
  const of = (address: string): string => hashOf(address).slice(0, 32);
  return {
    async session(address) {
      if (address !== undefined)
        await take(
          `sessions:${of(address)}`,
          limits.sessionsPerMinute,
          'SESSION_RATE_LIMIT',
          'new sessions from this address',
        );
    },
    async pair(address, code) {
      const limit = address === undefined ? pairTries.unknown : pairTries.address;
      await take(
        `pair:from:${address === undefined ? '' : of(address)}`,
        limit,
        'PAIR_RATE_LIMIT',
        'tries to pair',
      );
      await take(
        `pair:code:${code}`,
        pairTries.code,
        'PAIR_RATE_LIMIT',
        'tries to pair with this code',
      );
    },
    request: (code) =>
      take(
        `requests:${code}`,
        limits.requestsPerMinute,
        'REQUEST_RATE_LIMIT',
        'requests in this session',
      ),
    response: (code) =>
      take(
        `responses:${code}`,
        limits.responsesPerMinute,
        'RESPONSE_RATE_LIMIT',
        'responses in this session',
      ),
    update: (code) =>
      take(
        `updates:${code}`,
        limits.updatesPerMinute,
        'UPDATE_RATE_LIMIT',
        'registrations and updates in this session',
      ),
    ticket: (code) =>
      take(`tickets:${code}`, ticketsPerMinute, 'TICKET_RATE_LIMIT', 'tickets in this session'),
    metadata: (code, side) =>
      take(
        `metadata:${side}:${code}`,
        limits.metadataPerMinute,
        'METADATA_RATE_LIMIT',
        'readings of the metadata by this side of the session',
      ),
    read: (code, side) =>
      take(
        `reads:${side}:${code}`,
        limits.readsPerMinute,
        'READ_RATE_LIMIT',
        'polls and readings by this side of the session',
      ),
    stream: (code, side) =>
      take(
        `streams:${side}:${code}`,
        limits.streamsPerMinute,
        'STREAM_RATE_LIMIT',
        'streams opened by this side of the session',
      ),
    async mcp(code, count) {
      for (let left = count; left > 0; left--)
        await take(
          `mcp:${code}`,
          limits.mcpMessagesPerMinute,
          'MCP_RATE_LIMIT',
          'MCP messages in this session',
        );
    },
  };
}
