/**
 * The relay as one web-standard function: every request passes the door, finds its route, shows who
 * it is, and is answered and counted.
 */

import { leaving, type RelayError, relayError } from '../relay-error.ts';
import { isCode, logName } from '../secrets.ts';
import { authorize, bearerOf, checkHostKey, findSession } from './access.ts';
import { agentRoutes } from './agent-routes.ts';
import type { BodyBounds } from './bodies.ts';
import { addressOf } from './client-address.ts';
import { mcpRoute } from './mcp-route.ts';
import type {
  Exchange,
  NodeParts,
  OpenHandlers,
  SessionExchange,
  SessionHandlers,
} from './node-parts.ts';
import { operationRoutes } from './operations.ts';
import { checkHost, checkOrigin, corsOf, originPolicy, preflightOf } from './origin-guard.ts';
import { type Answered, isReply, toResponse } from './reply.ts';
import { responseRoute } from './response-route.ts';
import { commonHeaders, errorAnswer, toRelayError } from './responses.ts';
import type { OpenRouteName, Route } from './route-table.ts';
import { findPlace, type Place } from './router.ts';
import { openSessionRoutes, sessionRoutes } from './session-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { toolRoutes } from './tool-routes.ts';

/** What only the server knows of a request. */
export interface RequestInfo {
  /**
   * The address at the other end of the connection. It counts for limits an address, unless
   * `clientAddress` or `trustProxy` say otherwise. @default nobody knows it: no such limits
   */
  readonly address?: string | undefined;
}

/** A request that may be answered by its handler. */
export interface Entered {
  readonly route: Route;
  /** With a session where the route is one of a session. */
  readonly exchange: Exchange | SessionExchange;
}

/** The relay's front. */
export interface App {
  /** Answers; never rejects. */
  fetch(request: Request, info: RequestInfo): Promise<Answered>;
  /** Does all but answer. @throws RelayError */
  enter(request: Request, info: RequestInfo): Promise<Entered>;
  /**
   * What an error is answered with: counted, and with the headers that the request's origin needs.
   */
  refuse(request: Request, error: unknown): Response;
}

