/**
 * Admits WebSockets to a relay with the checks of its streams, and takes answers that arrive as
 * frames.
 */

import { describe } from '../../errors.ts';
import type { JsonObject } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { findSession } from '../http/access.ts';
import type { App } from '../http/app.ts';
import { progressBody } from '../http/bodies.ts';
import { clientOf, type NodeParts } from '../http/node-parts.ts';
import { takeProgress } from '../http/progress-route.ts';
import { recentSessions } from '../http/recent-sessions.ts';
import { takeResponse } from '../http/response-route.ts';
import { errorBody, toRelayError } from '../http/responses.ts';
import { readStreamRequest } from '../http/stream-routes.ts';
import { leaving, type RelayError, relayError } from '../relay-error.ts';
import type { SocketFrame, SocketPort } from './socket-port.ts';

/** Makes the socket port of a relay. */
export function createSocketEntry(app: App, parts: NodeParts): SocketPort {
  const { settings, streams, limits, pace, counters, report } = parts;
  const { heartbeatMs, logger } = settings;
  const recent = recentSessions(settings);

  const respond = async (
    code: string,
    data: unknown,
  ): Promise<{ readonly status: number; readonly body: JsonObject }> => {
    let refusal: RelayError | undefined;
    let body: JsonObject;
    const client = `${code} application`;
    await pace.enter(client);
    const startedAt = performance.now();
    try {
      if (parts.closed.aborted)
        throw relayError(503, 'shutting_down', 'This node has shut down. Connect again.');
      body = await takeResponse(parts, await recent.find(code), readFrame(data));
    } catch (error) {
      refusal = toRelayError(error, (fault) => report('internal', fault));
      body = errorBody(refusal);
    }
    const status = refusal?.status ?? 200;
    if (status >= 400 && status < 500) pace.refused(client, performance.now() - startedAt);
    counters.answered('response', status, refusal?.error);
    return { status, body };
  };

  return {
    heartbeatMs,
    logger,
    async open(request, info) {
      let client: string | undefined;
      try {
        const { route, exchange } = await app.enter(request, info);
        client = clientOf(exchange);
        if (client !== undefined) await pace.enter(client);
        if ((route.name !== 'stream' && route.name !== 'events') || !('document' in exchange))
          throw relayError(
            404,
            'not_found',
            'Expected a socket at `stream` or `events` of a session.',
          );
        const stream = readStreamRequest(exchange);
        const { code, side } = stream;
        await limits.stream(code, side);
        const frames = side === 'application' ? applicationFrames(parts, code) : undefined;
        return {
          stream,
          streams,
          respond: (data) => respond(code, data),
          ...(frames === undefined ? {} : { frames }),
        };
      } catch (error) {
        if (client !== undefined) pace.refused(client, 0);
        return app.refuse(request, error);
      }
    },
  };
}

/** What an application sends besides answers. */
function applicationFrames(parts: NodeParts, code: string): ReadonlyMap<string, SocketFrame> {
  const { settings, counters, report } = parts;
  return new Map([
    [
      'progress',
      {
        bounds: progressBody,
        async take(data, reply) {
          let refusal: RelayError | undefined;
          try {
            if (parts.closed.aborted) throw leaving();
            const session = await findSession(settings.store, settings.now(), code);
            await takeProgress(parts, session, readFrame(data));
          } catch (error) {
            refusal = toRelayError(error, (fault) => report('internal', fault));
            const { status, message } = refusal;
            reply({
              event: 'progress-refused',
              data: { ...idIn(data), status, error: refusal.error, message },
            });
          }
          counters.answered('progress', refusal?.status ?? 200, refusal?.error);
        },
      },
    ],
  ]);
}

/** The id that a refusal names, so that the client knows what was refused. */
function idIn(data: unknown): JsonObject {
  return isJsonObject(data) && typeof data.requestId === 'string'
    ? { requestId: data.requestId.slice(0, 200) }
    : {};
}

/** Reads the data of a frame. Its size was checked when the frame arrived. */
function readFrame(data: unknown): JsonObject {
  if (!isJsonObject(data))
    throw relayError(
      400,
      'invalid_request',
      `Expected \`data\` to be a JSON object, got ${describe(data)}.`,
    );
  return data;
}
