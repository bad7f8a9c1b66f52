/** Tools over HTTP, in both eras of the protocol, as one web-standard function. */

import { describe as describeValue } from '../../errors.ts';
import { MisuseError, type ToolSession } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { stateOf } from '../../surface-port.ts';
import { nextTurn } from '../../surfaces/shared/stretches.ts';
import { authenticate } from './authenticate.ts';
import { readBody } from './body.ts';
import { createModernServing, type ModernServing } from './modern.ts';
import type { OpenRequest } from './open-requests.ts';
import {
  type HandlerSettings,
  type McpHandlerOptions,
  type McpSource,
  readHandlerOptions,
} from './options.ts';
import { checkOrigin, corsOf, originPolicy, preflight } from './origin-guard.ts';
import { createPlaces } from './places.ts';
import { refusal } from './refusal.ts';
import { createSessionFinder, type McpSessionFinder, tooMany } from './resume.ts';
import {
  duplicateAnswer,
  isTooFullBeside,
  maxIdLength,
  type RpcId,
  type RpcMessage,
  readMessage,
  rpcCodes,
  tooFullBeside,
  tooManyOpen,
} from './rpc.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { createMcpSessions, type McpSession, type McpSessions, type Sourced } from './sessions.ts';

/** Serves a session's tools. */
export interface McpHandler {
  /**
   * Answers one request; resolves always, but where the optional package is missing. The request's
   * `signal` should abort when its client goes away.
   * @throws MisuseError (as a rejection) `missing_dependency`.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Ends all MCP sessions and streams, and closes the sessions that the source had made.
   * Idempotent.
   */
  close(): Promise<void>;
}

interface Machine {
  readonly sdk: Sdk;
  readonly sessions: McpSessions;
  readonly finder: McpSessionFinder;
  readonly modern: ModernServing;
}

/**
 * Serves tools over MCP: the 2025 era with MCP sessions, the 2026 era request by request. Mount
 * `fetch` wherever web-standard requests are answered.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createMcpHandler, toNodeListener } from 'host-tools/mcp';
 *
 * const handler = createMcpHandler(
 *   ({ principal = 'anybody' }) => registry.createSession({ sessionId: principal, principal }),
 *   { name: 'weather', version: '1.0.0' },
 * );
 * createServer(toNodeListener(handler)).listen(3000, '127.0.0.1');
 * ```
 */
export function createMcpHandler(source: McpSource, options?: McpHandlerOptions): McpHandler {
  const settings = readHandlerOptions(options, loggerOf(source));
  const policy = originPolicy(settings);
  const makeSession = readSource(source, settings);
  let machine: Promise<Machine> | undefined;
  let closing: Promise<void> | undefined;
  const start = async (): Promise<Machine> => {
    const sdk = await loadSdk();
    const requests = createPlaces(settings.maxRequests, settings.authenticate !== undefined);
    const sessions = createMcpSessions(sdk, settings, requests);
    return {
      sdk,
      sessions,
      finder: createSessionFinder(sessions, settings),
      modern: createModernServing(sdk, settings, requests),
    };
  };
  const answer = async (request: Request): Promise<Response> => {
    machine ??= start();
    const running = await machine;
    const foreign = checkOrigin(request, policy);
    if (foreign !== undefined) return foreign;
    const cors = corsOf(request, policy);
    if (request.method === 'OPTIONS' && cors !== undefined) return preflight(request, cors);
    const response = await serve(request, running, settings, makeSession);
    for (const [name, value] of Object.entries(cors ?? {})) response.headers.set(name, value);
    return response;
  };
  return {
    async fetch(request) {
      if (closing !== undefined) return refusal(503, rpcCodes.server, 'The server is closed.');
      try {
        return await answer(request);
      } catch (error) {
        if (error instanceof MisuseError && error.code === 'missing_dependency') throw error;
        settings.report(error);
        return refusal(500, rpcCodes.internal, 'Internal error.');
      }
    },
    close() {
      closing ??= (async () => {
        const running = await machine?.catch(() => undefined);
        await Promise.all([running?.sessions.close(), running?.modern.close()]);
      })();
      return closing;
    },
  };
}

