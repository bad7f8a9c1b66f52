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
 * sides of the session. `operator`: the host, if the node offers its counts.
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

/** All routes. Earlier ones are matched first. */
export const routes: readonly Route[] = [
  { name: 'healthz', method: 'GET', path: '/healthz', access: 'anyone', late: true },
  { name: 'readyz', method: 'GET', path: '/readyz', access: 'anyone', late: true },
  { name: 'metrics', method: 'GET', path: '/metrics', access: 'operator', late: true },
  { name: 'openapi', method: 'GET', path: '/openapi.json', access: 'anyone' },
  { name: 'openapi', method: 'GET', path: `${basePath}/openapi.json`, access: 'anyone' },
  { name: 'create', method: 'POST', path: basePath, access: 'creator', body: smallBody },
  { name: 'delete', method: 'DELETE', path: `${basePath}/:code`, access: 'application' },
  {
    name: 'extend',
    method: 'POST',
    path: `${basePath}/:code/extend`,
    access: 'host',
    body: smallBody,
  },
  {
    name: 'pair',
    method: 'POST',
    path: `${basePath}/:code/pair`,
    access: 'anyone',
    body: smallBody,
  },
  { name: 'ticket', method: 'POST', path: `${basePath}/:code/ticket`, access: 'either' },
  { name: 'metadata', method: 'GET', path: `${basePath}/:code/metadata`, access: 'either' },
  {
    name: 'register-tools',
    method: 'POST',
    path: `${basePath}/:code/register-tools`,
    access: 'application',
    body: toolsBody,
  },
  {
    name: 'update-tools',
    method: 'POST',
    path: `${basePath}/:code/update-tools`,
    access: 'application',
    body: toolsBody,
  },
  {
    name: 'stream',
    method: 'GET',
    path: `${basePath}/:code/stream`,
    access: 'application',
    ticket: true,
    stream: true,
  },
  {
    name: 'response',
    method: 'POST',
    path: `${basePath}/:code/response`,
    access: 'application',
    body: responseBody,
    late: true,
  },
  {
    name: 'progress',
    method: 'POST',
    path: `${basePath}/:code/progress`,
    access: 'application',
    body: progressBody,
    late: true,
  },
  {
    name: 'request',
    method: 'POST',
    path: `${basePath}/:code/request`,
    access: 'agent',
    body: callBody,
  },
  {
    name: 'request-status',
    method: 'GET',
    path: `${basePath}/:code/requests/:requestId`,
    access: 'agent',
    late: true,
  },
  {
    name: 'request-cancel',
    method: 'DELETE',
    path: `${basePath}/:code/requests/:requestId`,
    access: 'agent',
    late: true,
  },
  {
    name: 'events',
    method: 'GET',
    path: `${basePath}/:code/events`,
    access: 'agent',
    ticket: true,
    stream: true,
  },
  {
    name: 'agent',
    method: 'GET',
    path: `${basePath}/:code/agent`,
    access: 'agent',
    ticket: true,
    stream: true,
  },
  { name: 'mcp', method: 'POST', path: `${basePath}/:code/mcp`, access: 'agent', body: callBody },
  { name: 'mcp', method: 'GET', path: `${basePath}/:code/mcp`, access: 'agent', stream: true },
  { name: 'mcp', method: 'DELETE', path: `${basePath}/:code/mcp`, access: 'agent' },
  {
    name: 'approval',
    method: 'POST',
    path: `${basePath}/:code/approvals/:approvalId`,
    access: 'host',
    body: callBody,
  },
];
