/**
 * The relay as one web-standard function. Every request passes the host and origin guard, finds its
 * route, is authenticated, and is answered and counted.
 */
import type { OriginPolicy } from '../../../values/http/origin-guard.ts';
import { leaving, type RelayError, relayError } from '../relay-error.ts';
import { isCode, logName } from '../secrets.ts';
import {
  authorize,
  bearerOf,
  checkHostKey,
  findSession,
  type RecentSessions,
  recentSessions,
} from './access.ts';
import { agentRoutes } from './agent-routes.ts';
import type { BodyBounds } from './bodies.ts';
import { admitOverMcp, metadataFor } from './mcp-access.ts';
import { mcpRoute } from './mcp-route.ts';
import {
  clientOf,
  type Exchange,
  type NodeParts,
  type OpenHandlers,
  type SessionExchange,
  type SessionHandlers,
} from './node-parts.ts';
import { operationRoutes } from './operations.ts';
import {
  addressOf,
  checkHost,
  checkOrigin,
  corsOf,
  originPolicy,
  preflightOf,
} from './origin-guard.ts';
import { progressRoute, responseRoute } from './response-route.ts';
import {
  type Answered,
  commonHeaders,
  errorAnswer,
  isReply,
  jsonHeaders,
  type Reply,
  toRelayError,
  toResponse,
} from './responses.ts';
import { findPlace, type OpenRouteName, type Place, type Route } from './route-table.ts';
import { openSessionRoutes, sessionRoutes } from './session-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { toolRoutes } from './tool-routes.ts';

/** What only the server knows about a request. */
export interface RequestInfo {
  /**
   * The address of the client's end of the connection, for per-address limits, unless
   * `clientAddress` or `trustProxy` is set. @default unknown: no per-address limits
   */
  readonly address?: string | undefined;
}

/** A request that has passed the checks of its route. */
export interface Entered {
  readonly route: Route;
  /** With a session if the route belongs to one. */
  readonly exchange: Exchange | SessionExchange;
}

/** Answers the requests of a node. */
export interface App {
  /** Answers a request. Never rejects. */
  fetch(request: Request, info: RequestInfo): Promise<Answered>;
  /**
   * Runs all checks, but does not answer.
   * @throws RelayError
   */
  enter(request: Request, info: RequestInfo): Promise<Entered>;
  /**
   * Makes the answer to a failed request, with the headers that its origin needs, and counts it.
   */
  refuse(request: Request, error: unknown): Response;
}

const openNames: ReadonlySet<string> = new Set<OpenRouteName>([
  'create',
  'pair',
  'openapi',
  'healthz',
  'readyz',
  'metrics',
]);
const noBody: BodyBounds = { maxBytes: 0, maxValues: 0 };
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** The parts of a node, with the handlers of its routes. */
interface AppParts {
  readonly parts: NodeParts;
  readonly policy: OriginPolicy;
  readonly recent: RecentSessions;
  readonly open: OpenHandlers;
  readonly session: SessionHandlers;
}

/** Makes the web-standard function of a node. */
export function createApp(parts: NodeParts): App {
  const app: AppParts = {
    parts,
    policy: originPolicy(parts.origins),
    recent: recentSessions(parts.settings),
    open: { ...operationRoutes(parts), ...openSessionRoutes(parts) },
    session: {
      ...sessionRoutes(parts),
      ...toolRoutes(parts),
      ...streamRoutes(parts),
      ...responseRoute(parts),
      ...progressRoute(parts),
      ...agentRoutes(parts),
      ...mcpRoute(parts),
    },
  };
  return {
    async enter(request, info) {
      checkHost(request, app.policy);
      checkOrigin(request, app.policy);
      return enterAt(app, findPlace(pathOf(request.url)), request, info);
    },
    refuse(request, error) {
      const refusal = relayErrorOf(parts, error);
      parts.counters.answered(undefined, refusal.status, refusal.error);
      return toResponse(finish(app.policy, request, errorAnswer(refusal)));
    },
    fetch: (request, info) => respond(app, request, info),
  };
}

/** Answers, counts and logs a request. */
async function respond(app: AppParts, request: Request, info: RequestInfo): Promise<Answered> {
  const { parts, policy } = app;
  const startedAt = performance.now();
  const place = findPlace(pathOf(request.url));
  let refusal: RelayError | undefined;
  let entered: Entered | undefined;
  let response: Answered;
  let client: string | undefined;
  let workedFrom = startedAt;
  try {
    if (!probes.has(place?.path ?? '')) checkHost(request, policy);
    checkOrigin(request, policy);
    if (request.method === 'OPTIONS' && place !== undefined)
      response = new Response(null, {
        status: 204,
        headers: { Allow: place.allow, ...preflightOf(request, policy) },
      });
    else if (place === undefined && parts.origins.authorization !== undefined) {
      const metadata = await metadataFor(parts.origins.authorization, request);
      if (metadata === undefined) throw noRoute();
      response = metadata;
    } else {
      entered = await enterAt(app, place, request, info);
      client = clientOf(entered.exchange);
      const turn = client === undefined ? undefined : parts.pace.enter(client);
      if (turn !== undefined) {
        await turn;
        workedFrom = performance.now();
      }
      response = await handle(app, entered);
    }
  } catch (error) {
    refusal = relayErrorOf(parts, error);
    response = errorAnswer(refusal);
  }
  if (client !== undefined && response.status >= 400 && response.status < 500)
    parts.pace.refused(client, performance.now() - workedFrom);
  parts.counters.answered(entered?.route.name, response.status, refusal?.error);
  const code = place?.params.code;
  parts.settings.logger.info(
    {
      method: request.method.slice(0, 20),
      route: place?.path ?? 'none',
      status: response.status,
      ms: Math.round(performance.now() - startedAt),
      ...(code !== undefined && isCode(code) ? { session: logName(code) } : {}),
      ...(refusal === undefined ? {} : { error: refusal.error }),
    },
    'relay request',
  );
  return finish(policy, request, response);
}

