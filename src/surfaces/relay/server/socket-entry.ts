/**
 * Admits WebSockets to a relay with the checks of its streams, and connects their frames to it.
 */

import type { JsonObject } from '../../../core.ts';
import type { App } from '../http/app.ts';
import { clientNamed, clientOf, type NodeParts } from '../http/node-parts.ts';
import { recentSessions } from '../http/recent-sessions.ts';
import { takeResponse } from '../http/response-route.ts';
import { errorBody } from '../http/responses.ts';
import type { RouteName } from '../http/route-table.ts';
import { readStreamRequest } from '../http/stream-routes.ts';
import { relayError } from '../relay-error.ts';
import { agentFrames } from './agent-frames.ts';
import { applicationFrames } from './application-frames.ts';
import { objectOf, paced } from './frame-work.ts';
import type { SocketPort } from './socket-port.ts';

const socketRoutes: ReadonlySet<string> = new Set<RouteName>(['stream', 'events', 'agent']);

/** Makes the socket port of a relay. */
export function createSocketEntry(app: App, parts: NodeParts): SocketPort {
  const { settings, streams, limits, pace } = parts;
  const { heartbeatMs, logger } = settings;
  const recent = recentSessions(settings);

  const respond = async (
    code: string,
    data: unknown,
  ): Promise<{ readonly status: number; readonly body: JsonObject }> => {
    const outcome = await paced(parts, clientNamed(code, 'application'), 'response', async () => {
      if (parts.closed.aborted)
        throw relayError(503, 'shutting_down', 'This node has shut down. Connect again.');
      return takeResponse(parts, await recent.find(code), objectOf(data));
    });
    return 'done' in outcome
      ? { status: 200, body: outcome.done }
      : { status: outcome.refusal.status, body: errorBody(outcome.refusal) };
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
        if (!socketRoutes.has(route.name) || !('document' in exchange))
          throw relayError(
            404,
            'not_found',
            'Expected a socket at `stream`, `events` or `agent` of a session.',
          );
        const stream = readStreamRequest(exchange);
        const { code, side } = stream;
        await limits.takeBySide('stream', code, side);
        const frames =
          side === 'application'
            ? applicationFrames(parts, code)
            : route.name === 'agent'
              ? agentFrames(parts, code)
              : undefined;
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
