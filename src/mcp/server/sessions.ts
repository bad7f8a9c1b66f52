/**
 * MCP sessions of the 2025 era: a bounded table of servers, each with its transport, each belonging
 * to the principal that opened it.
 */
import { randomBytes } from 'node:crypto';
import pTimeout from 'p-timeout';
import type { ToolSession } from '../../index.ts';
import { bounded } from './body.ts';
import { type MemoryEvents, memoryEvents, scopedEvents } from './events.ts';
import { createInstance, type Instance } from './instance.ts';
import { createOpenRequests, type OpenRequests } from './open-requests.ts';
import type { HandlerSettings } from './options.ts';
import type { Places } from './places.ts';
import type { RpcId } from './rpc.ts';
import type { Sdk } from './sdk.ts';
import { markAsks, watchAnswers } from './wire.ts';

/** A tool session, and whether it was made for this client. */
export interface Sourced {
  readonly session: ToolSession;
  readonly owned: boolean;
}

/** One MCP session. */
export interface McpSession {
  readonly id: string;
  readonly principal: string | undefined;
  /** Requests that have no answer yet, by id. */
  readonly inFlight: OpenRequests;
  /** The version that was agreed on. */
  version(): string | undefined;
  handle(request: Request, body: unknown): Promise<Response>;
  /** Gives back the place of a cancelled request that nothing else answers. */
  abandon(id: RpcId): void;
  close(): Promise<void>;
}

/** The table. */
export interface McpSessions {
  /**
   * Undefined when there is no room. Over a principal's share one of its own makes way. @param id
   * of one that was open before. @default a new one
   */
  open(
    source: () => Promise<Sourced>,
    principal: string | undefined,
    id?: string,
  ): Promise<McpSession | undefined>;
  find(id: string | null, principal: string | undefined): McpSession | undefined;
  readonly size: number;
  close(): Promise<void>;
}

interface Entry {
  readonly mcp: McpSession;
  busy: number;
  /** By `performance.now()`. */
  idleSince: number;
}

/** Milliseconds that a client has to go on before its session may make way for another's. */
const evictableAfterMs = 60_000;
const retryMs = 1_000;
/** Milliseconds that closing waits for sessions that are being opened. */
const openingMs = 1_000;

/** Whether an id can be one of ours. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(id);
}

/** @param requests places for requests that have no answer yet */
export function createMcpSessions(
  sdk: Sdk,
  settings: HandlerSettings,
  requests: Places,
): McpSessions {
  const entries = new Map<string, Entry>();
  const memory = settings.eventStore === undefined ? memoryEvents() : undefined;
  /** The principals of sessions that are being opened. */
  const opening: (string | undefined)[] = [];
  const opens = new Set<Promise<unknown>>();
  let closed = false;
  // Where nobody is asked who they are, all are one.
  const share =
    settings.authenticate === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, Math.floor(settings.maxSessions / 4));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const sweep = (): void => {
    timer = undefined;
    const limit = performance.now() - settings.sessionIdleMs;
    for (const { mcp, busy, idleSince } of entries.values())
      if (busy === 0 && idleSince <= limit) void mcp.close().catch(settings.report);
    arm();
  };
  const arm = (): void => {
    if (timer !== undefined || entries.size === 0 || closed) return;
    timer = setTimeout(sweep, Math.max(10, Math.min(60_000, settings.sessionIdleMs / 2)));
    timer.unref();
  };
  /** Who makes way for one more; false when nobody can. */
  const makesWay = (principal: string | undefined): Entry | undefined | false => {
    const own = [...entries.values()].filter(({ mcp }) => mcp.principal === principal);
    if (own.length + opening.filter((other) => other === principal).length >= share)
      return own.find(({ busy }) => busy === 0) ?? own[0] ?? false;
    if (entries.size + opening.length < settings.maxSessions) return undefined;
    let oldest: Entry | undefined;
    for (const entry of entries.values())
      if (entry.busy === 0 && (oldest === undefined || entry.idleSince < oldest.idleSince))
        oldest = entry;
    return (
      oldest !== undefined && performance.now() - oldest.idleSince >= evictableAfterMs && oldest
    );
  };
  const open = async (
    source: () => Promise<Sourced>,
    principal: string | undefined,
    before: string | undefined,
  ): Promise<McpSession | undefined> => {
    const leaving = makesWay(principal);
    if (leaving === false) return undefined;
    // Before anything is waited for: the place is taken.
    opening.push(principal);
    try {
      await leaving?.mcp.close().catch(settings.report);
      const sourced = await source();
      const id = before ?? randomBytes(24).toString('base64url');
      const mcp = await openSession(
        sdk,
        settings,
        memory,
        id,
        sourced,
        createOpenRequests(requests, principal),
        principal,
        entries,
        before !== undefined,
      );
      if (closed) await mcp.close().catch(settings.report);
      arm();
      return closed ? undefined : mcp;
    } finally {
      opening.splice(opening.indexOf(principal), 1);
    }
  };
  return {
    async open(source, principal, before) {
      if (closed) return undefined;
      const work = open(source, principal, before).finally(() => opens.delete(work));
      opens.add(work);
      return work;
    },
    find(id, principal) {
      const mcp = id === null ? undefined : entries.get(id)?.mcp;
      return mcp?.principal === principal ? mcp : undefined;
    },
    get size() {
      return entries.size;
    },
    async close() {
      closed = true;
      await Promise.all([...entries.values()].map(({ mcp }) => mcp.close()));
      // A source that never answers holds nobody up: what it gives later is closed then.
      await pTimeout(Promise.allSettled(opens), { milliseconds: openingMs, fallback: () => [] });
      clearTimeout(timer);
    },
  };
}