/** Finds the route of a request and checks that the client may use it now. */
async function enterAt(
  app: AppParts,
  place: Place | undefined,
  request: Request,
  info: RequestInfo,
): Promise<Entered> {
  const { parts } = app;
  if (place === undefined) throw noRoute();
  const { code } = place.params;
  if (code !== undefined && !isCode(code))
    throw relayError(400, 'invalid_session_code', 'Session code must be 8-character Base32 format');
  const route = routeOf(place, request.method);
  if (
    (parts.draining.aborted && !route.late) ||
    (parts.closed.aborted && route.access !== 'anyone')
  )
    throw leaving();
  const exchange: Exchange = {
    request,
    params: place.params,
    address: () => addressOf(request, info.address, parts.origins, parts.report),
    bounds: route.body ?? noBody,
  };
  const admitted = admit(app, route, request, code ?? '');
  return {
    route,
    exchange: admitted === undefined ? exchange : entering(exchange, await admitted),
  };
}

function entering(
  { request, params, address, bounds }: Exchange,
  { document, side, sender }: Pick<SessionExchange, 'document' | 'side' | 'sender'>,
): SessionExchange {
  return { request, params, address, bounds, document, side, sender };
}

/** Checks that the client may use a route. Undefined for a route without a session. */
function admit(
  { parts, recent }: AppParts,
  { name, access, ticket }: Route,
  request: Request,
  code: string,
): Promise<Pick<SessionExchange, 'document' | 'side' | 'sender'>> | undefined {
  const { settings, origins } = parts;
  const { store, now } = settings;
  if (access === 'anyone') return undefined;
  if (access === 'operator' && !origins.metrics) throw noRoute();
  if (access === 'creator' || access === 'host' || access === 'operator') {
    const { hostKeyHash } = origins;
    if (hostKeyHash !== undefined) checkHostKey(bearerOf(request), hostKeyHash);
    else if (access !== 'creator') throw noRoute();
    return access !== 'host'
      ? undefined
      : findSession(store, now(), code).then((document) => ({ document, side: 'host' }));
  }
  if (name === 'mcp' && origins.authorization !== undefined)
    return admitOverMcp(parts, origins.authorization, request, code, async () =>
      authorize(store, now(), { code, access, token: bearerOf(request), ticket: undefined }),
    );
  const shown = ticket ? (new URL(request.url).searchParams.get('ticket') ?? undefined) : undefined;
  const asked = { code, access, token: bearerOf(request), ticket: shown };
  return name === 'response' ? recent.authorize(asked) : authorize(store, now(), asked);
}

function handle(
  { open, session }: AppParts,
  { route: { name }, exchange }: Entered,
): Promise<Answered> {
  return openNames.has(name)
    ? open[name as OpenRouteName](exchange)
    : session[name as Exclude<Route['name'], OpenRouteName>](exchange as SessionExchange);
}

/** The headers of most answers, made once. */
const commonJsonHeaders: Reply['headers'] = { ...commonHeaders, ...jsonHeaders };

/** Adds the headers that every answer has. */
function finish(policy: OriginPolicy, request: Request, answered: Answered): Answered {
  if (isReply(answered) && policy.allowedOrigins === undefined && request.method !== 'HEAD') {
    const { status, headers, text } = answered;
    return {
      status,
      headers: headers === jsonHeaders ? commonJsonHeaders : { ...commonHeaders, ...headers },
      text,
    };
  }
  const { Vary, ...cors } = corsOf(request, policy);
  if (isReply(answered)) {
    const { status, text } = answered;
    const own = answered.headers.Vary;
    const vary = Vary === undefined ? {} : { Vary: own === undefined ? Vary : `${own}, ${Vary}` };
    const headers = { ...commonHeaders, ...answered.headers, ...cors, ...vary };
    return { status, headers, text: request.method === 'HEAD' ? undefined : text };
  }
  const { headers } = answered;
  // A stream has its own caching headers.
  for (const [name, value] of Object.entries(commonHeaders))
    if (!headers.has(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(cors)) headers.set(name, value);
  if (Vary !== undefined) headers.append('Vary', Vary);
  if (request.method !== 'HEAD') return answered;
  void answered.body?.cancel().catch(() => {});
  return new Response(null, { status: answered.status, headers });
}

function relayErrorOf({ report }: NodeParts, error: unknown): RelayError {
  return toRelayError(error, (fault) => report('internal', fault));
}

function noRoute(): RelayError {
  return relayError(404, 'not_found', 'There is no such route here.');
}

/** The path of an absolute URL. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end);
}

/**
 * The route for a method. HEAD is answered like GET without a body, but not for streams.
 * @throws RelayError 405 `method_not_allowed`
 */
function routeOf({ methods, allow }: Place, method: string): Route {
  const route = methods.get(method === 'HEAD' ? 'GET' : method);
  if (route === undefined || (method === 'HEAD' && route.stream))
    throw relayError(405, 'method_not_allowed', `Expected one of ${allow}.`, {
      headers: { Allow: allow },
    });
  return route;
}
