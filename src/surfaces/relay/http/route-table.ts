/** The relay's routes. The router and the OpenAPI document use the same table. */
import {
  type BodyBounds,
  callBody,
  progressBody,
  responseBody,
  smallBody,
  toolsBody,
} from './bodies.ts';

/** The path of all sessions. */
export const basePath = '/api/sessions';

/**
 * Who may use a route. `creator`: anyone, or only the host if it has set a key. `either`: both
 * sides of the session. `operator`: the host, if the option `metrics` is on.
 */
export type Access =
  | 'anyone'
  | 'operator'
  | 'creator'
  | 'host'
  | 'application'
  | 'agent'
  | 'either';

/** A route of the relay. */
export interface Route {
  readonly name: RouteName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments that start with a colon match any value. */
  readonly path: string;
  readonly access: Access;
  /** Also accepts a `?ticket=` instead of a token. */
  readonly ticket?: true;
  /** Limits of the request body. Absent for a route without a body. */
  readonly body?: BodyBounds;
  /** The answer is a stream that does not end by itself. */
  readonly stream?: true;
  /** Also answers while the node shuts down. */
  readonly late?: true;
}

/** Routes without a session's token. */
export type OpenRouteName = 'create' | 'pair' | 'openapi' | 'healthz' | 'readyz' | 'metrics';
/** Routes of a session. */
export type SessionRouteName =
  | 'ticket'
  | 'register-tools'
  | 'update-tools'
  | 'stream'
  | 'response'
  | 'progress'
  | 'delete'
  | 'extend'
  | 'request'
  | 'request-status'
  | 'request-cancel'
  | 'events'
  | 'agent'
  | 'mcp'
  | 'approval'
  | 'metadata';
/** The name of a route in logs. */
export type RouteName = OpenRouteName | SessionRouteName;

/** The optional properties of a route. */
type More = Pick<Route, 'ticket' | 'body' | 'stream' | 'late'>;

const route = (
  name: RouteName,
  method: Route['method'],
  path: string,
  access: Access,
  more: More = {},
): Route => ({ name, method, path, access, ...more });

const ofSession = `${basePath}/:code`;
const late = { late: true } as const;
const stream = { ticket: true, stream: true } as const;

/** All routes. Earlier ones are matched first. */
export const routes: readonly Route[] = [
  route('healthz', 'GET', '/healthz', 'anyone', late),
  route('readyz', 'GET', '/readyz', 'anyone', late),
  route('metrics', 'GET', '/metrics', 'operator', late),
  route('openapi', 'GET', '/openapi.json', 'anyone'),
  route('openapi', 'GET', `${basePath}/openapi.json`, 'anyone'),
  route('create', 'POST', basePath, 'creator', { body: smallBody }),
  route('delete', 'DELETE', ofSession, 'application'),
  route('extend', 'POST', `${ofSession}/extend`, 'host', { body: smallBody }),
  route('pair', 'POST', `${ofSession}/pair`, 'anyone', { body: smallBody }),
  route('ticket', 'POST', `${ofSession}/ticket`, 'either'),
  route('metadata', 'GET', `${ofSession}/metadata`, 'either'),
  route('register-tools', 'POST', `${ofSession}/register-tools`, 'application', {
    body: toolsBody,
  }),
  route('update-tools', 'POST', `${ofSession}/update-tools`, 'application', { body: toolsBody }),
  route('stream', 'GET', `${ofSession}/stream`, 'application', stream),
  route('response', 'POST', `${ofSession}/response`, 'application', {
    body: responseBody,
    ...late,
  }),
  route('progress', 'POST', `${ofSession}/progress`, 'application', {
    body: progressBody,
    ...late,
  }),
  route('request', 'POST', `${ofSession}/request`, 'agent', { body: callBody }),
  route('request-status', 'GET', `${ofSession}/requests/:requestId`, 'agent', late),
  route('request-cancel', 'DELETE', `${ofSession}/requests/:requestId`, 'agent', late),
  route('events', 'GET', `${ofSession}/events`, 'agent', stream),
  route('agent', 'GET', `${ofSession}/agent`, 'agent', stream),
  route('mcp', 'POST', `${ofSession}/mcp`, 'agent', { body: callBody }),
  route('mcp', 'GET', `${ofSession}/mcp`, 'agent', { stream: true }),
  route('mcp', 'DELETE', `${ofSession}/mcp`, 'agent'),
  route('approval', 'POST', `${ofSession}/approvals/:approvalId`, 'host', { body: callBody }),
];

// Finds the route of a request.

/** The decoded values of a path's variable segments. */
export type RouteParams = Readonly<Partial<Record<'code' | 'requestId' | 'approvalId', string>>>;

/** A known path, with its routes by method. */
export interface Place {
  /** The path as written in the table. */
  readonly path: string;
  readonly params: RouteParams;
  readonly methods: ReadonlyMap<string, Route>;
  /** The value of the `Allow` header. */
  readonly allow: string;
}

/** A path of the table, by its segments. */
interface Pattern {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: ReadonlyMap<string, Route>;
  readonly allow: string;
}

/** By the number of segments. */
const patterns = new Map<number, Pattern[]>();
for (const path of new Set(routes.map((route) => route.path))) {
  const segments = path.split('/');
  const methods = new Map(
    routes.filter((route) => route.path === path).map((route) => [route.method, route]),
  );
  const alike = patterns.get(segments.length) ?? [];
  alike.push({ path, segments, methods, allow: allowOf(methods) });
  patterns.set(segments.length, alike);
}

/**
 * Finds the routes of a path; undefined if the path is unknown.
 * @param pathname as in a URL; one trailing slash is ignored
 */
export function findPlace(pathname: string): Place | undefined {
  const segments = (
    pathname.length > 1 && pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
  ).split('/');
  const found = patterns.get(segments.length)?.find((pattern) => fits(pattern.segments, segments));
  if (found === undefined) return undefined;
  const { path, methods, allow } = found;
  return { path, params: paramsOf(found.segments, segments), methods, allow };
}

/** Compares from the end, where the paths differ. */
function fits(wanted: readonly string[], segments: readonly string[]): boolean {
  for (let at = wanted.length - 1; at >= 0; at--) {
    const segment = wanted[at] as string;
    if (segment !== segments[at] && !segment.startsWith(':')) return false;
  }
  return true;
}

function paramsOf(wanted: readonly string[], segments: readonly string[]): RouteParams {
  const params: Record<string, string> = {};
  for (let at = 0; at < wanted.length; at++) {
    const segment = wanted[at] as string;
    if (segment.startsWith(':')) params[segment.slice(1)] = decoded(segments[at] as string);
  }
  return params;
}

/** Decodes a segment. Returns the empty string for an invalid encoding, since no name is empty. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

function allowOf(methods: ReadonlyMap<string, Route>): string {
  const get = methods.get('GET');
  return [...methods.keys(), ...(get === undefined || get.stream ? [] : ['HEAD']), 'OPTIONS'].join(
    ', ',
  );
}
