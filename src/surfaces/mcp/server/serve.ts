/** Answers one HTTP request, by its method, its session and its protocol era. */
import { authenticate } from './authenticate.ts';
import { readBody } from './body.ts';
import { deliver } from './deliver.ts';
import type { ModernServing } from './modern.ts';
import type { HandlerSettings } from './options.ts';
import { refusal } from './refusal.ts';
import { type McpSessionFinder, tooMany } from './resume.ts';
import {
  isTooFullBeside,
  maxIdLength,
  type RpcMessage,
  readMessage,
  rpcCodes,
  tooFullBeside,
} from './rpc.ts';
import type { Sdk } from './sdk.ts';
import type { McpSession, Sourced } from './session.ts';
import type { McpSessions } from './sessions.ts';

/** Gives the tool session for a client. */
export type MakeSession = (client: {
  principal: string | undefined;
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
  readonly principal: string | undefined;
  /** The MCP session that it names. */
  readonly id: string | null;
}

/** @param request has passed the checks of its host and origin */
export async function serve(parts: HandlerParts, request: Request): Promise<Response> {
  const { method, headers } = request;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
    return refusal(405, rpcCodes.server, 'Method not allowed.', { Allow: 'GET, POST, DELETE' });
  const who = await authenticate(request, parts.settings);
  if (who instanceof Response) return who;
  const { principal } = who;
  const id = headers.get('mcp-session-id');
  if (method === 'POST') return servePost(parts, { request, principal, id });
  if (method === 'DELETE')
    return parts.finder.end(id, principal, (found) => found.handle(request, undefined));
  const found = await findSession(parts, { request, principal, id });
  return 'handle' in found ? found.handle(request, undefined) : found;
}

function findSession(
  { finder, makeSession }: HandlerParts,
  { request, principal, id }: Asked,
): Promise<McpSession | Response> {
  return finder.find(id, principal, () => makeSession({ principal, request, era: 'legacy' }));
}

async function servePost(parts: HandlerParts, asked: Asked): Promise<Response> {
  const { sdk, modern, makeSession } = parts;
  const { request, principal } = asked;
  if (!sdk.isJsonContentType(request.headers.get('content-type')))
    return refusal(415, rpcCodes.server, 'Unsupported Media Type: expected application/json.');
  const read = await readBody(request);
  if (read instanceof Response) return read;
  const body = read.value;
  const messages = readMessages(body);
  if (messages instanceof Response) return messages;
  const era = (await sdk.isLegacyRequest(request, body)) ? 'legacy' : 'modern';
  const source = (): Promise<Sourced> => makeSession({ principal, request, era });
  if (era === 'modern') return modern.fetch(request, body, principal, source);
  if (
    !Array.isArray(body) &&
    asked.id === null &&
    (body as { method?: unknown }).method === 'initialize'
  )
    return initialize(parts, asked, body, source);
  const found = await findSession(parts, asked);
  return 'handle' in found ? deliver(request, body, messages, found) : found;
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
  { request, principal }: Asked,
  body: unknown,
  source: () => Promise<Sourced>,
): Promise<Response> {
  if (!sdk.isInitializeRequest(body))
    return refusal(
      400,
      -32_602,
      'Invalid params: `initialize` needs protocolVersion, capabilities and clientInfo.',
    );
  const opened = await sessions.open(source, principal);
  if (opened === undefined) return tooMany();
  let isKnown = false;
  try {
    const response = await opened.handle(request, body);
    const refused = response.ok ? await finder.began(opened, body) : undefined;
    isKnown = response.ok && refused === undefined;
    return refused ?? response;
  } finally {
    // No client has learned its id.
    if (!isKnown) await opened.close().catch(settings.report);
  }
}
