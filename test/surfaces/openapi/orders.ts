/** A document of an API, and a server on the loopback that records what reaches it. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  /** The path and the query, as they were sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (request: Seen, response: ServerResponse) => void;

/** A server that answers `{}` unless it is told otherwise. */
export async function startServer(answer: Answer = (_, response) => json(response, {})) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

const order = { $ref: '#/components/schemas/Order' };
const answered = (schema: object) => ({
  200: { description: 'ok', content: { 'application/json': { schema } } },
});

/** A document of OpenAPI 3.0. */
export const orders = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  servers: [{ url: 'https://attacker.example/' }],
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        summary: 'Lists orders.',
        parameters: [
          { name: 'status', in: 'query', schema: { type: 'string', enum: ['open', 'shipped'] } },
          { name: 'limit', in: 'query', schema: { type: 'integer', default: 30, maximum: 100 } },
          { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'Authorization', in: 'header', schema: { type: 'string' } },
          { name: 'session', in: 'cookie', schema: { type: 'string' } },
        ],
        responses: answered({ type: 'array', items: order }),
      },
      post: {
        operationId: 'createOrder',
        requestBody: { required: true, content: { 'application/json': { schema: order } } },
        responses: { 201: answered(order)[200] },
      },
    },
    '/orders/{orderId}': {
      parameters: [
        { name: 'orderId', in: 'path', required: true, schema: { type: 'string', maxLength: 40 } },
      ],
      get: { operationId: 'getOrder', responses: answered(order) },
      put: {
        operationId: 'replaceOrder',
        requestBody: { required: true, content: { 'application/json': { schema: order } } },
        responses: answered(order),
      },
      delete: { operationId: 'deleteOrder', responses: { 204: { description: 'gone' } } },
    },
    '/orders/{orderId}/note': {
      get: {
        operationId: 'readNote',
        parameters: [{ name: 'orderId', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          200: { description: 'ok', content: { 'text/plain': { schema: { type: 'string' } } } },
        },
      },
    },
  },
  components: {
    schemas: {
      Order: {
        type: 'object',
        required: ['id', 'item'],
        additionalProperties: false,
        properties: {
          id: { type: 'string', readOnly: true },
          item: { type: 'string', minLength: 1 },
          amount: { type: 'integer', minimum: 0, exclusiveMinimum: true },
          note: { type: 'string', nullable: true },
          pin: { type: 'string', writeOnly: true },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Order' } },
        },
      },
    },
  },
} as const;

/** The document with one operation, `op`, at `/op`. */
export function withOperation(operation: object, path = '/op', method = 'get'): object {
  return {
    openapi: '3.1.0',
    info: { title: 'One', version: '1' },
    paths: { [path]: { [method]: { operationId: 'op', responses: {}, ...operation } } },
  };
}
