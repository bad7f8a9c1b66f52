/** Answers one HTTP request, by its method, its session and its protocol era. */

import { isJsonObject } from '../../../values/json/index.ts';
import { nextTurn } from '../../../values/limits/stretches.ts';
import { withDeadline } from '../../../values/limits/with-deadline.ts';
import { checkToken, type Sender, verifyMs } from './authorization.ts';
import { readBody } from './body.ts';
import type { ModernServing } from './modern.ts';
import type { HandlerSettings } from './options.ts';
import { calledIn, learnScopes, refuseScopes } from './request-scopes.ts';
import { type McpSessionFinder, tooMany } from './resume.ts';
import {
  duplicateAnswer,
  isTooFullBeside,
  maxIdLength,
  type RpcId,
  type RpcMessage,
  readMessage,
  refusal,
  rpcCodes,
  tooFullBeside,
  tooManyOpen,
} from './rpc.ts';
import type { Sdk } from './sdk.ts';
import type { McpSession } from './session.ts';
import type { McpSessions } from './sessions.ts';
import type { Sourced } from './sourced.ts';
import type { OpenRequest } from './wire.ts';

/** Gives the tool session for a client. */
export type MakeSession = (client: {
  sender: Sender;
  request: Request;
  era: 'legacy' | 'modern';
}) => Promise<Sourced>;

/** What a handler needs. */
export interface HandlerParts {
  readonly sdk: Sdk;
  readonly settings: HandlerSettings;
  readonly makeSession: MakeSession;
  readonly sessions: McpSessions;
  readonly finder: McpSessionFinder;
  readonly modern: ModernServing;
}

/** A request with its sender. */
interface Asked {
  readonly request: Request;
  readonly sender: Sender;
  /** The MCP session that it names. */
  readonly id: string | null;
}

/** @param request has passed the checks of its host and origin */
export async function serve(parts: HandlerParts, request: Request): Promise<Response> {
  const { method, headers } = request;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
    return refusal(405, rpcCodes.server, 'Method not allowed.', { Allow: 'GET, POST, DELETE' });
  const sender = await authenticate(request, parts.settings);
  // Another server may have replaced the global class of responses.
  if (!('principal' in sender)) return sender;
  const id = headers.get('mcp-session-id');
  if (method === 'POST') return servePost(parts, { request, sender, id });
  if (method === 'DELETE')
    return parts.finder.end(id, sender, (found) => found.handle(request, undefined));
  const found = await findSession(parts, { request, sender, id });
  return 'handle' in found ? found.handle(request, undefined) : found;
}

function findSession(
  { finder, makeSession }: HandlerParts,
  { request, sender, id }: Asked,
): Promise<McpSession | Response> {
  return finder.find(id, sender, () => makeSession({ sender, request, era: 'legacy' }));
}

async function servePost(parts: HandlerParts, asked: Asked): Promise<Response> {
  const { sdk, modern, makeSession } = parts;
  const { request, sender } = asked;
  if (!sdk.isJsonContentType(request.headers.get('content-type')))
    return refusal(415, rpcCodes.server, 'Unsupported Media Type: expected application/json.');
  const read = await readBody(request);
  if (read instanceof Response) return read;
  const body = read.value;
  const messages = readMessages(body);
  if (messages instanceof Response) return messages;
  const era = (await sdk.isLegacyRequest(request, body)) ? 'legacy' : 'modern';
  const source = (): Promise<Sourced> => makeSession({ sender, request, era });
  if (era === 'modern') return modern.fetch(request, body, sender, source);
  if (
    !Array.isArray(body) &&
    asked.id === null &&
    (body as { method?: unknown }).method === 'initialize'
  )
    return initialize(parts, asked, body, source);
  const found = await findSession(parts, asked);
  if (!('handle' in found)) return found;
  const { scopes } = sender;
  const refused = await refuseScopes(
    request,
    parts.settings,
    scopes,
    found.sourced.session,
    messages,
    messages.flatMap((one) => (one.kind === 'response' ? found.inFlight.toolsAsking(one.id) : [])),
  );
  if (refused === undefined) return deliver(request, body, messages, found, scopes);
  parts.settings.report(new Error('A request was refused: the token lacks scopes of the tool.'));
  return refused;
}

/** The messages of a body, in its order, or the refusal. */
function readMessages(body: unknown): readonly RpcMessage[] | Response {
  const values: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (isTooFullBeside(values)) {
    const message = readMessage(body);
    return refusal(
      413,
      rpcCodes.server,
      tooFullBeside,
      {},
      message?.kind === 'request' ? message.id : null,
    );
  }
  const messages = values.map(readMessage);
  if (messages.length === 0 || messages.includes(undefined))
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: the body is not a JSON-RPC message. Its id may have at most ' +
        `${maxIdLength} characters.`,
    );
  return messages as RpcMessage[];
}

