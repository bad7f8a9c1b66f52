/** The 2026 era: each request stands alone, over a session of its own or the shared one. */
import { randomBytes } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import { bounded } from './server-body.ts';
import { refusal } from './server-door.ts';
import { createInstance } from './server-instance.ts';
import type { HandlerSettings } from './server-options.ts';
import { rpcCodes } from './server-rpc.ts';
import type { Sdk } from './server-sdk.ts';
import type { Sourced } from './server-sessions.ts';

/** Streams of `subscriptions/listen` at once. */
const maxListeners = 1_024;

/** Serves the 2026 era. */
export interface ModernServing {
  /** `source` gives the session, once, if the request comes so far. */
  fetch(request: Request, body: unknown, source: () => Promise<Sourced>): Promise<Response>;
  close(): Promise<void>;
}

export function createModernServing(sdk: Sdk, settings: HandlerSettings): ModernServing {
  const sources = new WeakMap<Request, () => Promise<Sourced>>();
  const listening = new Set<() => Promise<void>>();
  const makeServer = async (source: () => Promise<Sourced>): Promise<Server> => {
    const { session, owned } = await source();
    const server = createQuiet(sdk, settings, { session, owned }, `mcp-${randomBytes(9).toString('hex')}-`);
    server.onerror = settings.report;
    server.onclose = () => {
      if (owned) void session.close().catch(settings.report);
    };
    return server;
  };
  const handler = sdk.createMcpHandler(({ requestInfo }) => makeServer(sources.get(requestInfo as Request) as () => Promise<Sourced>), {
    legacy: 'reject',
    onerror: settings.report,
  });
  /** A stream of its own handler, so that it tells of this session's changes and of no other's. */
  const listen = async (request: Request, body: unknown, source: () => Promise<Sourced>): Promise<Response> => {
    if (listening.size >= maxListeners) return refusal(503, rpcCodes.server, 'Too many streams are open.', { 'Retry-After': '30' });
    const { session, owned } = await source();
    const inner = sdk.createMcpHandler(() => createQuiet(sdk, settings, { session, owned }, 'mcp-'), { legacy: 'reject', onerror: settings.report });
    const stop = session.events.on('tools:changed', () => inner.notify.toolsChanged());
    let ended: Promise<void> | undefined;
    const end = (): Promise<void> => {
      ended ??= (async () => {
        stop();
        listening.delete(end);
        await inner.close();
        if (owned) await session.close();
      })();
      return ended;
    };
    listening.add(end);
    try {
      return bounded(await inner.fetch(request, { parsedBody: body }), () => void end().catch(settings.report));
    } catch (error) {
      await end();
      throw error;
    }
  };
  return {
    async fetch(request, body, source) {
      if ((body as { method?: unknown } | null)?.method === 'subscriptions/listen') return listen(request, body, source);
      sources.set(request, source);
      return bounded(await handler.fetch(request, { parsedBody: body }), () => {});
    },
    async close() {
      await Promise.all([handler.close(), ...[...listening].map((end) => end())]);
    },
  };
}

/** Nobody hears of changes on the stream of one request. */
function createQuiet(sdk: Sdk, settings: HandlerSettings, { session, owned }: Sourced, idPrefix: string): Server {
  const { clientApproves } = settings;
  const { server, dispose } = createInstance(sdk, settings, { session, era: 'modern', exposeErrors: 'masked', exclusive: owned, clientApproves, idPrefix });
  dispose();
  return server;
}
