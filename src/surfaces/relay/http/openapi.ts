/** The relay's interface as an OpenAPI 3.1 document, written from the table of routes. */
import type { JsonObject } from '../../../core.ts';
import { errorStatus, errorsOf } from './openapi-errors.ts';
import { schemas } from './openapi-schemas.ts';
import { count, ref } from './openapi-tool-schemas.ts';
import { type Route, routes } from './route-table.ts';

interface Operation {
  readonly summary: string;
  /** The name of the body's schema. */
  readonly body?: string;
  /** Schemas of successful answers by status. Undefined for an answer without a body. */
  readonly answers: Readonly<Record<number, string | undefined>>;
  readonly parameters?: readonly JsonObject[];
}

const parameter = (
  place: 'query' | 'header',
  name: string,
  description: string,
  schema: JsonObject = { type: 'string' },
): JsonObject => ({
  name,
  in: place,
  description,
  required: false,
  schema,
});
const ofStreams: readonly JsonObject[] = [
  parameter('query', 'mode', '`poll` answers with the events of a moment.', {
    enum: ['sse', 'poll'],
    default: 'sse',
  }),
  parameter('query', 'after', 'The id of the last event that the client has.', count),
  parameter('query', 'client', 'Identifies the running application.', {
    type: 'string',
    pattern: '^[A-Za-z0-9_.:-]{1,128}$',
  }),
  parameter('query', 'continues', 'A poll that goes on from the last one of its `client`.', {
    type: 'boolean',
    default: false,
  }),
  parameter('query', 'ticket', 'Instead of a token.'),
  parameter('header', 'Last-Event-ID', 'The same as `after`; takes precedence over it.', count),
];

const operations: Readonly<Record<string, Operation>> = {
  'GET healthz': { summary: 'Reports whether the process is alive.', answers: { 200: 'Health' } },
  'GET readyz': {
    summary: 'Reports whether the node accepts requests.',
    answers: { 200: 'Readiness', 503: 'Readiness' },
  },
  'GET metrics': {
    summary: 'The counts of calls, for Prometheus. Only if the host offers them.',
    answers: { 200: undefined },
  },
  'GET openapi': { summary: 'This document.', answers: { 200: 'OpenApi' } },
  'POST create': {
    summary: 'Creates a session. Needs the host key if one is set.',
    body: 'Empty',
    answers: { 201: 'CreatedSession' },
  },
  'DELETE delete': { summary: 'Ends the session.', answers: { 204: undefined } },
  'POST extend': {
    summary: 'Moves the end of the session. Only with the host key.',
    body: 'Extension',
    answers: { 200: 'Extended' },
  },
  'POST pair': {
    summary: 'Exchanges the code for a token, once per side. Only if pairing is on.',
    body: 'PairRequest',
    answers: { 200: 'Paired' },
  },
  'POST ticket': {
    summary: 'Creates a ticket for this side, for one use within 30 seconds.',
    answers: { 200: 'Ticket' },
  },
  'GET metadata': {
    summary: 'Describes the application and the tools of the session.',
    answers: { 200: 'Metadata', 304: undefined },
    parameters: [
      parameter('header', 'Accept-Version', 'Supported versions, the preferred one first.'),
      parameter('header', 'If-None-Match', 'The ETag of an earlier answer.'),
    ],
  },
  'POST register-tools': {
    summary: 'Registers tools. They replace the former ones.',
    body: 'Registration',
    answers: { 201: 'Registered' },
  },
  'POST update-tools': {
    summary: 'Adds, removes and changes tools.',
    body: 'ToolsUpdate',
    answers: { 200: 'Updated' },
  },
  'GET stream': {
    summary: "The application's events: calls to answer, among others.",
    answers: { 200: 'Events' },
    parameters: ofStreams,
  },
  'POST response': {
    summary: 'Answers a call. The first answer wins.',
    body: 'Response',
    answers: { 200: 'ResponseTaken' },
  },
  'POST progress': {
    summary: 'Reports how far a call has got.',
    body: 'Progress',
    answers: { 200: 'ResponseTaken' },
  },
  'POST request': {
    summary: 'Calls a tool. A failed call is a result as well.',
    body: 'Request',
    answers: { 200: 'RequestDone', 202: 'RequestQueued' },
  },
  'GET request-status': {
    summary: 'Reports the status of a request.',
    answers: { 200: 'RequestStatus' },
  },
  'DELETE request-cancel': {
    summary: 'Cancels a request. One that is done keeps its result.',
    answers: { 200: 'RequestStatus' },
  },
  'GET events': {
    summary: "The agent's events: results and changes of tools, among others.",
    answers: { 200: 'Events' },
    parameters: ofStreams,
  },
  'GET agent': {
    summary: "The agent's WebSocket: it sends calls and gets events.",
    answers: { 101: undefined },
    parameters: ofStreams.slice(1),
  },
  'POST mcp': {
    summary: 'A message of the Model Context Protocol.',
    body: 'JsonRpc',
    answers: { 200: 'JsonRpc', 202: undefined },
  },
  'GET mcp': {
    summary: 'Messages of the server, as server-sent events.',
    answers: { 200: undefined },
  },
  'DELETE mcp': {
    summary: 'Ends a session of the Model Context Protocol.',
    answers: { 200: undefined },
  },
  'POST approval': {
    summary: 'Answers a call that waits for approval.',
    body: 'Decision',
    answers: { 200: 'Decided' },
  },
};

