/** One MCP session of the 2025 era: a server over a tool session, with its own transport. */
import { randomBytes } from 'node:crypto';
import type {
  EventStore,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { ToolSession } from '../../../core.ts';
import { bounded } from './body.ts';
import { type MemoryEvents, scopedEvents } from './events.ts';
import { createInstance, type Instance } from './instance.ts';
import type { HandlerSettings } from './options.ts';
import type { RpcId } from './rpc.ts';
import type { Sdk } from './sdk.ts';
import { markAsks, type OpenRequests, sendsWellFormed, watchAnswers } from './wire.ts';

/** A tool session, and whether it was made for this client. */
export interface Sourced {
  readonly session: ToolSession;
  readonly owned: boolean;
}

/** One MCP session. */
export interface McpSession {
  readonly id: string;
  readonly principal: string | undefined;
  /** Requests without an answer, by id. */
  readonly inFlight: OpenRequests;
  readonly use: SessionUse;
  /** The protocol version that was agreed on. */
  version(): string | undefined;
  handle(request: Request, body: unknown): Promise<Response>;
  /** Frees the place of a cancelled request that nothing else answers. */
  abandon(id: RpcId): void;
  close(): Promise<void>;
}

/** How much a session is in use. */
export interface SessionUse {
  /** The number of requests and streams that are open. */
  busy: number;
  /** By `performance.now()`. */
  idleSince: number;
}

/** What a session needs. */
export interface SessionParts {
  readonly sdk: Sdk;
  readonly settings: HandlerSettings;
  /** Undefined if the host keeps the messages of streams. */
  readonly memory: MemoryEvents | undefined;
  readonly id: string;
  readonly principal: string | undefined;
  readonly sourced: Sourced;
  readonly inFlight: OpenRequests;
  /** The session was open before, in this process or in another one. */
  readonly isResumed: boolean;
  /** The open sessions by id: this one is in it until it closes. */
  readonly open: Map<string, McpSession>;
}

interface State {
  readonly parts: SessionParts;
  readonly instance: Instance;
  readonly events: EventStore;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly use: SessionUse;
  /** The number of tool changes that the client has been told of. */
  heard: number;
  closing: Promise<void> | undefined;
}

const retryMs = 1_000;

/** Opens a session and adds it to the open ones. Rejects, with all of it closed, if it cannot. */
export async function openSession(parts: SessionParts): Promise<McpSession> {
  const { sdk, settings, id, principal, inFlight } = parts;
  const instance = instanceFor(parts, (requestId) => abandon(state, requestId));
  const events = eventsFor(parts);
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    eventStore: events,
    retryInterval: retryMs,
  });
  watchAnswers(transport, inFlight);
  const state: State = {
    parts,
    instance,
    events,
    transport,
    use: { busy: 0, idleSince: performance.now() },
    // The changes that a resumed client missed are not known here.
    heard: parts.isResumed ? -1 : 0,
    closing: undefined,
  };
  const close = (): Promise<void> => {
    state.closing ??= closeSession(state);
    return state.closing;
  };
  instance.server.onclose = () => void close().catch(settings.report);
  instance.server.onerror = settings.report;
  sendsWellFormed(instance.server);
  try {
    await instance.server.connect(transport);
    markAsks(transport);
  } catch (error) {
    await close().catch(settings.report);
    throw error;
  }
  const mcp: McpSession = {
    id,
    principal,
    inFlight,
    use: state.use,
    version: () => instance.server.getNegotiatedProtocolVersion(),
    handle: (request, body) => handle(state, request, body),
    abandon: (requestId) => abandon(state, requestId),
    close,
  };
  parts.open.set(id, mcp);
  return mcp;
}

function instanceFor(
  { sdk, settings, sourced, inFlight }: SessionParts,
  abandoned: (id: RpcId) => void,
): Instance {
  return createInstance(sdk, settings, {
    session: sourced.session,
    era: 'legacy',
    exposeErrors: 'masked',
    exclusive: sourced.owned,
    clientApproves: settings.clientApproves,
    // The id of the MCP session is as good as a credential, so events carry a different one.
    idPrefix: `mcp-${randomBytes(6).toString('hex')}-`,
    begun: (requestId) => {
      const request = inFlight.get(requestId);
      if (request !== undefined) request.begun = true;
    },
    abandoned,
  });
}

function eventsFor({ settings, memory, id }: SessionParts): EventStore {
  if (memory !== undefined) return memory.open(id);
  return scopedEvents(
    settings.eventStore as NonNullable<HandlerSettings['eventStore']>,
    id,
    (error) => {
      settings.logFault(error, 'eventStore');
      settings.report(error);
    },
  );
}

function abandon({ parts, transport }: State, requestId: RpcId): void {
  if (parts.inFlight.get(requestId)?.batched === false) transport.closeSSEStream(requestId);
  // Sent although no client reads it: the transport forgets a request only when it is answered.
  transport
    .send({
      jsonrpc: '2.0',
      id: requestId,
      error: { code: -32_800, message: 'The request was cancelled.' },
    })
    .catch(() => {});
}

async function closeSession({ parts, instance }: State): Promise<void> {
  const { id, memory, inFlight, sourced } = parts;
  parts.open.delete(id);
  inFlight.clear();
  memory?.forget(id);
  instance.dispose();
  await instance.server.close();
  if (sourced.owned) await sourced.session.close();
}

async function handle(state: State, request: Request, body: unknown): Promise<Response> {
  const { parts, instance, transport, use } = state;
  use.busy++;
  const listens = request.method === 'GET';
  const anew = listens && (await isElsewhere(state, request));
  // A stream that is resumed may belong to a call, and such a stream does not report changes.
  const hasListener = listens && (anew || request.headers.get('last-event-id') === null);
  const done = (): void => {
    use.busy--;
    use.idleSince = performance.now();
    if (hasListener) state.heard = instance.changes();
  };
  try {
    const response = bounded(
      await transport.handleRequest(
        asAgreed(parts.sdk, request, instance.server.getNegotiatedProtocolVersion(), anew),
        body === undefined ? {} : { parsedBody: body },
      ),
      done,
    );
    // A client that starts to listen is notified at once of changes from a time without a listener.
    if (listens && response.ok && state.heard < instance.changes())
      instance.server.sendToolListChanged().catch(() => {});
    return response;
  } catch (error) {
    done();
    throw error;
  }
}

/**
 * A stream of another process cannot be resumed here, but its client may listen to new messages.
 */
async function isElsewhere({ parts, events }: State, { headers }: Request): Promise<boolean> {
  const last = headers.get('last-event-id');
  return (
    parts.settings.sessionStore !== undefined &&
    last !== null &&
    (await events.getStreamIdForEventId?.(last)) === undefined
  );
}

/**
 * The transport goes by the version that a request names, but the version that was agreed on at the
 * start applies. A version that is not supported at all is still refused.
 * @param anew leaves out the id of the last event
 */
function asAgreed(sdk: Sdk, request: Request, agreed: string | undefined, anew: boolean): Request {
  const named = request.headers.get('mcp-protocol-version');
  const isAgreed =
    agreed === undefined ||
    named === agreed ||
    (named !== null && !sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(named));
  if (isAgreed && !anew) return request;
  const headers = new Headers(request.headers);
  if (!isAgreed) headers.set('mcp-protocol-version', agreed);
  if (anew) headers.delete('last-event-id');
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}
