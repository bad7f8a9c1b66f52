/**
 * What a relay opens to sockets, which have no Response to be answered with: its own checks, then a
 * stream and a place for answers.
 */
import type { JsonObject } from '../../index.ts';
import type { EventStreams, StreamRequest } from '../events/ports.ts';
import type { RelayLogger } from '../settings.ts';

/** A socket that may open. */
export interface SocketAdmission {
  readonly stream: StreamRequest;
  readonly streams: EventStreams;
  /**
   * Does what `POST /:code/response` does with this body, which is within the bounds of one, and
   * answers what that does: status and body; never rejects. Checks again what may have changed
   * since, such as a session that has ended. Called for `stream.side` `application` alone.
   */
  respond(data: unknown): Promise<{ readonly status: number; readonly body: JsonObject }>;
}

/** A relay as the server of sockets sees it. */
export interface SocketPort {
  /**
   * The checks of `GET /api/sessions/:code/stream` (application) and `/:code/events` (agent):
   * route, Origin, token or `?ticket=`, side, expiry, `?client=`, `?after=`. Any other route is a
   * 404. A request that is refused has its Response; does not reject.
   */
  open(request: Request, info: { readonly address?: string }): Promise<Response | SocketAdmission>;
  readonly heartbeatMs: number;
  readonly logger: RelayLogger;
}
