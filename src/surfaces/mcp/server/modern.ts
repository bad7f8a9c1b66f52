/** The 2026 era: each request is independent, over its own session or the shared one. */
import { randomBytes } from 'node:crypto';
import type { ClientCapabilities, Server } from '@modelcontextprotocol/server';
import type { ToolSession } from '../../../core.ts';
import { memoryStore } from '../../../stores/memory/memory-store.ts';
import { describe } from '../../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import { heldFor } from '../held-clients.ts';
import { passedOnTo } from '../passed-on.ts';
import { ActorsRefused } from './acting.ts';
import { refusedActors, type Sender } from './authorization.ts';
import { bounded } from './body.ts';
import { createInstance, learnCapabilities } from './instance.ts';
import { calledSchema } from './list.ts';
import type { HandlerSettings } from './options.ts';
import { paramHeaderMismatch } from './param-headers.ts';
import { type CallOwner, createParkedCalls } from './parked-calls.ts';
import { refuseScopes } from './request-scopes.ts';
import { checkKnowsTasks } from './required-capabilities.ts';
import { type RpcId, readMessage, refusal, rpcCodes } from './rpc.ts';
import type { Sdk } from './sdk.ts';
import type { KeptCalls } from './serving.ts';
import { authInfoOf } from './session.ts';
import type { Sourced } from './sourced.ts';
import { createTasks } from './tasks.ts';
import { createPlaces, type Places, sendsWellFormed } from './wire.ts';

/** Most streams of `subscriptions/listen` at once. */
const maxStreams = 1_024;

/** Serves the 2026 era. */
export interface ModernServing {
  /** `source` gives the session. It is called at most once, when the session is needed. */
  fetch(
    request: Request,
    body: unknown,
    sender: Sender,
    source: () => Promise<Sourced>,
  ): Promise<Response>;
  close(): Promise<void>;
}

/** A request that is being answered. */
interface Answering {
  readonly owner: CallOwner;
  readonly source: () => Promise<Sourced>;
  readonly scopes: readonly string[] | undefined;
  readonly body: unknown;
  /** Replaces the answer of the package. */
  refused?: Response;
}

interface Modern {
  readonly sdk: Sdk;
  readonly settings: HandlerSettings;
  readonly handler: ReturnType<Sdk['createMcpHandler']>;
  readonly answering: WeakMap<Request, Answering>;
  /** Ends each open stream. */
  readonly listening: Set<() => Promise<void>>;
}

