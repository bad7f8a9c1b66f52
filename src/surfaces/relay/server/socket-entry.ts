/** Admits WebSockets to a relay with the checks of its streams, and connects their frames to it. */
import type { JsonObject, ToolResult } from '../../../core.ts';
import type { JsonValue } from '../../../values/json/index.ts';
import type { AgentCall } from '../calls/request-submit.ts';
import type { StreamEvent } from '../events/ports.ts';
import { recentSessions } from '../http/access.ts';
import { cancelCall, readRequest, requiredId } from '../http/agent-routes.ts';
import type { App } from '../http/app.ts';
import { callBody, progressBody, smallBody } from '../http/bodies.ts';
import { clientNamed, clientOf, type NodeParts } from '../http/node-parts.ts';
import { takeProgress, takeResponse } from '../http/response-route.ts';
import { errorBody } from '../http/responses.ts';
import type { RouteName } from '../http/route-table.ts';
import { readStreamRequest } from '../http/stream-routes.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { isRelayError, leaving, relayError } from '../relay-error.ts';
import { type FrameKind, idOf, objectOf, paced, workOfFrame } from './frame-work.ts';
import type { SocketFrame, SocketPort } from './server-port.ts';

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

/** Makes the frames of one socket of an application. */
function applicationFrames(parts: NodeParts, code: string): ReadonlyMap<string, SocketFrame> {
  const kind: FrameKind = {
    code,
    side: 'application',
    route: 'progress',
    event: 'progress-refused',
  };
  return new Map([
    [
      'progress',
      {
        bounds: progressBody,
        take: (data, reply) =>
          workOfFrame(parts, kind, data, reply, async (session, body) => {
            if (parts.closed.aborted) throw leaving();
            await takeProgress(parts, session, body);
          }),
      },
    ],
  ]);
}

// The frames that an agent sends over its WebSocket: calls and cancellations. Results are sent as
// events of the stream, like to every agent of the session.

/**
 * Most calls of one socket that have not passed their checks yet. Such a call may wait for an
 * approver, and the socket continues to read frames while it does.
 */
const maxUnchecked = 256;

/** One socket of an agent. */
interface AgentSocket {
  readonly parts: NodeParts;
  readonly code: string;
  /** Calls that are being stored, by id. A cancellation of such a call waits for it. */
  readonly storing: Map<string, Promise<unknown>>;
  /** The number of calls that have not passed their checks. */
  unchecked: number;
}

type Reply = (event: StreamEvent) => void;

/** Makes the frames of one socket of an agent. */
function agentFrames(parts: NodeParts, code: string): ReadonlyMap<string, SocketFrame> {
  const socket: AgentSocket = { parts, code, storing: new Map(), unchecked: 0 };
  return new Map<string, SocketFrame>([
    ['request', { bounds: callBody, take: (data, reply) => takeRequest(socket, data, reply) }],
    ['cancel', { bounds: smallBody, take: (data, reply) => takeCancel(socket, data, reply) }],
  ]);
}

/** Processes a call. Resolves when it is stored or refused. */
async function takeRequest(socket: AgentSocket, data: unknown, reply: Reply): Promise<void> {
  const { parts, code, storing } = socket;
  const kind: FrameKind = { code, side: 'agent', route: 'request', event: 'request-refused' };
  const work = workOfFrame(parts, kind, data, reply, (session, body) =>
    request(socket, session, body, reply),
  );
  const id = idOf(data);
  if (id === undefined) return work;
  const all = Promise.all([storing.get(id), work]);
  storing.set(id, all);
  await work;
  if (storing.get(id) === all) storing.delete(id);
}

async function request(
  socket: AgentSocket,
  session: SessionDocument,
  body: JsonObject,
  reply: Reply,
): Promise<void> {
  const { limits, draining } = socket.parts;
  if (draining.aborted) throw leaving();
  const requestId = requiredId(body, 'an id of your own, by which you know the result');
  const { tool, args } = readRequest(body);
  if (socket.unchecked >= maxUnchecked)
    throw relayError(
      429,
      'rate_limit_exceeded',
      `More than ${maxUnchecked} calls of this socket wait for their checks. Wait for some of ` +
        'them.',
      { code: 'REQUEST_RATE_LIMIT', headers: { 'Retry-After': '1' } },
    );
  socket.unchecked++;
  const giveUp = (): void => {
    socket.unchecked--;
  };
  const call = { requestId, tool, args, use: limits.uses.request };
  await submit(socket, session, call, { reply, giveUp });
}

/** Submits a call. Resolves when a new call is stored, or when a known call has been answered. */
function submit(
  { parts: { requests, counters, report } }: AgentSocket,
  session: SessionDocument,
  call: Omit<AgentCall, 'wait'>,
  { reply, giveUp }: { readonly reply: Reply; readonly giveUp: () => void },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStored = false;
    let isKnown = false;
    const onStored = (isNew: boolean): void => {
      isStored = true;
      isKnown = !isNew;
      // The result of a new call is sent as an event of the stream.
      if (isNew) resolve();
    };
    requests.submit(session, { ...call, wait: false, onStored }).then(
      (given) => {
        giveUp();
        if ('result' in given) {
          counters.called(given.result);
          // The event with the result may have been sent long ago.
          if (isKnown) reply(resultEvent(given.requestId, given.result));
        }
        resolve();
      },
      (error: unknown) => {
        giveUp();
        if (!isStored || isKnown) reject(error);
        // A relay error means that the node or the session ends, which also ends the stream.
        else if (!isRelayError(error)) report('internal', error);
      },
    );
  });
}

function resultEvent(requestId: string, result: ToolResult): StreamEvent {
  return { event: 'tool-result', data: { requestId, result: result as unknown as JsonValue } };
}

async function takeCancel(socket: AgentSocket, data: unknown, reply: Reply): Promise<void> {
  const { parts, code, storing } = socket;
  const kind: FrameKind = {
    code,
    side: 'agent',
    route: 'request-cancel',
    event: 'cancel-refused',
  };
  const id = idOf(data);
  // The call may have been sent just before, so that it is not stored yet.
  const before = id === undefined ? undefined : storing.get(id);
  await workOfFrame(parts, kind, data, reply, async (session, body) => {
    if (parts.closed.aborted) throw leaving();
    const requestId = requiredId(body, 'the id of the call to cancel');
    await before;
    await cancelCall(parts, session, requestId);
  });
}
