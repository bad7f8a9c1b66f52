/** The options of a handler over HTTP. */

import type { JsonObject, Logger, MaybePromise, ToolSession } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { checkedStore, storeOption } from '../../../stores/shared/use-store.ts';
import { MisuseError } from '../../../values/errors/index.ts';
import { loggedError, logTo } from '../../../values/logging.ts';
import { ignoreRejection } from '../../../values/maybe-promise.ts';
import {
  anything,
  arrayOf,
  fn,
  kind,
  milliseconds,
  object,
  oneOf,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
  wrongOption,
} from '../../../values/options/index.ts';
import { packageVersion } from '../../../values/packages/own-version.ts';
import {
  type Authorization,
  type McpAuthorization,
  readAuthorization,
} from './authorization-options.ts';
import { neededOperations, storedSessions } from './stored-sessions.ts';
import { taskOperations } from './task-records.ts';

/** The client for which a session is created. */
export interface McpCaller {
  /** The result of `authenticate`, or of the token; missing without these options. */
  readonly principal?: string;
  /**
   * What the token grants, with `authorization`. In the 2025 era each later request has its own.
   */
  readonly scopes?: readonly string[];
  /** The client that the token was issued to, if `verify` says so. */
  readonly clientId?: string;
  /**
   * The agents through which the principal acts, the first one first, if `verify` says so. The
   * session that is made gets them as its chain, unless it acts for another one already.
   */
  readonly actors?: readonly string[];
  /** What else the token says, if `verify` gives it. */
  readonly claims?: JsonObject;
  /**
   * The headers of the request: in the 2025 era of the one that opened the MCP session, in the 2026
   * era of each request.
   */
  readonly headers: Headers;
  /**
   * `legacy`: the 2025 era, which keeps sessions; `modern`: the 2026 era, in which requests are
   * independent of each other.
   */
  readonly era: 'legacy' | 'modern';
}

/**
 * A session that all clients share, or a function that makes one: for each MCP session in the 2025
 * era, for each request in the 2026 era. A session that it makes is closed with the MCP session or
 * the request.
 */
export type McpSource = ToolSession | ((caller: McpCaller) => MaybePromise<ToolSession>);

/**
 * Keeps the messages of streams, so that a client that was cut off gets what it missed. Any event
 * store for the protocol's package fits.
 */
export interface McpEventStore {
  /** Keeps a message and returns its id, which the store chooses. */
  storeEvent(streamId: string, message: never): Promise<string>;
  /** The stream of an event; undefined if the event is not known, or not any longer. */
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>;
  /** Sends, in order, what followed an event on the same stream. Returns the stream's id. */
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: never) => Promise<void> },
  ): Promise<string>;
}

/** How an MCP session of the 2025 era began, as JSON: enough to begin it again elsewhere. */
export interface McpSessionRecord {
  /** The principal that opened it. No other principal may use it. */
  readonly principal?: string;
  /** The agents of its token, of which no others may use it. A store has to keep them. */
  readonly actors?: readonly string[];
  /** How the client introduced itself: the `params` of its `initialize`. */
  readonly initialize: JsonObject;
}

/**
 * Keeps MCP sessions of the 2025 era. Processes that share a store serve each other's clients, and
 * a client can continue after its process has ended.
 */
export interface McpSessionStore {
  /**
   * Keeps a session before its client learns the id. An id is as good as a credential, so keep a
   * hash of it. If this rejects, the client gets an error that asks it to try again.
   */
  save(id: string, session: McpSessionRecord): Promise<void>;
  /** Finds a session; undefined if it is not known, or was kept for long enough. */
  load(id: string): Promise<McpSessionRecord | undefined>;
  /**
   * Removes a session that its client has ended. Not called for a session that was only idle,
   * because its client may come back.
   */
  remove(id: string): Promise<void>;
}

/** Options of {@link McpHandlerOptions.tasks}. */
export interface McpTaskOptions {
  /**
   * Milliseconds after which a call of a tool with `task` becomes a task. One of a tool with
   * `task: "required"` is a task as soon as its handler begins. 1 to 2^31-1. @default 1_000
   */
  readonly afterMs?: number | undefined;
}