/** @param requests places for requests without an answer, shared with the other era */
export function createModernServing(
  sdk: Sdk,
  settings: HandlerSettings,
  requests: Places,
): ModernServing {
  const answering: Modern['answering'] = new WeakMap();
  // One random mark and a count, because random bytes for each request would cost more.
  const mark = randomBytes(9).toString('hex');
  let served = 0;
  const handler = sdk.createMcpHandler(
    ({ requestInfo }) => {
      const one = answering.get(requestInfo as Request) as Answering;
      return serverFor(
        sdk,
        settings,
        calls,
        one,
        requestInfo as Request,
        () => `mcp-${mark}-${++served}-`,
      );
    },
    { legacy: 'reject', onerror: settings.report },
  );
  const calls: Calls = {
    parked: createParkedCalls(settings.hasPrincipals),
    tasks:
      settings.tasks &&
      createTasks(settings.store ?? memoryStore(), settings.tasks.afterMs, settings.report),
  };
  const modern: Modern = { sdk, settings, handler, answering, listening: new Set() };
  const streams = createPlaces(maxStreams, settings.hasPrincipals);
  return {
    async fetch(request, body, { principal, actors, scopes }, source) {
      const listens = (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
      const release = (listens ? streams : requests).take(principal);
      if (typeof release === 'string') return tooMuch(release, listens, idOf(body));
      try {
        return await (listens ? listen : answer)(
          modern,
          request,
          { owner: { principal, actors }, source, scopes, body },
          release,
        );
      } catch (error) {
        release();
        throw error;
      }
    },
    async close() {
      calls.parked.close();
      await Promise.all([
        handler.close(),
        calls.tasks?.close(),
        ...[...modern.listening].map((end) => end()),
      ]);
    },
  };
}

async function answer(
  { handler, answering }: Modern,
  request: Request,
  one: Answering,
  done: () => void,
): Promise<Response> {
  const malformed = malformedResponses(one.body);
  if (malformed !== undefined) {
    done();
    return malformed;
  }
  answering.set(request, one);
  const response = await handler.fetch(request, {
    parsedBody: one.body,
    ...authInfoOf(one.scopes),
  });
  return bounded(one.refused ?? response, done);
}

/** The server for one request. Its stream does not report changes of the tools. */
async function serverFor(
  sdk: Sdk,
  settings: HandlerSettings,
  calls: Calls,
  one: Answering,
  request: Request,
  nextPrefix: () => string,
): Promise<Server> {
  const sourced = await one.source().catch((error: unknown) => {
    if (error instanceof ActorsRefused) one.refused = refusedActors();
    throw error;
  });
  const { session, owned } = sourced;
  // The headers of a call are checked against the schema of its tool.
  await heldFor(session);
  // Set before the headers are checked, because a tool may wait for what the client declares.
  if (owned) learnCapabilities(session, declaredIn(one.body, sdk));
  const { scopes } = one;
  const message = readMessage(one.body);
  const others = scopes && (await calls.tasks?.toolsOf(message, one.owner, session));
  const refused = await refuseScopes(request, settings, scopes, session, [message], others ?? []);
  const mismatch =
    refused === undefined
      ? mismatchIn(one.body, session, request.headers)
      : 'the token lacks scopes of the tool';
  if (mismatch !== undefined) {
    await sourced.end();
    one.refused =
      refused ??
      refusal(400, rpcCodes.headerMismatch, `Bad Request: ${mismatch}.`, {}, idOf(one.body));
    throw new Error(`An MCP request was refused: ${mismatch}.`);
  }
  const held = holdable(() => sourced.end(), settings.report);
  const kept = { ...calls, owner: one.owner, hold: held.hold };
  const server = createQuiet(sdk, settings, sourced, nextPrefix(), kept);
  server.onerror = settings.report;
  server.onclose = held.hold();
  return server;
}

/** What the calls of a handler that outlive their requests are kept in. */
type Calls = Pick<KeptCalls, 'parked' | 'tasks'>;

/** Closes something once nobody holds it any more. Each may let go several times. */
function holdable(
  close: () => Promise<void>,
  report: (error: unknown) => void,
): { hold(): () => void } {
  let holders = 0;
  return {
    hold() {
      let holds = true;
      holders++;
      return () => {
        if (!holds) return;
        holds = false;
        if (--holders === 0) void close().catch(report);
      };
    },
  };
}

/** Opens a stream. It has a handler of its own, so that it reports only its session's changes. */
async function listen(
  { sdk, settings, listening }: Modern,
  request: Request,
  { source, body }: Answering,
  done: () => void,
): Promise<Response> {
  const refused = refusedTasks(body, sdk);
  if (refused !== undefined) {
    done();
    return refused;
  }
  const sourced = await source();
  const { session, owned } = sourced;
  if (owned) learnCapabilities(session, declaredIn(body, sdk));
  const inner = sdk.createMcpHandler(() => createQuiet(sdk, settings, sourced, 'mcp-'), {
    legacy: 'reject',
    onerror: settings.report,
  });
  const stop = session.events.on('tools:changed', () => inner.notify.toolsChanged());
  const stopTelling = passedOnTo(session)?.onChanged((kind) =>
    kind === 'prompts' ? inner.notify.promptsChanged() : inner.notify.resourcesChanged(),
  );
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= (async () => {
      done();
      stop();
      stopTelling?.();
      listening.delete(end);
      await inner.close();
      await sourced.end();
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
}

/**
 * The refusal for a client that does not know tasks and asks to hear of some. One that knows them
 * is told that it will hear of none.
 */
function refusedTasks(body: unknown, sdk: Sdk): Response | undefined {
  const { params } = body as { readonly params?: { readonly notifications?: unknown } };
  const asked = params?.notifications;
  if (!isJsonObject(asked as JsonValue) || !Object.hasOwn(asked as object, 'taskIds'))
    return undefined;
  try {
    checkKnowsTasks(sdk, declaredIn(body, sdk) as ClientCapabilities | undefined);
    return undefined;
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data: unknown };
    const answer = { jsonrpc: '2.0', id: idOf(body), error: { code, message, data } };
    return Response.json(answer, { status: 400 });
  }
}

/** The capabilities of the client, which every request of this era carries. */
function declaredIn(body: unknown, sdk: Sdk): unknown {
  const { params } = body as { readonly params?: { readonly _meta?: unknown } };
  const meta = params?._meta;
  return isJsonObject(meta) && Object.hasOwn(meta, sdk.CLIENT_CAPABILITIES_META_KEY)
    ? meta[sdk.CLIENT_CAPABILITIES_META_KEY]
    : undefined;
}

/** Refuses answers that the protocol's package would take as none. */
function malformedResponses(body: unknown): Response | undefined {
  const { params } = body as { readonly params?: { readonly inputResponses?: JsonValue } };
  const given = params?.inputResponses;
  if (given === undefined || isJsonObject(given)) return undefined;
  const message = `Expected \`inputResponses\` to be an object, got ${describe(given)}.`;
  return refusal(400, rpcCodes.invalidParams, message, {}, idOf(body));
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

/** Distinguishes a principal that has used up its share from a server that is full. */
function tooMuch(why: 'share' | 'all', listens: boolean, id: RpcId | null): Response {
  const [status, whose] = why === 'share' ? [429, ' of yours'] : [503, ''];
  return refusal(
    status,
    rpcCodes.server,
    listens
      ? `Too many streams${whose} are open.`
      : `Too many requests${whose} have no answer yet.`,
    { 'Retry-After': '30' },
    id,
  );
}

function idOf(body: unknown): RpcId | null {
  const message = readMessage(body);
  return message?.kind === 'request' ? message.id : null;
}

/** A server that does not listen to changes of the tools. */
function createQuiet(
  sdk: Sdk,
  settings: HandlerSettings,
  { session, owned }: Sourced,
  idPrefix: string,
  kept?: KeptCalls,
): Server {
  const { clientApproves, tasks } = settings;
  const { server, dispose } = createInstance(settings, {
    sdk,
    session,
    era: 'modern',
    exposeErrors: 'masked',
    exclusive: owned,
    clientApproves,
    makesTasks: tasks !== undefined,
    idPrefix,
    kept,
  });
  dispose();
  sendsWellFormed(server);
  return server;
}
