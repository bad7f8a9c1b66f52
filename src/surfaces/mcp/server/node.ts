/** A handler as a listener of `node:http`. */
import {
  bodyStream,
  headersOf,
  type NodeRequest,
  repeatedParam,
  requestOf,
} from '../../../values/http/node-request.ts';
import { type NodeResponse, pipe, whenGone } from '../../../values/http/node-response.ts';
import { refusal, rpcCodes } from './rpc.ts';

/**
 * Answers requests of `node:http`, of Express and of similar frameworks:
 * `createServer(toNodeListener(handler))`. The request's `signal` aborts when the client goes away.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createMcpHandler, toNodeListener } from 'host-tools/mcp';
 *
 * createServer(toNodeListener(createMcpHandler(session))).listen(3000, '127.0.0.1');
 * ```
 */
export function toNodeListener(handler: {
  fetch(request: Request): Promise<Response>;
}): (request: NodeRequest, response: NodeResponse) => void {
  return (request, response) => {
    void answer(handler, request, response).catch(() => response.destroy());
  };
}

async function answer(
  handler: { fetch(request: Request): Promise<Response> },
  incoming: NodeRequest,
  outgoing: NodeResponse,
): Promise<void> {
  const { signal } = whenGone(outgoing);
  const request = toRequest(incoming, signal);
  const response = request instanceof Response ? request : await handler.fetch(request);
  const { body, status } = response;
  if (signal.aborted) return void body?.cancel().catch(() => {});
  outgoing.writeHead(status, headersFor(response, incoming));
  // The first message of a stream may take long, and its client waits for the headers.
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true)
    outgoing.flushHeaders?.();
  if (body === null) outgoing.end();
  else await pipe(body, outgoing);
}

function headersFor(
  { headers }: Response,
  { rawHeaders }: NodeRequest,
): Record<string, string | string[]> {
  const written: Record<string, string | string[]> = Object.fromEntries(headers);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) written['set-cookie'] = cookies;
  // HTTP/2 has no such header.
  if (rawHeaders[0]?.startsWith(':') === true) delete written.connection;
  return written;
}

/** The request, or a refusal if it is ambiguous. */
function toRequest(incoming: NodeRequest, signal: AbortSignal): Request | Response {
  const twice = repeatedParam(incoming);
  if (twice !== undefined)
    return refusal(400, rpcCodes.headerMismatch, `Bad Request: the header ${twice} is sent twice.`);
  try {
    const headers = headersOf(incoming);
    const authority = authorityOf(incoming);
    const host = headers.get('host') ?? authority;
    // Without a host, or with two different ones, the host check would prove nothing.
    if (
      host === undefined ||
      (authority !== undefined && authority.toLowerCase() !== host.toLowerCase())
    )
      return badRequest();
    headers.set('host', host);
    return requestOf(incoming, headers, signal, () => bodyOf(incoming));
  } catch {
    return badRequest();
  }
}

/** The host as HTTP/2 names it. */
function authorityOf({ rawHeaders }: NodeRequest): string | undefined {
  let authority: string | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at] === ':authority') authority = rawHeaders[at + 1];
  return authority;
}

function badRequest(): Response {
  return refusal(400, rpcCodes.invalidRequest, 'Bad Request.');
}

/** The body as it arrives, or as an earlier body parser has left it. */
function bodyOf(incoming: NodeRequest): string | ReadableStream<Uint8Array> {
  return incoming.readableEnded === true && incoming.body !== undefined
    ? JSON.stringify(incoming.body)
    : bodyStream(incoming[Symbol.asyncIterator]());
}
