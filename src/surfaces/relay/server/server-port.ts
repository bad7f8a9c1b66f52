/** The members of a relay that only `serveRelay` may use. */

import type { JsonObject } from '../../../core.ts';
import type { EventStreams, StreamEvent, StreamRequest } from '../events/ports.ts';
import type { BodyBounds } from '../http/bodies.ts';
import type { Answered } from '../http/responses.ts';
import type { RelayLogger } from '../settings.ts';

/** A relay as `serveRelay` sees it. */
export interface ServerPort {
  /** Like `fetch`, but does not convert an answer whose text is known to a Response. */
  answered(request: Request, info: { readonly address?: string }): Promise<Answered>;
  readonly sockets: SocketPort;
}

const ports = new WeakMap<object, ServerPort>();

/** Attaches the port to a relay. Only `createRelay` calls it. */
export function giveServerPort(relay: object, port: ServerPort): void {
  ports.set(relay, port);
}

/** The port of a relay that `createRelay` has made; undefined for anything else. */
export function serverPortOf(relay: object): ServerPort | undefined {
  return ports.get(relay);
}

// The part of a relay that serves WebSockets, which cannot be answered with a Response: the checks
// of a request, then a stream and a way to answer calls.

/** A frame that a client may send. */
export interface SocketFrame {
  /** Bounds of its data. */
  readonly bounds: BodyBounds;
  /**
   * Processes the data of a frame that is within these bounds. Never rejects.
   * @param reply sends an event to the client, at any time
   */
  take(data: unknown, reply: (event: StreamEvent) => void): Promise<void>;
}

/** An admitted socket. */
export interface SocketAdmission {
  readonly stream: StreamRequest;
  readonly streams: EventStreams;
  /**
   * Does what `POST /:code/response` does with this body, and returns the status and body of its
   * answer. The caller has checked the size of the body. Never rejects. Checks again what may have
   * changed, such as whether the session has ended. Only called if `stream.side` is `application`.
   */
  respond(data: unknown): Promise<{ readonly status: number; readonly body: JsonObject }>;
  /** The frames other than `response` that this client may send, by event. @default none */
  readonly frames?: ReadonlyMap<string, SocketFrame>;
}

/** A relay as the WebSocket server sees it. */
export interface SocketPort {
  /**
   * Runs the checks of `GET /api/sessions/:code/stream` (application), and of `/:code/events` and
   * `/:code/agent` (agent): route, Origin, token or `?ticket=`, side, expiry, `?client=`,
   * `?after=`. Any other route is a 404. Resolves with a Response for a refused request. Never
   * rejects.
   */
  open(request: Request, info: { readonly address?: string }): Promise<Response | SocketAdmission>;
  readonly heartbeatMs: number;
  readonly logger: RelayLogger;
}