const openNames: ReadonlySet<string> = new Set<OpenRouteName>([
  'create',
  'pair',
  'openapi',
  'healthz',
  'readyz',
]);
const noBody: BodyBounds = { maxBytes: 0, maxValues: 0 };
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Makes the front of a node. */
export function createApp(parts: NodeParts): App {
  const { settings, origins: door, counters, report } = parts;
  const policy = originPolicy(door);
  const open: OpenHandlers = { ...operationRoutes(parts), ...openSessionRoutes(parts) };
  const session: SessionHandlers = {
    ...sessionRoutes(parts),
    ...toolRoutes(parts),
    ...streamRoutes(parts),
    ...responseRoute(parts),
    ...agentRoutes(parts),
    ...mcpRoute(parts),
  };

  const enterAt = async (
    place: Place | undefined,
    request: Request,
    info: RequestInfo,
  ): Promise<Entered> => {
    if (place === undefined) throw relayError(404, 'not_found', 'There is no such route here.');
    const { code } = place.params;
    if (code !== undefined && !isCode(code))
      throw relayError(
        400,
        'invalid_session_code',
        'Session code must be 8-character Base32 format',
      );
    const route = routeOf(place, request.method);
    if (
      (parts.draining.aborted && !route.late) ||
      (parts.closed.aborted && route.access !== 'anyone')
    )
      throw leaving();
    const exchange: Exchange = {
      request,
      params: place.params,
      address: await addressOf(request, info.address, door, report),
      bounds: route.body ?? noBody,
    };
    return { route, exchange: await authorized(route, exchange) };
  };

  const authorized = async (
    route: Route,
    exchange: Exchange,
  ): Promise<Exchange | SessionExchange> => {
    const { access, ticket } = route;
    const { request } = exchange;
    const { code = '' } = exchange.params;
    if (access === 'anyone') return exchange;
    if (access === 'creator' || access === 'host') {
      const { hostKeyHash } = door;
      if (hostKeyHash !== undefined) checkHostKey(bearerOf(request), hostKeyHash);
      else if (access === 'host')
        throw relayError(404, 'not_found', 'There is no such route here.');
      return access === 'creator'
        ? exchange
        : {
            ...exchange,
            document: await findSession(settings.store, settings.now(), code),
            side: 'host',
          };
    }
    const shown = ticket
      ? (new URL(request.url).searchParams.get('ticket') ?? undefined)
      : undefined;
    const asked = { code, access, token: bearerOf(request), ticket: shown };
    return { ...exchange, ...(await authorize(settings.store, settings.now(), asked)) };
  };

  const handle = async ({ route: { name }, exchange }: Entered): Promise<Answered> =>
    openNames.has(name)
      ? open[name as OpenRouteName](exchange)
      : session[name as Exclude<Route['name'], OpenRouteName>](exchange as SessionExchange);

  /** Puts on what every answer has. */
  const finish = (request: Request, answered: Answered): Answered => {
    const { Vary, ...cors } = corsOf(request, policy);
    if (isReply(answered)) {
      const { status, text } = answered;
      const vary =
        Vary === undefined
          ? {}
          : {
              Vary:
                answered.headers.Vary === undefined ? Vary : `${answered.headers.Vary}, ${Vary}`,
            };
      const headers = { ...commonHeaders, ...answered.headers, ...cors, ...vary };
      return { status, headers, text: request.method === 'HEAD' ? undefined : text };
    }
    const { headers } = answered;
    // A stream says itself how it is to be handled on the way.
    for (const [name, value] of Object.entries(commonHeaders))
      if (!headers.has(name)) headers.set(name, value);
    for (const [name, value] of Object.entries(cors)) headers.set(name, value);
    if (Vary !== undefined) headers.append('Vary', Vary);
    if (request.method !== 'HEAD') return answered;
    void answered.body?.cancel().catch(() => {});
    return new Response(null, { status: answered.status, headers });
  };

  return {
    async enter(request, info) {
      checkHost(request, policy);
      checkOrigin(request, policy);
      return enterAt(findPlace(pathOf(request.url)), request, info);
    },

    refuse(request, error) {
      const refusal = toRelayError(error, (fault) => report('internal', fault));
      counters.answered(undefined, refusal.status, refusal.error);
      return toResponse(finish(request, errorAnswer(refusal)));
    },

    async fetch(request, info) {
      const startedAt = performance.now();
      const place = findPlace(pathOf(request.url));
      let refusal: RelayError | undefined;
      let entered: Entered | undefined;
      let response: Answered;
      try {
        if (!probes.has(place?.path ?? '')) checkHost(request, policy);
        checkOrigin(request, policy);
        if (request.method === 'OPTIONS' && place !== undefined)
          response = new Response(null, {
            status: 204,
            headers: { Allow: place.allow, ...preflightOf(request, policy) },
          });
        else {
          entered = await enterAt(place, request, info);
          response = await handle(entered);
        }
      } catch (error) {
        refusal = toRelayError(error, (fault) => report('internal', fault));
        response = errorAnswer(refusal);
      }
      counters.answered(entered?.route.name, response.status, refusal?.error);
      const code = place?.params.code;
      settings.logger.info(
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
      return finish(request, response);
    },
  };
}

/** The path of an absolute address. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end);
}

/**
 * HEAD is GET without a body, where that ends by itself. @throws RelayError 405
 * `method_not_allowed`
 */
function routeOf({ methods, allow }: Place, method: string): Route {
  const route = methods.get(method === 'HEAD' ? 'GET' : method);
  if (route === undefined || (method === 'HEAD' && route.stream))
    throw relayError(405, 'method_not_allowed', `Expected one of ${allow}.`, {
      headers: { Allow: allow },
    });
  return route;
}
