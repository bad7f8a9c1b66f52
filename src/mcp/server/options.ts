/** What a handler over HTTP is given. */

import { describe as describeValue } from '../../errors.ts';
import {
  type JsonObject,
  type Logger,
  type MaybePromise,
  MisuseError,
  type ToolSession,
} from '../../index.ts';
import { ignoreRejection } from '../../maybe-promise.ts';
import { readMembers } from '../../options/index.ts';
import { loggedError, logTo, packageVersion } from '../../surface-port.ts';

/** Who a session is made for. */
export interface McpCaller {
  /** What `authenticate` answered; absent without one. */
  readonly principal?: string;
  /**
   * Of the request: the one that opened an MCP session in the 2025 era, each one in the 2026 era.
   */
  readonly headers: Headers;
  /**
   * `legacy`: the 2025 era, which keeps sessions; `modern`: the 2026 era, in which each request
   * stands alone.
   */
  readonly era: 'legacy' | 'modern';
}

/**
 * A session that all clients share, or what makes one: once an MCP session in the 2025 era, once a
 * request in the 2026 era. What it makes is closed with the MCP session or the request.
 */
export type McpSource = ToolSession | ((caller: McpCaller) => MaybePromise<ToolSession>);

/**
 * Where the messages of streams are kept, so that a client that was cut off gets what it missed.
 * Any store of the protocol's package fits.
 */
export interface McpEventStore {
  /** Keeps a message and answers an id that is the store's own. */
  storeEvent(streamId: string, message: never): Promise<string>;
  /** The stream of an event; undefined where it is not known (any more). */
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>;
  /** Sends what came after an event on the same stream, in order, and answers the stream's id. */
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: never) => Promise<void> },
  ): Promise<string>;
}

/** How an MCP session of the 2025 era began: enough to begin it again elsewhere. JSON. */
export interface McpSessionRecord {
  /** Whose it is. Nobody else is let into it. */
  readonly principal?: string;
  /** What the client said of itself: the `params` of its `initialize`. */
  readonly initialize: JsonObject;
}

/**
 * Where MCP sessions of the 2025 era are written down. Several processes that share one serve each
 * other's clients, and a client outlives a process.
 */
export interface McpSessionStore {
  /**
   * Keeps a session, before its client learns the id. An id is as good as a credential: keep a hash
   * of it. Where it rejects, the client is told to try again.
   */
  save(id: string, session: McpSessionRecord): Promise<void>;
  /** Undefined for one that is not known, or was kept for long enough. */
  load(id: string): Promise<McpSessionRecord | undefined>;
  /**
   * The client has ended it. Not called for one that was merely idle: it may be asked for again.
   */
  remove(id: string): Promise<void>;
}

/** Settings of `createMcpHandler`. */
export interface McpHandlerOptions {
  /** The server's name, as clients show it. @default "host-tools" */
  readonly name?: string | undefined;
  /** The server's version. @default this package's where `name` is left out, else "0.0.0" */
  readonly version?: string | undefined;
  /** For the model: how to go about these tools. @default none */
  readonly instructions?: string | undefined;
  /**
   * Values of `Host` that are answered: names for any port, or `name:port`. @default the loopback
   * names
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Values of `Origin` that are answered, such as `https://app.example.com`; these get CORS headers
   * too. A request without one is no browser's and passes. @default the loopback origins, without
   * CORS
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Says who asks: a principal, or undefined for a stranger. A stranger, and an error, is 401. MCP
   * sessions belong to the principal that opened them. @default nobody is asked
   */
  readonly authenticate?: ((request: Request) => MaybePromise<string | undefined>) | undefined;
  /**
   * Keeps the messages of streams. @default in memory: 5 minutes, 1 000 messages and 4 MB a MCP
   * session, 64 MB in all
   */
  readonly eventStore?: McpEventStore | undefined;
  /**
   * Writes MCP sessions of the 2025 era down, for other processes and for later. @default none: a
   * client that meets another process gets 404 and begins anew
   */
  readonly sessionStore?: McpSessionStore | undefined;
  /**
   * Requests at once that have no answer yet, of both eras together. Over it a request is refused:
   * 503 in the 2026 era, the error -32000 in the 2025 era. With `authenticate` a principal has a
   * quarter at most. A whole number from 1. @default 4_000
   */
  readonly maxRequests?: number | undefined;
  /**
   * MCP sessions of the 2025 era at once. Over it the one that was idle for longest makes way, else
   * 503. With `authenticate` a principal has a quarter at most, over which its own oldest ends.
   * From 1. @default 1_000
   */
  readonly maxSessions?: number | undefined;
  /**
   * Milliseconds without a request and without an open stream after which a MCP session ends. 1 to
   * 2^31-1. @default 1_800_000
   */
  readonly sessionIdleMs?: number | undefined;
  /**
   * Who answers an approval that the session has no `approver` for: the person at the client, or
   * `host`: nobody at the client, whom the host does not trust to approve what it asks for itself.
   * A suspended call then waits for `session.approvals`. @default "client"
   */
  readonly approvals?: 'client' | 'host' | undefined;
  /**
   * Told what went wrong out of sight of clients: a source that threw, a store that failed, a
   * request that was refused. What it throws, or rejects with, is ignored. @default no one is told
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /**
   * Gets what `source`, `authenticate`, `eventStore` and `sessionStore` throw, as
   * `error({ err, source }, message)`. @default the registry's, where `source` is a session; else
   * none
   */
  readonly logger?: Logger | undefined;
}