/**
 * Options of `createMcpHandler`: how it knows who sends a request, by one scheme at most, and
 * everything else.
 */
export type McpHandlerOptions = McpServingOptions & (McpOwnScheme | McpResourceServer);

/** Knows who sends a request by a scheme of the host. */
export interface McpOwnScheme {
  /**
   * Returns the principal of a request, or undefined if it is unknown. Undefined, an error or no
   * answer within 30 seconds leads to 401. MCP sessions belong to the principal that opened them.
   * @default no authentication
   */
  readonly authenticate?: ((request: Request) => MaybePromise<string | undefined>) | undefined;
  /** For the other scheme. */
  readonly authorization?: undefined;
}

/** Knows who sends a request by tokens of OAuth. */
export interface McpResourceServer {
  /**
   * Makes the handler a resource server of OAuth (RFC 9728), in place of `authenticate`: a request
   * needs a valid token, and clients learn where to get one. Serves
   * `/.well-known/oauth-protected-resource`, and the same followed by the path of the resource, so
   * route both to the handler. @default no authorization
   */
  readonly authorization?: McpAuthorization | undefined;
  /** For the other scheme. */
  readonly authenticate?: undefined;
}

/** Options of a handler that do not concern who sends a request. */
export interface McpServingOptions {
  /** The server's name, as clients show it. @default "host-tools" */
  readonly name?: string | undefined;
  /** The server's version. @default that of this package if `name` is left out, else "0.0.0" */
  readonly version?: string | undefined;
  /** Tells the model how to use these tools. @default none */
  readonly instructions?: string | undefined;
  /**
   * Allowed values of `Host`: names, which allow any port, or `name:port`. @default the loopback
   * names
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Allowed values of `Origin`, such as `https://app.example.com`. They get CORS headers too. A
   * request without an `Origin` does not come from a web page and passes. @default the loopback
   * origins, without CORS
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Keeps MCP sessions of the 2025 era, for 24 hours after their last use, and the messages of
   * their streams, for 5 minutes. Handlers with the same store serve each other's clients, and
   * continue each other's streams. It is neither migrated nor closed. @default none
   */
  readonly store?: Store | undefined;
  /**
   * How calls of the 2026 era become tasks (`io.modelcontextprotocol/tasks`), which clients that
   * know tasks look after with later requests. They are kept in `store`, without it in memory.
   * `false`: none does, and tools with `task: "required"` are not listed. @default {}
   */
  readonly tasks?: McpTaskOptions | false | undefined;
  /**
   * Keeps the messages of streams instead of `store`. @default `store`; without it in memory, for
   * 5 minutes, with 1 000 messages and 4 MB for each MCP session and 64 MB in all
   */
  readonly eventStore?: McpEventStore | undefined;
  /**
   * Keeps MCP sessions of the 2025 era for other processes and for later, instead of `store`.
   * @default `store`; without it none: a client that reaches another process gets 404 and starts a
   * new session
   */
  readonly sessionStore?: McpSessionStore | undefined;
  /**
   * Most requests without an answer, of both eras together. Further requests are refused: with 503
   * in the 2026 era, with the error -32000 in the 2025 era. With `authenticate`, one principal may
   * use a quarter of them. A whole number from 1. @default 4_000
   */
  readonly maxRequests?: number | undefined;
  /**
   * Most MCP sessions of the 2025 era at once. When another one opens, the session that was idle
   * for the longest time is closed. If there is none to close, the answer is 503. With
   * `authenticate`, one principal may have a quarter of them. When it opens another one, its own
   * oldest is closed. From 1. @default 1_000
   */
  readonly maxSessions?: number | undefined;
  /**
   * Milliseconds after which an MCP session ends that has no request and no open stream. 1 to
   * 2^31-1. @default 1_800_000
   */
  readonly sessionIdleMs?: number | undefined;
  /**
   * Who answers approvals if the session has no `approver`. `client`: the client's user. `host`:
   * only the host, for clients that are not trusted to approve their own calls. A suspended call
   * then waits for `session.approvals`. @default "client"
   */
  readonly approvals?: 'client' | 'host' | undefined;
  /**
   * Called for errors that clients do not see: a source that threw, a store that failed, a request
   * that was refused. Its own errors and rejections are ignored. @default not called
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /**
   * Logs what `source`, `authenticate` and the stores throw, as `error({ err, source }, message)`.
   * @default the registry's logger if `source` is a session, else none
   */
  readonly logger?: Logger | undefined;
}

