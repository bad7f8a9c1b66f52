/** What `connectRelay` is given and gives. */
import type { JsonObject } from './json.ts';
import type { RelayClientError, RelayFailedTool } from './relay-client-error.ts';
import type { RelayTool } from './tool.ts';

/** How events come from the relay: a WebSocket, a stream of server-sent events, or long polling. */
export type RelayTransport = 'websocket' | 'sse' | 'poll';

/**
 * Where a connection stands. `connecting`: until it stands for the first time. `connected`.
 * `reconnecting`: it was lost and is tried again for as long as it takes; calls wait at the relay
 * until their deadlines. `closed`: for good.
 */
export type RelayStatus = 'connecting' | 'connected' | 'reconnecting' | 'closed';

/** What `onStatus` is told: where the connection stands, and what has just happened. */
export interface RelayStatusEvent {
  /** Where the connection stands. */
  readonly status: RelayStatus;
  /** What carries the events; only while `connected`. */
  readonly transport?: RelayTransport;
  /** What went wrong; also while `connected`, when an update or an answer is not taken. */
  readonly error?: RelayClientError;
  /** Milliseconds until it is tried again. */
  readonly retryInMs?: number;
  /** After a registration: the tools that the relay did not take. */
  readonly failedTools?: readonly RelayFailedTool[];
  /**
   * Of `closed`: `close` (by {@link RelayConnection.close} or the signal), a goodbye's reason
   * (`replaced`, `session_closed`, `session_expired`), or the error's code.
   */
  readonly reason?: string;
}

/** The part of a browser's `WebSocket` that is used; those of Node and of `ws` fit as well. */
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

/** What is made known of the application, and how the relay is reached. */
export interface RelayClientOptions {
  /**
   * The relay's base URL, such as `https://relay.example.com` or `https://example.com/relay`;
   * `/api/sessions` may follow. In a page it may be relative.
   */
  readonly url: string | URL;
  /** The session's code. */
  readonly code: string;
  /**
   * The token of the session's application side. It is sent in a header only, and appears in no
   * URL, message or status.
   */
  readonly token: string;
  /**
   * What agents may call. May be empty: then nothing is registered until
   * {@link RelayConnection.update}.
   */
  readonly tools: readonly RelayTool[];
  /** Is told of each change. What it throws is dropped. */
  readonly onStatus?: ((event: RelayStatusEvent) => void) | undefined;
  /**
   * Is told when the session's tools have changed, with the relay's `tool-availability-update`.
   * What it throws is dropped.
   */
  readonly onToolsChanged?: ((update: JsonObject) => void) | undefined;
  /**
   * Ends the attempt to connect, and later the connection, as {@link RelayConnection.close} does.
   */
  readonly signal?: AbortSignal | undefined;
  /** What kind of application this is. @default "custom" */
  readonly pluginType?: string | undefined;
  /** Its version. @default "1.0.0" */
  readonly pluginVersion?: string | undefined;
  /** What it can do, as plain JSON; agents see it. @default [] */
  readonly capabilities?: readonly unknown[] | undefined;
  /** Where it runs, as plain JSON; agents see it. @default {} */
  readonly environment?: object | undefined;
  /**
   * `auto` takes the best that works: a WebSocket where there is one, then server-sent events, then
   * polling. Any other is used alone. @default "auto"
   */
  readonly transport?: 'auto' | RelayTransport | undefined;
  /** Sends the HTTP requests. @default the global `fetch` */
  readonly fetch?: ((url: string, init?: RequestInit) => Promise<Response>) | undefined;
  /** Opens the WebSockets. @default the global `WebSocket`, if there is one */
  readonly WebSocket?: (new (url: string) => RelayWebSocket) | undefined;
  /** Spreads the attempts of many clients: a number from 0 up to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** How {@link RelayConnection.close} ends. */
export interface RelayCloseOptions {
  /** Also deletes the session, for both sides. @default false */
  readonly deleteSession?: boolean | undefined;
}

/**
 * A standing connection. It mends itself; it ends by `close()`, the signal, or when the relay says
 * that there is no more to come.
 */
export interface RelayConnection {
  /** Where it stands now. */
  readonly status: RelayStatus;
  /** What carries the events now; undefined while it does not stand. */
  readonly transport: RelayTransport | undefined;
  /** The tools that the relay did not take, of the last registration or update. */
  readonly failed: readonly RelayFailedTool[];
  /**
   * Makes these all the tools there are. The relay is told the difference to what it knows, if
   * there is one. Of several updates at once the last one counts. Resolves when the relay has taken
   * this list or a later one; waits as long as the relay is away or limits updates. Rejects with a
   * {@link RelayClientError} when the relay will not take it, or when the connection closes; a
   * rejection that nobody looks at goes unnoticed, but for `onStatus`.
   * @param reason is told to agents; "application-update" without one
   */
  update(tools: readonly RelayTool[], reason?: string): Promise<void>;
  /**
   * Ends the stream, aborts the signals of running handlers, and drops answers that are not sent
   * yet. The session and its tools stay, so that the application can come back. Idempotent. Rejects
   * where the session was to be deleted and that failed, and with `invalid_options` for an unknown
   * option; then nothing is closed.
   */
  close(options?: RelayCloseOptions): Promise<void>;
  /** `close()`. Absent where the environment has no `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>;
}
