/** The 2026 era: each request stands alone, over a session of its own or the shared one. */
import { randomBytes } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import type { ToolSession } from '../../index.ts';
import { bounded } from './body.ts';
import { createInstance } from './instance.ts';
import { calledSchema } from './list.ts';
import type { HandlerSettings } from './options.ts';
import { paramHeaderMismatch } from './param-headers.ts';
import { createPlaces, type Places } from './places.ts';
import { refusal } from './refusal.ts';
import { type RpcId, readMessage, rpcCodes } from './rpc.ts';
import type { Sdk } from './sdk.ts';
import type { Sourced } from './sessions.ts';

/** Streams of `subscriptions/listen` at once. */
const maxStreams = 1_024;

/** Serves the 2026 era. */
export interface ModernServing {
  /** `source` gives the session, once, if the request comes so far. */
  fetch(
    request: Request,
    body: unknown,
    principal: string | undefined,
    source: () => Promise<Sourced>,
  ): Promise<Response>;
  close(): Promise<void>;
}

/** A request that is being answered. */
interface Answering {
  readonly source: () => Promise<Sourced>;
  readonly body: unknown;
  /** Answered in the place of what the package says. */
  refused?: Response;
}

/**
 * @param requests places for requests that have no answer yet, which the other era has a part in
 */
export function createModernServing(
  sdk: Sdk,
  settings: HandlerSettings,
  requests: Places,
): ModernServing {
  const answering = new WeakMap<Request, Answering>();
  const streams = createPlaces(maxStreams, settings.authenticate !== undefined);
  const listening = new Set<() => Promise<void>>();
  // One mark and a count: random bytes for each request would cost more than the count is worth.
  const mark = randomBytes(9).toString('hex');
  let served = 0;
  const makeServer = async (request: Request): Promise<Server> => {
    const one = answering.get(request) as Answering;
    const { session, owned } = await one.source();
    const mismatch = mismatchIn(one.body, session, request.headers);
    if (mismatch !== undefined) {
      if (owned) await session.close();
      one.refused = refusal(
        400,
        rpcCodes.headerMismatch,
        `Bad Request: ${mismatch}.`,
        {},
        idOf(one.body),
      );
      throw new Error(`An MCP request was refused: ${mismatch}.`);
    }
    const server = createQuiet(sdk, settings, { session, owned }, `mcp-${mark}-${++served}-`);
    server.onerror = settings.report;
    server.onclose = () => {
      if (owned) void session.close().catch(settings.report);
    };
    return server;
  };
  const handler = sdk.createMcpHandler(({ requestInfo }) => makeServer(requestInfo as Request), {
    legacy: 'reject',
    onerror: settings.report,
  });
  const answer = async (
    request: Request,
    body: unknown,
    source: () => Promise<Sourced>,
    done: () => void,
  ): Promise<Response> => {
    const one: Answering = { source, body };
    answering.set(request, one);
    const response = await handler.fetch(request, { parsedBody: body });
    return bounded(one.refused ?? response, done);
  };
  /** A stream of its own handler, so that it tells of this session's changes and of no other's. */
  const listen = async (
    request: Request,
    body: unknown,
    source: () => Promise<Sourced>,
    done: () => void,
  ): Promise<Response> => {
    const { session, owned } = await source();
    const inner = sdk.createMcpHandler(
      () => createQuiet(sdk, settings, { session, owned }, 'mcp-'),
      { legacy: 'reject', onerror: settings.report },
    );
    const stop = session.events.on('tools:changed', () => inner.notify.toolsChanged());
    let ended: Promise<void> | undefined;
    const end = (): Promise<void> => {
      ended ??= (async () => {
        done();
        stop();
        listening.delete(end);
        await inner.close();
        if (owned) await session.close();
      })();
      return ended;
    };
    listening.add(end);
    try {
      return bounded(
        await inner.fetch(request, { parsedBody: body }),
        () => void end().catch(settings.report),
      );
    } catch (error) {
      await end();
      throw error;
    }
  };
  return {
    async fetch(request, body, principal, source) {
      const listens = (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
      const release = (listens ? streams : requests).take(principal);
      if (typeof release === 'string')
        return tooMuch(
          release,
          listens ? 'streams are open' : 'requests have no answer yet',
          idOf(body),
        );
      try {
        return await (listens ? listen : answer)(request, body, source, release);
      } catch (error) {
        release();
        throw error;
      }
    },
    async close() {
      await Promise.all([handler.close(), ...[...listening].map((end) => end())]);
    },
  };
}

/** How the headers of a call disagree with its body. */
function mismatchIn(body: unknown, session: ToolSession, headers: Headers): string | undefined {
  const { method, params } = body as {
    readonly method?: unknown;
    readonly params?: { readonly name?: unknown; readonly arguments?: unknown };
  };
  if (method !== 'tools/call' || typeof params?.name !== 'string') return undefined;
  const schema = calledSchema(session, params.name);
  return schema === undefined ? undefined : paramHeaderMismatch(schema, params.arguments, headers);
}

/** A principal that has its share is told apart from a server that is full. */
function tooMuch(why: 'share' | 'all', what: string, id: RpcId | null): Response {
  const [status, whose] = why === 'share' ? [429, ' of yours'] : [503, ''];
  return refusal(
    status,
    rpcCodes.server,
    `Too many ${what.replace(' ', `${whose} `)}.`,
    { 'Retry-After': '30' },
    id,
  );
}

function idOf(body: unknown): RpcId | null {
  const message = readMessage(body);
  return message?.kind === 'request' ? message.id : null;
}

/** Nobody hears of changes on the stream of one request. */
function createQuiet(
  sdk: Sdk,
  settings: HandlerSettings,
  { session, owned }: Sourced,
  idPrefix: string,
): Server {
  const { clientApproves } = settings;
  const { server, dispose } = createInstance(sdk, settings, {
    session,
    era: 'modern',
    exposeErrors: 'masked',
    exclusive: owned,
    clientApproves,
    idPrefix,
  });
  dispose();
  return server;
}