async function initialize(
  { sdk, settings, sessions, finder }: HandlerParts,
  { request, sender }: Asked,
  body: unknown,
  source: () => Promise<Sourced>,
): Promise<Response> {
  if (!sdk.isInitializeRequest(body))
    return refusal(
      400,
      -32_602,
      'Invalid params: `initialize` needs protocolVersion, capabilities and clientInfo.',
    );
  const opened = await sessions.open(source, sender.principal);
  if (opened === undefined) return tooMany();
  let isKnown = false;
  try {
    const response = await opened.handle(request, body);
    const refused = response.ok ? await finder.began(opened, sender, body) : undefined;
    isKnown = response.ok && refused === undefined;
    return refused ?? response;
  } finally {
    // No client has learned its id.
    if (!isKnown) await opened.close().catch(settings.report);
  }
}

const nobody: Sender = { principal: undefined, scopes: undefined };

/** The sender, or 401. */
async function authenticate(
  request: Request,
  settings: HandlerSettings,
): Promise<Sender | Response> {
  const { authorization } = settings;
  const failed = (error: unknown, source: string): void => {
    settings.logFault(error, source);
    settings.report(error);
  };
  if (authorization !== undefined)
    return checkToken(
      request,
      authorization,
      (error) => failed(error, 'authorization.verify'),
      settings.report,
    );
  if (settings.authenticate === undefined) return nobody;
  let principal: unknown;
  try {
    principal = await withDeadline(Promise.resolve(settings.authenticate(request)), verifyMs);
  } catch (error) {
    failed(error, 'authenticate');
  }
  if (typeof principal === 'string' && principal !== '') return { principal, scopes: undefined };
  const challenge = request.headers.has('authorization')
    ? 'Bearer error="invalid_token"'
    : 'Bearer';
  return refusal(401, rpcCodes.server, 'Authentication is needed.', {
    'WWW-Authenticate': challenge,
  });
}

/** Hands the messages of a POST to their MCP session, each id once while it is in flight. */
type RpcRequest = RpcMessage & { readonly kind: 'request' };

/** @param messages the messages of `body`, in its order */
async function deliver(
  request: Request,
  body: unknown,
  messages: readonly RpcMessage[],
  mcp: McpSession,
  scopes: readonly string[] | undefined,
): Promise<Response> {
  const batched = Array.isArray(body);
  const requests = messages.filter((message) => message.kind === 'request');
  const ids = new Set(requests.map(({ id }) => id));
  const refused = refusedDelivery(batched, requests, ids, mcp);
  if (refused !== undefined) return refused;
  const taken = new Map(
    requests.map((one): [RpcId, OpenRequest] => [
      one.id,
      {
        method: one.method,
        batched,
        delivered: false,
        begun: false,
        tools: new Set(calledIn(one, mcp.sourced.session)),
        asks: new Set(),
      },
    ]),
  );
  // Nothing is awaited until the request is in flight: another one would not see that it is open,
  // and would set facts that this one lacks.
  if (mcp.sourced.owned && scopes !== undefined)
    learnScopes(mcp.sourced.session, scopes, mcp.inFlight.size > 0);
  const full = !mcp.inFlight.add(taken);
  // Decided after all ids are taken, because a batch may cancel a request of its own. If there are
  // too many requests, the other messages are still delivered.
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
        : await mcp.handle(request, batched ? rest : body, scopes);
    for (const one of taken.values()) one.delivered = true;
    for (const message of messages) if (passes(message)) void abandonUnbegun(message, mcp);
    if (!full || requests.length === 0 || !response.ok) return response;
    const answers = requests.map(({ id }) => tooManyOpen(id));
    return Response.json(batched ? answers : answers[0]);
  } finally {
    // The transport refused the requests, so nothing will answer them.
    if (!full && response?.ok !== true) for (const id of ids) mcp.inFlight.delete(id);
  }
}

function refusedDelivery(
  batched: boolean,
  requests: readonly RpcRequest[],
  ids: ReadonlySet<RpcId>,
  mcp: McpSession,
): Response | undefined {
  // Only this version of the protocol has batches.
  if (batched && mcp.version() !== '2025-03-26')
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: this protocol version has no batches.',
    );
  const duplicate = requests.find(({ id }) => mcp.inFlight.get(id) !== undefined);
  if (batched && (duplicate !== undefined || ids.size < requests.length))
    return refusal(
      400,
      rpcCodes.invalidRequest,
      'Invalid Request: an id is in the batch twice, or is already in flight.',
    );
  return duplicate === undefined ? undefined : Response.json(duplicateAnswer(duplicate));
}

/**
 * Frees the place of a cancelled call whose handler never begins. If the parameters of such a call
 * are malformed, the package refuses it and, because it is cancelled, sends no answer. Nothing else
 * would free its place.
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
 * Whether a message cancels anything but a running call. Other requests are answered at once. They
 * cannot be cancelled, because a cancelled request would get no answer.
 */
function isIdleCancel(message: RpcMessage, mcp: McpSession): boolean {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return false;
  const id = cancelledId(message);
  return id === undefined || mcp.inFlight.get(id)?.method !== 'tools/call';
}