type MakeSession = (client: {
  principal: string | undefined;
  request: Request;
  era: 'legacy' | 'modern';
}) => Promise<Sourced>;

/** The logger of the registry behind a session. */
function loggerOf(source: unknown): object | undefined {
  try {
    return typeof source === 'function' ? undefined : stateOf(source).registry.logger;
  } catch {
    // Not a session of this copy; whether it can be served is said elsewhere.
    return undefined;
  }
}

function readSource(source: McpSource, settings: HandlerSettings): MakeSession {
  if (typeof source === 'function') {
    return async ({ principal, request, era }) => {
      try {
        return {
          session: await source({
            ...(principal === undefined ? {} : { principal }),
            headers: request.headers,
            era,
          }),
          owned: true,
        };
      } catch (error) {
        settings.logFault(error, 'source');
        throw error;
      }
    };
  }
  if (typeof (source as ToolSession | null)?.call !== 'function')
    throw new MisuseError(
      'invalid_option',
      'createMcpHandler: expected a session, or a function that makes one, got ' +
        `${describeValue(source)}.`,
    );
  return async () => ({ session: source, owned: false });
}

async function serve(
  request: Request,
  machine: Machine,
  settings: HandlerSettings,
  makeSession: MakeSession,
): Promise<Response> {
  const { sdk, finder, modern } = machine;
  const { method, headers } = request;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
    return refusal(405, rpcCodes.server, 'Method not allowed.', { Allow: 'GET, POST, DELETE' });
  const who = await authenticate(request, settings);
  if (who instanceof Response) return who;
  const { principal } = who;
  const id = headers.get('mcp-session-id');
  const mcpSession = (): Promise<McpSession | Response> =>
    finder.find(id, principal, () => makeSession({ principal, request, era: 'legacy' }));
  if (method === 'DELETE')
    return finder.end(id, principal, (found) => found.handle(request, undefined));
  if (method === 'GET') {
    const found = await mcpSession();
    return 'handle' in found ? found.handle(request, undefined) : found;
  }
  if (!sdk.isJsonContentType(headers.get('content-type')))
    return refusal(415, rpcCodes.server, 'Unsupported Media Type: expected application/json.');
  const read = await readBody(request);
  if (read instanceof Response) return read;
  const body = read.value;
  const parts: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (isTooFullBeside(parts)) {
    const message = readMessage(body);
    return refusal(
      413,
      rpcCodes.server,
      tooFullBeside,
      {},
      message?.kind === 'request' ? message.id : null,
    );
  }
  const messages = parts.map(readMessage);
  if (messages.length === 0 || messages.includes(undefined))
    return refusal(
      400,
      rpcCodes.invalidRequest,
      `Invalid Request: the body is no JSON-RPC message, whose id has ${maxIdLength} ` +
        'characters at most.',
    );
  const era = (await sdk.isLegacyRequest(request, body)) ? 'legacy' : 'modern';
  const source = (): Promise<Sourced> => makeSession({ principal, request, era });
  if (era === 'modern') return modern.fetch(request, body, principal, source);
  if (
    !Array.isArray(body) &&
    id === null &&
    (body as { method?: unknown }).method === 'initialize'
  ) {
    if (!sdk.isInitializeRequest(body))
      return refusal(
        400,
        -32_602,
        'Invalid params: `initialize` needs protocolVersion, capabilities and clientInfo.',
      );
    return initialize(request, body, machine, source, principal, settings.report);
  }
  const found = await mcpSession();
  return 'handle' in found ? deliver(request, body, messages as RpcMessage[], found) : found;
}

