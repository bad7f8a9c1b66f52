/** A handler as a listener of `node:http`, by the shapes of its request and response alone. */
import { refusal } from './door.ts';
import { rpcCodes } from './rpc.ts';

/** What is used of Node's `IncomingMessage`; Express and others extend it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  /** The HTTP method. */
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** Name and value by turns. */
  readonly rawHeaders: readonly string[];
  /** What a body parser has read already, if one has. */
  readonly body?: unknown;
  /** True once the body was read. */
  readonly readableEnded?: boolean | undefined;
}

/** What is used of Node's `ServerResponse`. */
export interface NodeResponse {
  /** True once the last of it was handed on. */
  readonly writableFinished: boolean;
  /** Starts the answer. */
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  /** False when the caller should wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  /** Ends the answer. */
  end(): unknown;
  /** Cuts the connection. */
  destroy(): unknown;
  /** Hears of `close` and `drain`. */
  on(event: 'close' | 'drain', listener: () => void): unknown;
  /** Stops hearing. */
  off(event: 'close' | 'drain', listener: () => void): unknown;
}

/**
 * Answers requests of `node:http`, Express and what is like them:
 * `createServer(toNodeListener(handler))`. The handler hears when a client goes away.
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
  const gone = new AbortController();
  // It closes after a whole answer too, where nothing is left to call off and an error would be
  // made in vain.
  const onClose = (): void => {
    if (!outgoing.writableFinished) gone.abort();
  };
  outgoing.on('close', onClose);
  try {
    const request = toRequest(incoming, gone.signal);
    const response = request instanceof Response ? request : await handler.fetch(request);
    const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
    const cookies = response.headers.getSetCookie();
    if (cookies.length > 0) headers['set-cookie'] = cookies;
    // HTTP/2 has no such header.
    if (incoming.rawHeaders[0]?.startsWith(':') === true) delete headers.connection;
    if (!gone.signal.aborted) outgoing.writeHead(response.status, headers);
    await pipe(response, outgoing, gone.signal);
    outgoing.end();
  } finally {
    if (outgoing.writableFinished) outgoing.off('close', onClose);
  }
}

function toRequest(incoming: NodeRequest, signal: AbortSignal): Request | Response {
  const headers = new Headers();
  let authority: string | undefined;
  try {
    for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
      const name = incoming.rawHeaders[at] as string;
      const value = incoming.rawHeaders[at + 1] as string;
      if (name === ':authority') authority = value;
      else if (name.toLowerCase().startsWith('mcp-param-') && headers.has(name))
        // Joined, the two might say what the body says, while a gateway has judged the first.
        return refusal(
          400,
          rpcCodes.headerMismatch,
          `Bad Request: the header ${name} is sent twice.`,
        );
      else if (!name.startsWith(':')) headers.append(name, value);
    }
    // HTTP/2 names the host so; one that says two things is not to be believed, and without any the
    // check of hosts would have nothing to look at.
    const host = headers.get('host') ?? authority;
    if (
      host === undefined ||
      (authority !== undefined && authority.toLowerCase() !== host.toLowerCase())
    )
      return badRequest();
    headers.set('host', host);
    const { method = 'GET', url = '/' } = incoming;
    const bodyless = method === 'GET' || method === 'HEAD';
    // The authority is only looked at in the Host header.
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers,
      signal,
      ...(bodyless ? {} : { body: bodyOf(incoming), duplex: 'half' }),
    };
    return new Request(new URL(`http://localhost${url.startsWith('/') ? url : '/'}`), init);
  } catch {
    return badRequest();
  }
}

function badRequest(): Response {
  return refusal(400, rpcCodes.invalidRequest, 'Bad Request.');
}

/** The body as it comes, or as a parser before us has left it. */
function bodyOf(incoming: NodeRequest): string | ReadableStream<Uint8Array> {
  if (incoming.readableEnded === true && incoming.body !== undefined)
    return JSON.stringify(incoming.body);
  const chunks = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function pipe(
  { body }: Response,
  outgoing: NodeResponse,
  signal: AbortSignal,
): Promise<void> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const stop = (): void => void reader.cancel().catch(() => {});
  if (signal.aborted) return stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      if (!outgoing.write(value)) await drained(outgoing, signal);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function drained(outgoing: NodeResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    outgoing.on('drain', done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
