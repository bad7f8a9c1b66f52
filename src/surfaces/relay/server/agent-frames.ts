/**
 * The frames that an agent sends over its WebSocket: calls and cancellations. Results are sent as
 * events of the stream, like to every agent of the session.
 */
import type { ToolResult } from '../../../core.ts';
import type { JsonObject, JsonValue } from '../../../values/json/index.ts';
import type { AgentCall } from '../calls/request-submit.ts';
import type { StreamEvent } from '../events/ports.ts';
import { cancelCall, readRequest, requiredId } from '../http/agent-routes.ts';
import { callBody, smallBody } from '../http/bodies.ts';
import type { NodeParts } from '../http/node-parts.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { isRelayError, leaving, relayError } from '../relay-error.ts';
import { type FrameKind, idOf, workOfFrame } from './frame-work.ts';
import type { SocketFrame } from './socket-port.ts';

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
export function agentFrames(parts: NodeParts, code: string): ReadonlyMap<string, SocketFrame> {
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
