/** Tools over HTTP, in both eras of the protocol, as one web-standard function. */
import { MisuseError, type ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { describe as describeValue } from '../../../values/errors/index.ts';
import {
  corsHeaders,
  isHostAllowed,
  isOriginAllowed,
  listedOrigin,
  type OriginPolicy,
  preflightHeaders,
} from '../../../values/http/origin-guard.ts';
import { ActorsRefused, actThrough } from './acting.ts';
import { answerMetadata, refusedActors } from './authorization.ts';
import { createModernServing } from './modern.ts';
import {
  type HandlerSettings,
  type McpHandlerOptions,
  type McpSource,
  readHandlerOptions,
} from './options.ts';
import { learnScopes } from './request-scopes.ts';
import { createSessionFinder } from './resume.ts';
import { refusal, rpcCodes } from './rpc.ts';
import { loadSdk } from './sdk.ts';
import { type HandlerParts, type MakeSession, serve } from './serve.ts';
import { createMcpSessions } from './sessions.ts';
import { createOwnSessions, type OwnSessions } from './sourced.ts';
import { createPlaces } from './wire.ts';

/** A handler of HTTP requests that serves tools over MCP. */
export interface McpHandler {
  /**
   * Answers one request. Rejects only if the optional package is missing. The request's `signal`
   * should abort when its client goes away.
   * @throws MisuseError (as a rejection) `missing_dependency`.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Ends all MCP sessions and streams, and closes the sessions that the source has made.
   * Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Serves tools over MCP in both protocol eras: the 2025 era with MCP sessions, the 2026 era request
 * by request. Mount `fetch` wherever web-standard requests are answered, or wrap the handler with
 * `toNodeListener`.
 * @param source a session that all clients share, or a function that makes one for each client
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
  const own = createOwnSessions(settings.report);
  const makeSession = readSource(source, settings, own);
  let parts: Promise<HandlerParts> | undefined;
  let closing: Promise<void> | undefined;
  const answer = async (request: Request): Promise<Response> => {
    parts ??= loadParts(settings, makeSession);
    const loaded = await parts;
    const foreign = checkOrigin(request, policy);
    if (foreign !== undefined) return foreign;
    const cors = corsOf(request, policy);
    if (request.method === 'OPTIONS' && cors !== undefined) return preflight(request, cors);
    const { authorization, name } = settings;
    const response =
      (authorization && answerMetadata(request, authorization, name)) ??
      (await serve(loaded, request));
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
        if (error instanceof ActorsRefused) return refusedActors();
        return refusal(500, rpcCodes.internal, 'Internal error.');
      }
    },
    close() {
      closing ??= (async () => {
        const loaded = await parts?.catch(() => undefined);
        await Promise.all([loaded?.sessions.close(), loaded?.modern.close()]);
        await own.close();
      })();
      return closing;
    },
  };
}

async function loadParts(
  settings: HandlerSettings,
  makeSession: MakeSession,
): Promise<HandlerParts> {
  const sdk = await loadSdk();
  const requests = createPlaces(settings.maxRequests, settings.hasPrincipals);
  const sessions = createMcpSessions(sdk, settings, requests);
  return {
    sdk,
    settings,
    makeSession,
    sessions,
    finder: createSessionFinder(sessions, settings),
    modern: createModernServing(sdk, settings, requests),
  };
}

/** The logger of the registry behind a session. */
function loggerOf(source: unknown): object | undefined {
  try {
    return typeof source === 'function' ? undefined : inspectSession(source).registry.logger;
  } catch {
    // Not a session of this copy of the package. `readSource` checks whether it can be served.
    return undefined;
  }
}

function readSource(source: McpSource, settings: HandlerSettings, own: OwnSessions): MakeSession {
  if (typeof source === 'function') {
    return async ({ sender, request, era }) => {
      try {
        const { principal, scopes, clientId, actors, claims } = sender;
        const session = await source({
          ...(principal === undefined ? {} : { principal }),
          ...(scopes === undefined ? {} : { scopes }),
          ...(clientId === undefined ? {} : { clientId }),
          ...(actors === undefined ? {} : { actors }),
          ...(claims === undefined ? {} : { claims }),
          headers: request.headers,
          era,
        });
        if (scopes !== undefined) learnScopes(session, scopes);
        return own.of(session, actors === undefined ? session : actThrough(session, actors));
      } catch (error) {
        settings.logFault(error, 'source');
        throw error;
      }
    };
  }
  if (typeof (source as ToolSession | null)?.call !== 'function')
    throw new MisuseError(
      'invalid_option',
      'createMcpHandler: expected a session or a function that makes one, got ' +
        `${describeValue(source)}.`,
    );
  const shared = { session: source, owned: false, end: async () => {} };
  return async ({ sender: { actors } }) =>
    actors === undefined ? shared : own.inside(actThrough(source, actors));
}

// The guard of an MCP handler against foreign hosts and web pages, and its CORS headers.

/** What a handler accepts. */
function originPolicy({ allowedHosts, allowedOrigins }: HandlerSettings): OriginPolicy {
  return {
    allowedHosts: allowedHosts && new Set(allowedHosts),
    allowedOrigins: allowedOrigins && new Set(allowedOrigins),
    unlistedHosts: 'loopback',
    unlistedOrigins: 'loopback',
    spelling: 'normalized',
  };
}

/** 403 for a host or an origin that is not allowed. */
function checkOrigin(request: Request, policy: OriginPolicy): Response | undefined {
  if (!isHostAllowed(request, policy))
    return refusal(403, rpcCodes.server, 'This Host is not allowed here.');
  if (!isOriginAllowed(request, policy))
    return refusal(403, rpcCodes.server, 'This Origin is not allowed here.');
  return undefined;
}

const corsMethods = 'GET, POST, DELETE';
const corsRequestHeaders =
  'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, ' +
  'Mcp-Method, Mcp-Name';
const exposedHeaders = 'Mcp-Session-Id, WWW-Authenticate';

/** CORS headers for listed origins only. */
function corsOf(
  request: Request,
  policy: OriginPolicy,
): Readonly<Record<string, string>> | undefined {
  const origin = listedOrigin(request, policy);
  return origin === undefined
    ? undefined
    : { ...corsHeaders(origin, policy, exposedHeaders), Vary: 'Origin' };
}

/** Most headers of one preflight that repeat arguments. */
const maxParamHeaders = 100;

/**
 * The answer to a browser's preflight request. Tools name the headers that repeat their arguments,
 * so those that the browser asks for are allowed.
 */
function preflight(request: Request, cors: Readonly<Record<string, string>>): Response {
  const asked = (request.headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim());
  const params = asked
    .filter((name) => name.length <= 256 && /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name))
    .slice(0, maxParamHeaders);
  return new Response(null, {
    status: 204,
    headers: {
      ...cors,
      ...preflightHeaders(corsMethods, [corsRequestHeaders, ...params].join(', ')),
      Vary: 'Origin, Access-Control-Request-Headers',
    },
  });
}