/** {@link McpHandlerOptions} with their defaults. */
export interface HandlerSettings {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly authenticate: McpOwnScheme['authenticate'];
  readonly authorization: Authorization | undefined;
  /** Whether each request has a principal. */
  readonly hasPrincipals: boolean;
  /** Where streams are kept if there is no `eventStore`. */
  readonly store: Store | undefined;
  /** Undefined if no call becomes a task. */
  readonly tasks: { readonly afterMs: number } | undefined;
  readonly eventStore: McpEventStore | undefined;
  readonly sessionStore: McpSessionStore | undefined;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxRequests: number;
  /** True if the client's user answers approvals. */
  readonly clientApproves: boolean;
  /** Reports an error to the host. */
  report(error: unknown): void;
  /**
   * Logs what the host's own code threw. @param source the option that the code belongs to
   */
  logFault(error: unknown, source: string): void;
}

/** The name of a server for which the host gives none. */
const packageName = 'host-tools';

/** How both kinds of server introduce themselves. */
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
  authenticate: fn<NonNullable<McpOwnScheme['authenticate']>>(),
  authorization: object<McpAuthorization>(),
  store: storeOption,
  tasks: kind<McpTaskOptions | false>(
    'false or { afterMs? }',
    (value) => value === false || (typeof value === 'object' && value !== null),
  ),
  eventStore: withMethods<McpEventStore>(['storeEvent', 'replayEventsAfter']),
  sessionStore: withMethods<McpSessionStore>(['save', 'load', 'remove']),
  maxSessions: withDefault(wholeNumber(1), 1_000),
  maxRequests: withDefault(wholeNumber(1), 4_000),
  sessionIdleMs: withDefault(milliseconds(1), 1_800_000),
  approvals: withDefault(oneOf('client', 'host'), 'client'),
  onError: fn<NonNullable<McpHandlerOptions['onError']>>(),
  logger: anything<Logger>(),
} satisfies TableOf<McpHandlerOptions>;
const taskTable = {
  afterMs: withDefault(milliseconds(1), 1_000),
} satisfies TableOf<McpTaskOptions>;
const where = 'createMcpHandler';

/**
 * @param registryLogger the logger of the registry, if the registry is known
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
    store,
    tasks = {},
    authorization,
    ...settings
  } = readOptions(where, given, handlerTable);
  const report = (error: unknown): void => {
    try {
      ignoreRejection(onError?.(error));
    } catch {
      // An error of the listener must not fail the request.
    }
  };
  if (authorization !== undefined && settings.authenticate !== undefined)
    throw new MisuseError(
      'invalid_option',
      `${where}: expected one of \`authenticate\` and \`authorization\`, got both. A token is ` +
        'verified by `authorization.verify`; `authenticate` is for other schemes.',
    );
  const what = 'sessions, streams and tasks of MCP';
  const needs = [...new Set([...neededOperations, ...taskOperations])];
  return {
    ...settings,
    authorization: authorization && readAuthorization(authorization, where),
    hasPrincipals: settings.authenticate !== undefined || authorization !== undefined,
    tasks: tasks === false ? undefined : readOptions(where, tasks, taskTable, { path: 'tasks' }),
    store: store && checkedStore(where, 'store', store, { what, needs }),
    sessionStore: settings.sessionStore ?? (store && storedSessions<McpSessionRecord>(store)),
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

/** The version of a server for which the host gives none. */
export function versionOf(name: string): string {
  return name === packageName ? packageVersion : '0.0.0';
}

function readOrigin(origin: string): string {
  const { origin: read } = URL.canParse(origin) ? new URL(origin) : { origin: 'null' };
  if (read === 'null')
    throw wrongOption(where, 'allowedOrigins', 'origins such as `https://app.example.com`', origin);
  return read;
}