/** The same with its defaults. */
export interface HandlerSettings {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly authenticate: McpHandlerOptions['authenticate'];
  readonly eventStore: McpEventStore | undefined;
  readonly sessionStore: McpSessionStore | undefined;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxRequests: number;
  /** The person at the client answers approvals. */
  readonly clientApproves: boolean;
  /** Tells the host of something that went wrong. */
  report(error: unknown): void;
  /**
   * Writes what the host's own code threw to its logger. @param source the option that the code
   * came by
   */
  logFault(error: unknown, source: string): void;
}

/** What a server calls itself unless its host names it. */
export const packageName = 'host-tools';

const known = (
  'name version instructions allowedHosts allowedOrigins authenticate eventStore sessionStore ' +
  'maxSessions maxRequests sessionIdleMs approvals onError logger'
).split(' ');

/**
 * @param logger of the registry, where it is known. @throws MisuseError `invalid_option`, which
 * names the option.
 */
export function readHandlerOptions(
  given: McpHandlerOptions | undefined,
  registryLogger?: object,
): HandlerSettings {
  const options = readMembers('createMcpHandler', given, known);
  const {
    name = packageName,
    version = name === packageName ? packageVersion : '0.0.0',
    instructions,
    maxRequests = 4_000,
    logger = registryLogger,
    authenticate,
    eventStore,
    sessionStore,
    maxSessions = 1_000,
    sessionIdleMs = 1_800_000,
    approvals = 'client',
    onError,
  } = options;
  for (const [key, value] of Object.entries({
    name,
    version,
    instructions: instructions ?? 'none',
  }))
    if (typeof value !== 'string' || value === '') throw fault(key, 'a non-empty string', value);
  for (const [key, value] of Object.entries({ authenticate, onError }))
    if (value !== undefined && typeof value !== 'function') throw fault(key, 'a function', value);
  if (
    eventStore !== undefined &&
    (typeof eventStore?.storeEvent !== 'function' ||
      typeof eventStore.replayEventsAfter !== 'function')
  )
    throw fault('eventStore', 'an object with `storeEvent` and `replayEventsAfter`', eventStore);
  if (
    sessionStore !== undefined &&
    ['save', 'load', 'remove'].some((name) => typeof sessionStore?.[name as 'save'] !== 'function')
  )
    throw fault('sessionStore', 'an object with `save`, `load` and `remove`', sessionStore);
  for (const [key, value] of Object.entries({ maxSessions, maxRequests }))
    if (!Number.isSafeInteger(value) || value < 1) throw fault(key, 'a whole number from 1', value);
  if (!(typeof sessionIdleMs === 'number' && sessionIdleMs >= 1 && sessionIdleMs <= 2 ** 31 - 1))
    throw fault('sessionIdleMs', 'a number of milliseconds from 1 to 2147483647', sessionIdleMs);
  if (approvals !== 'client' && approvals !== 'host')
    throw fault('approvals', '`client` or `host`', approvals);
  const report = (error: unknown): void => {
    try {
      ignoreRejection(onError?.(error));
    } catch {
      // Whoever is told of faults must not make one.
    }
  };
  return {
    name,
    version,
    instructions,
    authenticate,
    eventStore,
    sessionStore,
    maxSessions,
    maxRequests,
    sessionIdleMs,
    clientApproves: approvals === 'client',
    allowedHosts: readList('allowedHosts', options.allowedHosts)?.map((host) => host.toLowerCase()),
    allowedOrigins: readList('allowedOrigins', options.allowedOrigins)?.map(readOrigin),
    report,
    logFault(error, source) {
      logTo(
        logger,
        'error',
        { err: loggedError(error, undefined), source },
        'a function of the host failed',
      );
    },
  };
}

function readList(key: string, list: readonly string[] | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || list.some((one) => typeof one !== 'string' || one === ''))
    throw fault(key, 'an array of non-empty strings', list);
  return [...list];
}

function readOrigin(origin: string): string {
  const { origin: read } = URL.canParse(origin) ? new URL(origin) : { origin: 'null' };
  if (read === 'null')
    throw fault('allowedOrigins', 'origins such as `https://app.example.com`', origin);
  return read;
}

function fault(key: string, expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `createMcpHandler: expected \`${key}\` to be ${expected}, got ${describeValue(got)}.`,
  );
}