const descriptions: Readonly<Record<number, string>> = {
  101: 'The connection is a WebSocket from now on.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done.',
  304: 'Not modified.',
  503: 'Not ready.',
};

/** The document. Callers must not modify it. */
export const openApiDocument: JsonObject = {
  openapi: '3.1.0',
  info: {
    title: 'host-tools relay',
    version: '2.0.0',
    description:
      'Applications register tools in a session. Agents call them. Every call passes the ' +
      'gates of the host.',
  },
  servers: [{ url: '/' }],
  paths: pathsOf(),
  components: {
    schemas: { ...schemas, OpenApi: { type: 'object', required: ['openapi', 'info', 'paths'] } },
    securitySchemes: {
      application: { type: 'http', scheme: 'bearer', description: "The application's token." },
      agent: { type: 'http', scheme: 'bearer', description: "The agent's token." },
      host: { type: 'http', scheme: 'bearer', description: 'The host key.' },
      ticket: { type: 'apiKey', in: 'query', name: 'ticket' },
    },
  },
};

function pathsOf(): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const item = paths[path] ?? {};
    item[route.method.toLowerCase()] = operationOf(route);
    paths[path] = item;
  }
  return paths;
}

function operationOf(route: Route): JsonObject {
  const { name, method, path } = route;
  const {
    summary,
    body,
    answers,
    parameters = [],
  } = operations[`${method} ${name}`] ?? { summary: name, answers: { 200: undefined } };
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, param = '']) => ({
    name: param,
    in: 'path',
    required: true,
    schema:
      param === 'code'
        ? ref('Code')
        : param === 'requestId'
          ? ref('RequestId')
          : { type: 'string' },
  }));
  const isNested = path.startsWith('/api/') && name === 'openapi';
  const suffix = name === 'mcp' ? `-${method.toLowerCase()}` : isNested ? '-nested' : '';
  return {
    operationId: `${name}${suffix}`,
    summary,
    ...(inPath.length + parameters.length === 0 ? {} : { parameters: [...inPath, ...parameters] }),
    ...(body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: ref(body) } } },
        }),
    responses: {
      ...errorResponses(route),
      ...Object.fromEntries(
        Object.entries(answers).map(([status, schema]) => [
          status,
          success(route, Number(status), schema),
        ]),
      ),
    },
    security: securityOf(route),
  };
}

function success({ stream, name }: Route, status: number, schema: string | undefined): JsonObject {
  const sse: JsonObject =
    stream || name === 'mcp'
      ? { 'text/event-stream': { schema: { type: 'string' } } }
      : name === 'metrics'
        ? { 'text/plain': { schema: { type: 'string' } } }
        : {};
  const content: JsonObject = {
    ...(schema === undefined ? {} : { 'application/json': { schema: ref(schema) } }),
    ...(status === 200 ? sse : {}),
  };
  return {
    description: descriptions[status] ?? 'The answer.',
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function errorResponses(route: Route): JsonObject {
  const byStatus = new Map<number, string[]>();
  for (const error of errorsOf(route)) {
    const status = errorStatus[error] ?? 500;
    byStatus.set(status, [...(byStatus.get(status) ?? []), error]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      String(status),
      {
        description: errors.join(', '),
        ...(status === 429 || status === 503
          ? {
              headers: {
                'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
              },
            }
          : {}),
        content: {
          'application/json': {
            schema: { allOf: [ref('Error'), { properties: { error: { enum: errors } } }] },
          },
        },
      },
    ]),
  );
}

function securityOf({ access, ticket }: Route): JsonObject[] {
  const sides =
    access === 'either'
      ? ['application', 'agent']
      : access === 'anyone'
        ? []
        : access === 'creator' || access === 'operator'
          ? ['host']
          : [access];
  return [
    ...sides.map((scheme) => ({ [scheme]: [] })),
    ...(ticket ? [{ ticket: [] }] : []),
    ...(access === 'creator' ? [{}] : []),
  ];
}
