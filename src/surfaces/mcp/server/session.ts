/** One MCP session of the 2025 era: a server over a tool session, with its own transport. */
import { randomBytes } from 'node:crypto';
import type {
  EventStore,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { bounded } from './body.ts';
import { type MemoryEvents, scopedEvents } from './events.ts';
import { createInstance, type Instance } from './instance.ts';
import type { HandlerSettings } from './options.ts';
import type { RpcId } from './rpc.ts';
import type { Sdk } from './sdk.ts';
import type { Sourced } from './sourced.ts';
import { type StoredEvents, storedEvents } from './stored-events.ts';
import { markAsks, type OpenRequests, sendsWellFormed, watchAnswers } from './wire.ts';

/** One MCP session. */
export interface McpSession {
  readonly id: string;
  readonly principal: string | undefined;
  /** Requests without an answer, by id. */
  readonly inFlight: OpenRequests;
  readonly use: SessionUse;
  readonly sourced: Sourced;
  /** The protocol version that was agreed on. */
  version(): string | undefined;
  /** @param scopes What the request's token grants; undefined without `authorization`. */
  handle(request: Request, body: unknown, scopes?: readonly string[]): Promise<Response>;
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
  /** Undefined if a store keeps the messages of streams. */
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

/** The messages of a session's streams; in a store, those that other processes write as well. */
type SessionEvents = EventStore & Partial<Pick<StoredEvents, 'follow'>>;

interface State {
  readonly parts: SessionParts;
  readonly instance: Instance;
  readonly events: SessionEvents;
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
    markAsks(transport, inFlight);
  } catch (error) {
    await close().catch(settings.report);
    throw error;
  }
  const mcp: McpSession = {
    id,
    principal,
    inFlight,
    use: state.use,
    sourced: parts.sourced,
    version: () => instance.server.getNegotiatedProtocolVersion(),
    handle: (request, body, scopes) => handle(state, request, body, scopes),
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
  return createInstance(settings, {
    sdk,
    session: sourced.session,
    era: 'legacy',
    exposeErrors: 'masked',
    exclusive: sourced.owned,
    clientApproves: settings.clientApproves,
    makesTasks: settings.tasks !== undefined,
    // The id of the MCP session is as good as a credential, so events carry a different one.
    idPrefix: `mcp-${randomBytes(6).toString('hex')}-`,
    asked: (requestId, tool) => void inFlight.get(requestId)?.tools.add(tool),
    begun: (requestId) => {
      const request = inFlight.get(requestId);
      if (request !== undefined) request.begun = true;
    },
    abandoned,
  });
}

function eventsFor({ settings, memory, id, isResumed }: SessionParts): SessionEvents {
  if (memory !== undefined) return memory.open(id);
  const { store, eventStore } = settings;
  const reportFor = (source: string) => (error: unknown) => {
    settings.logFault(error, source);
    settings.report(error);
  };
  if (eventStore !== undefined) return scopedEvents(eventStore, `${id}:`, reportFor('eventStore'));
  const stored = storedEvents(store as NonNullable<typeof store>, id, !isResumed);
  return { ...scopedEvents(stored, '', reportFor('store')), follow: stored.follow };
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
  await sourced.end();
}

async function handle(
  state: State,
  request: Request,
  body: unknown,
  scopes: readonly string[] | undefined,
): Promise<Response> {
  const { parts, instance, transport, use } = state;
  use.busy++;
  const listens = request.method === 'GET';
  const followed = listens ? await elsewhere(state, request) : undefined;
  if (followed !== undefined) return bounded(followed, () => leave(use));
  const anew = listens && (await isElsewhere(state, request));
  // A stream that is resumed may belong to a call, and such a stream does not report changes.
  const hasListener = listens && (anew || request.headers.get('last-event-id') === null);
  const done = (): void => {
    leave(use);
    if (hasListener) state.heard = instance.changes();
  };
  try {
    const response = bounded(
      await transport.handleRequest(
        asAgreed(parts.sdk, request, instance.server.getNegotiatedProtocolVersion(), anew),
        { ...(body === undefined ? {} : { parsedBody: body }), ...authInfoOf(scopes) },
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

/** How the package hands the scopes of a request to the handler of its messages. */
export function authInfoOf(scopes: readonly string[] | undefined) {
  // The token itself is nobody's business from here on.
  return scopes === undefined ? {} : { authInfo: { token: '', clientId: '', scopes: [...scopes] } };
}

function leave(use: SessionUse): void {
  use.busy--;
  use.idleSince = performance.now();
}

/** The stream of a request that another process answers; undefined if there is no such stream. */
async function elsewhere(
  { parts, events, instance, transport }: State,
  { headers }: Request,
): Promise<Response | undefined> {
  const last = headers.get('last-event-id');
  if (last === null || headers.get('accept')?.includes('text/event-stream') !== true)
    return undefined;
  // Only this version has batches, whose streams have several answers.
  const isBatch = instance.server.getNegotiatedProtocolVersion() === '2025-03-26';
  const isAnswer = (message: object): boolean => 'result' in message || 'error' in message;
  const body = await events
    .follow?.(last, (message) => !isBatch && isAnswer(message))
    .catch(parts.settings.report);
  if (!(body instanceof ReadableStream)) return undefined;
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
      ...(transport.sessionId === undefined ? {} : { 'mcp-session-id': transport.sessionId }),
    },
  });
}

/** The stream of an event that is not known cannot be resumed, but its client may listen anew. */
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
