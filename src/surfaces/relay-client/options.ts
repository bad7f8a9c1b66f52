/** The options of `connectRelay`, and the connection that it makes. */
import type { JsonObject } from './json.ts';
import type { RelayClientError, RelayFailedTool, RelayToolWarning } from './relay-client-error.ts';
import type { RelayToolInput } from './tool.ts';

/** How events come from the relay: a WebSocket, a stream of server-sent events, or long polling. */
export type RelayTransport = 'websocket' | 'sse' | 'poll';

/**
 * The state of a connection. `connecting`: it has not been up yet. `connected`: it is up.
 * `reconnecting`: it was lost, and new attempts follow until one succeeds; calls wait at the relay
 * until their deadlines. `closed`: it has ended for good, unless it was `replaced` and
 * {@link RelayConnection.reconnect} takes the session back.
 */
export type RelayStatus = 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** The argument of `onStatus`: the state of the connection, and what has just happened. */
export interface RelayStatusEvent {
  /** The state of the connection. */
  readonly status: RelayStatus;
  /** The transport in use; only while `connected`. */
  readonly transport?: RelayTransport;
  /** What went wrong. Also set while `connected`, if the relay refuses an update or an answer. */
  readonly error?: RelayClientError;
  /** Milliseconds until the next attempt. */
  readonly retryInMs?: number;
  /** After a registration: the tools that the relay refused. */
  readonly failedTools?: readonly RelayFailedTool[];
  /**
   * After a registration: what the relay does not check in the schemas of the tools that were sent.
   */
  readonly warnings?: readonly RelayToolWarning[];
  /**
   * Why the connection is `closed`: `close` (by {@link RelayConnection.close} or the signal), the
   * relay's own reason (`replaced`, `session_closed`, `session_expired`), or the error's code.
   */
  readonly reason?: string;
}

/** The part of a browser's `WebSocket` that is used. Those of Node and of `ws` fit as well. */
export interface RelayWebSocket {
  /** Sends a text frame. */
  send(data: string): void;
  /** Closes it. */
  close(code?: number, reason?: string): void;
  /** Listens for `open`, `message`, `close` and `error`. */
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: object) => void,
  ): void;
}

/** Options of `connectRelay`: the application, its tools, and how to reach the relay. */
export interface RelayClientOptions {
  /**
   * The relay's base URL, such as `https://relay.example.com` or `https://example.com/relay`,
   * optionally followed by `/api/sessions`. In a page it may be relative.
   */
  readonly url: string | URL;
  /** The session's code. */
  readonly code: string;
  /**
   * The token of the session's application side. It is sent only in a header, and never appears in
   * a URL, a message or a status.
   */
  readonly token: string;
  /**
   * The tools that agents may call. If empty, nothing is registered until
   * {@link RelayConnection.update}.
   */
  readonly tools: readonly RelayToolInput[];
  /** Called on each change of status. Errors that it throws are ignored. */
  readonly onStatus?: ((event: RelayStatusEvent) => void) | undefined;
  /**
   * Called when the session's tools have changed, with the relay's `tool-availability-update`.
   * Errors that it throws are ignored.
   */
  readonly onToolsChanged?: ((update: JsonObject) => void) | undefined;
  /**
   * Ends the attempt to connect, and later the connection, as {@link RelayConnection.close} does.
   */
  readonly signal?: AbortSignal | undefined;
  /** The kind of application. @default "custom" */
  readonly pluginType?: string | undefined;
  /** The application's version. @default "1.0.0" */
  readonly pluginVersion?: string | undefined;
  /** What the application can do, as plain JSON. Agents see it. @default [] */
  readonly capabilities?: readonly unknown[] | undefined;
  /** Where the application runs, as plain JSON. Agents see it. @default {} */
  readonly environment?: object | undefined;
  /** The application's own limits, as plain JSON. Agents see them. @default {} */
  readonly constraints?: object | undefined;
  /**
   * `auto` uses the best transport that works: a WebSocket if there is one, then server-sent
   * events, then polling. Any other value allows only that transport. @default "auto"
   */
  readonly transport?: 'auto' | RelayTransport | undefined;
  /** Sends the HTTP requests. @default the global `fetch` */
  readonly fetch?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
  /** Opens the WebSockets. @default the global `WebSocket`, if there is one */
  readonly WebSocket?: (new (url: string) => RelayWebSocket) | undefined;
  /**
   * Gives a number from 0 to below 1, which spreads the attempts of many clients.
   * @default Math.random
   */
  readonly random?: (() => number) | undefined;
}

/** Options of {@link RelayConnection.close}. */
export interface RelayCloseOptions {
  /** Also deletes the session, for both sides. @default false */
  readonly deleteSession?: boolean | undefined;
}

/**
 * A connection that reconnects by itself. It ends with `close()`, with the signal, or when the
 * relay ends it for good.
 */
export interface RelayConnection {
  /** The state of the connection now. */
  readonly status: RelayStatus;
  /** The transport in use; undefined unless `connected`. */
  readonly transport: RelayTransport | undefined;
  /** The tools that the relay refused in the last registration or update. */
  readonly failed: readonly RelayFailedTool[];
  /**
   * Replaces the list of tools. Only the difference from what the relay knows is sent, if there is
   * one. Of several updates at once the last one counts. Resolves when the relay has accepted this
   * list or a later one, and waits while the relay is away or limits updates. Rejects with a
   * {@link RelayClientError} if the relay refuses the list or the connection closes. It is safe to
   * ignore the promise: `onStatus` reports the error too.
   * @param reason shown to agents. @default "application-update"
   */
  update(tools: readonly RelayToolInput[], reason?: string): Promise<void>;
  /**
   * Connects now. While the connection is `reconnecting`, the next attempt is made at once instead
   * of after its pause. If another connection has taken over (`closed`, reason `replaced`), this
   * one takes the session back, and the other one is replaced. Call it when a person asks for it:
   * two pages that do it by themselves would replace each other for ever. Resolves when the
   * connection is up, at once if it is up already. Rejects with a {@link RelayClientError} if it is
   * closed for any other reason, or closes before it is up. It is safe to ignore the promise.
   */
  reconnect(): Promise<void>;
  /**
   * Ends the connection, aborts the signals of running handlers, and drops answers that are not
   * sent yet. The session and its tools stay, so that the application can come back. Idempotent.
   * Rejects if the session could not be deleted. Rejects with `invalid_options` for an unknown
   * option, and then nothing is closed.
   */
  close(options?: RelayCloseOptions): Promise<void>;
  /** Calls `close()`. Missing if the environment has no `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>;
}
