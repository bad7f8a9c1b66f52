/**
 * The relay's routes: one table, by which requests find their way and the OpenAPI document is
 * written.
 */
import { type BodyBounds, callBody, responseBody, smallBody, toolsBody } from './bodies.ts';

/** Where sessions are. */
export const basePath = '/api/sessions';

/**
 * Who may use a route. `creator`: anybody, or the host where it has set a key. `either`: both sides
 * of the session.
 */
export type Access = 'anyone' | 'creator' | 'host' | 'application' | 'agent' | 'either';

/** One way in. */
export interface Route {
  readonly name: RouteName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments that start with a colon stand for any. */
  readonly path: string;
  readonly access: Access;
  /** `?ticket=` stands for a token. */
  readonly ticket?: true;
  /** Of its body; absent where it has none. */
  readonly body?: BodyBounds;
  /** Its answer does not end by itself. */
  readonly stream?: true;
  /** Answers also while the node drains. */
  readonly late?: true;
}

/** Routes without a session's token. */
export type OpenRouteName = 'create' | 'pair' | 'openapi' | 'healthz' | 'readyz';
/** Routes of a session. */
export type SessionRouteName =
  | 'ticket'
  | 'register-tools'
  | 'update-tools'
  | 'stream'
  | 'response'
  | 'delete'
  | 'request'
  | 'request-status'
  | 'events'
  | 'mcp'
  | 'approval'
  | 'metadata';
/** What a route is called in logs. */
export type RouteName = OpenRouteName | SessionRouteName;

/** All routes. What stands earlier is matched first. */
export const routes: readonly Route[] = [
  { name: 'healthz', method: 'GET', path: '/healthz', access: 'anyone', late: true },
  { name: 'readyz', method: 'GET', path: '/readyz', access: 'anyone', late: true },
  { name: 'openapi', method: 'GET', path: '/openapi.json', access: 'anyone' },
  { name: 'openapi', method: 'GET', path: `${basePath}/openapi.json`, access: 'anyone' },
  { name: 'create', method: 'POST', path: basePath, access: 'creator', body: smallBody },
  { name: 'delete', method: 'DELETE', path: `${basePath}/:code`, access: 'application' },
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
    name: 'events',
    method: 'GET',
    path: `${basePath}/:code/events`,
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
