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
