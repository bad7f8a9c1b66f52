/** What a handler over HTTP is given. */

import type { JsonObject, Logger, MaybePromise, ToolSession } from '../../index.ts';
import { ignoreRejection } from '../../maybe-promise.ts';
import {
  anything,
  arrayOf,
  fn,
  milliseconds,
  oneOf,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
  wrongOption,
} from '../../options.ts';
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

/** What both servers say of themselves. */
export const serverTable = {
  name: withDefault(text(1), packageName),
  version: text(1),
  instructions: text(1),
};
const texts = arrayOf(text(1), 'non-empty strings');
const handlerTable = {
  ...serverTable,
  allowedHosts: texts,
  allowedOrigins: texts,
  authenticate: fn<NonNullable<McpHandlerOptions['authenticate']>>(),
  eventStore: withMethods<McpEventStore>(['storeEvent', 'replayEventsAfter']),
  sessionStore: withMethods<McpSessionStore>(['save', 'load', 'remove']),
  maxSessions: withDefault(wholeNumber(1), 1_000),
  maxRequests: withDefault(wholeNumber(1), 4_000),
  sessionIdleMs: withDefault(milliseconds(1), 1_800_000),
  approvals: withDefault(oneOf('client', 'host'), 'client'),
  onError: fn<NonNullable<McpHandlerOptions['onError']>>(),
  logger: anything<Logger>(),
} satisfies TableOf<McpHandlerOptions>;
const where = 'createMcpHandler';

/**
 * @param registryLogger The logger of the registry, where the registry is known.
 * @throws MisuseError `invalid_option`, which names the option.
 */
export function readHandlerOptions(
  given: McpHandlerOptions | undefined,
  registryLogger?: object,
): HandlerSettings {
  const {
    approvals,
    logger = registryLogger,
    onError,
    allowedHosts,
    allowedOrigins,
    ...settings
  } = readOptions(where, given, handlerTable);
  const report = (error: unknown): void => {
    try {
      ignoreRejection(onError?.(error));
    } catch {
      // Whoever is told of faults must not make one.
    }
  };
  return {
    ...settings,
    version: settings.version ?? versionOf(settings.name),
    clientApproves: approvals === 'client',
    allowedHosts: allowedHosts?.map((host) => host.toLowerCase()),
    allowedOrigins: allowedOrigins?.map(readOrigin),
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

/** The version that a server has unless its host sets one. */
export function versionOf(name: string): string {
  return name === packageName ? packageVersion : '0.0.0';
}

function readOrigin(origin: string): string {
  const { origin: read } = URL.canParse(origin) ? new URL(origin) : { origin: 'null' };
  if (read === 'null')
    throw wrongOption(where, 'allowedOrigins', 'origins such as `https://app.example.com`', origin);
  return read;
}