async function initialize(
  request: Request,
  body: unknown,
  { sessions, finder }: Machine,
  source: () => Promise<Sourced>,
  principal: string | undefined,
  report: (error: unknown) => void,
): Promise<Response> {
  const opened = await sessions.open(source, principal);
  if (opened === undefined) return tooMany();
  let isKnown = false;
  try {
    const response = await opened.handle(request, body);
    const refused = response.ok ? await finder.began(opened, body) : undefined;
    isKnown = response.ok && refused === undefined;
    return refused ?? response;
  } finally {
    // Nobody has learnt its id.
    if (!isKnown) await opened.close().catch(report);
  }
}

/** Hands messages to their MCP session, each id once while it is in flight. */
async function deliver(
  request: Request,
  body: unknown,
  messages: readonly RpcMessage[],
  mcp: McpSession,
): Promise<Response> {
  const batched = Array.isArray(body);
  // Batches came with one version of the protocol and went with the next.
  if (batched && mcp.version() !== '2025-03-26')
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: this protocol version has no batches.',
    );
  const requests = messages.filter((message) => message.kind === 'request');
  const ids = new Set(requests.map(({ id }) => id));
  const duplicate = requests.find(({ id }) => mcp.inFlight.get(id) !== undefined);
  if (batched && (duplicate !== undefined || ids.size < requests.length))
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: an id stands twice in the batch, or is in flight.',
    );
  if (duplicate !== undefined) return Response.json(duplicateAnswer(duplicate));
  const taken = new Map(
    requests.map(({ id, method }): [RpcId, OpenRequest] => [
      id,
      { method, batched, delivered: false, begun: false },
    ]),
  );
  const full = !mcp.inFlight.add(taken);
  // Judged when all ids are known: a batch may cancel what stands in it. Where requests are too
  // many, what came with them counts all the same.
  const passes = (message: RpcMessage): boolean =>
    !isIdleCancel(message, mcp) && !(full && message.kind === 'request');
  const rest = batched
    ? (body as unknown[]).filter((_, index) => passes(messages[index] as RpcMessage))
    : passes(messages[0] as RpcMessage)
      ? [body]
      : [];
  let response: Response | undefined;
  try {
    response =
      rest.length === 0
        ? new Response(null, { status: 202 })
        : await mcp.handle(request, batched ? rest : body);
    for (const one of taken.values()) one.delivered = true;
    for (const message of messages) if (passes(message)) void abandonUnbegun(message, mcp);
    if (!full || requests.length === 0 || !response.ok) return response;
    const refused = requests.map(({ id }) => tooManyOpen(id));
    return Response.json(batched ? refused : refused[0]);
  } finally {
    // Refused by the transport: nothing will answer these.
    if (!full && response?.ok !== true) for (const id of ids) mcp.inFlight.delete(id);
  }
}

/**
 * A call that is cancelled before its handler has begun never has one where its parameters are
 * malformed: the package refuses it and, since it is cancelled, says nothing. Nobody else would
 * give its place back.
 */
async function abandonUnbegun(message: RpcMessage, mcp: McpSession): Promise<void> {
  const id = cancelledId(message);
  const target = id === undefined ? undefined : mcp.inFlight.get(id);
  if (id === undefined || target === undefined || !target.delivered) return;
  await nextTurn();
  if (!target.begun && mcp.inFlight.get(id) === target) mcp.abandon(id);
}

function cancelledId(message: RpcMessage): RpcId | undefined {
  if (
    message.kind !== 'notification' ||
    message.method !== 'notifications/cancelled' ||
    !isJsonObject(message.params)
  )
    return undefined;
  return message.params.requestId as RpcId;
}

/**
 * A cancellation of what is not a running call: what answers at once cannot be cancelled, and a
 * request that is cancelled so gets no answer.
 */
function isIdleCancel(message: RpcMessage, mcp: McpSession): boolean {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return false;
  const id = cancelledId(message);
  return id === undefined || mcp.inFlight.get(id)?.method !== 'tools/call';
}