async function openSession(
  sdk: Sdk,
  settings: HandlerSettings,
  memory: MemoryEvents | undefined,
  id: string,
  { session, owned }: Sourced,
  inFlight: OpenRequests,
  principal: string | undefined,
  entries: Map<string, Entry>,
  isResumed: boolean,
): Promise<McpSession> {
  const instance: Instance = createInstance(sdk, settings, {
    session,
    era: 'legacy',
    exposeErrors: 'masked',
    exclusive: owned,
    clientApproves: settings.clientApproves,
    // The MCP session's id is as good as a credential: events carry another.
    idPrefix: `mcp-${randomBytes(6).toString('hex')}-`,
    begun: (requestId) => {
      const request = inFlight.get(requestId);
      if (request !== undefined) request.begun = true;
    },
    abandoned: (requestId) => abandon(requestId),
  });
  const abandon = (requestId: RpcId): void => {
    if (inFlight.get(requestId)?.batched === false) transport.closeSSEStream(requestId);
    // Nobody reads it: the transport forgets a request when it is answered, and in no other way.
    transport
      .send({
        jsonrpc: '2.0',
        id: requestId,
        error: { code: -32_800, message: 'The request was cancelled.' },
      })
      .catch(() => {});
  };
  const failed = (error: unknown): void => {
    settings.logFault(error, 'eventStore');
    settings.report(error);
  };
  const events =
    memory === undefined
      ? scopedEvents(settings.eventStore as NonNullable<HandlerSettings['eventStore']>, id, failed)
      : memory.open(id);
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    eventStore: events,
    retryInterval: retryMs,
  });
  watchAnswers(transport, inFlight);
  // What changed while the client was elsewhere is not known here.
  let heard = isResumed ? -1 : 0;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      entries.delete(id);
      inFlight.clear();
      memory?.forget(id);
      instance.dispose();
      await instance.server.close();
      if (owned) await session.close();
    })();
    return closing;
  };
  instance.server.onclose = () => void close().catch(settings.report);
  instance.server.onerror = settings.report;
  try {
    await instance.server.connect(transport);
    markAsks(transport);
  } catch (error) {
    await close().catch(settings.report);
    throw error;
  }
  /**
   * A stream of another process cannot be gone on with here; the client may listen to what comes.
   */
  const isElsewhere = async ({ headers }: Request): Promise<boolean> => {
    const last = headers.get('last-event-id');
    return (
      settings.sessionStore !== undefined &&
      last !== null &&
      (await events.getStreamIdForEventId?.(last)) === undefined
    );
  };
  const mcp: McpSession = {
    id,
    principal,
    inFlight,
    abandon,
    version: () => instance.server.getNegotiatedProtocolVersion(),
    async handle(request, body) {
      entry.busy++;
      const listens = request.method === 'GET';
      // A stream that is gone on with may be a call's, which tells of no changes.
      const anew = listens && (await isElsewhere(request));
      const hears = listens && (anew || request.headers.get('last-event-id') === null);
      const done = (): void => {
        entry.busy--;
        entry.idleSince = performance.now();
        if (hears) heard = instance.changes();
      };
      try {
        const response = bounded(
          await transport.handleRequest(
            asAgreed(sdk, request, mcp.version(), anew),
            body === undefined ? {} : { parsedBody: body },
          ),
          done,
        );
        // What changed while nobody listened is told to whoever comes to listen.
        if (listens && response.ok && heard < instance.changes())
          instance.server.sendToolListChanged().catch(() => {});
        return response;
      } catch (error) {
        done();
        throw error;
      }
    },
    close,
  };
  const entry: Entry = { mcp, busy: 0, idleSince: performance.now() };
  entries.set(id, entry);
  return mcp;
}

/**
 * The transport goes by the version that a request names; which one holds was agreed at the start.
 * One that nobody knows is still refused. @param anew its last event is left out
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
