/** Makes web-standard requests from those of `node:http` and of frameworks that are built on it. */

/** The part of Node's `IncomingMessage` that is used. Express and others extend it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  /** The HTTP method. */
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** The body that a body parser has already read, if any. */
  readonly body?: unknown;
  /** True once the body was read. */
  readonly readableEnded?: boolean | undefined;
  /** A socket of TLS says that it is encrypted. */
  readonly socket?: object | undefined;
}

/** Makes the headers of a request. The values of a repeated name are joined. */
export function headersOf({ rawHeaders }: Pick<NodeRequest, 'rawHeaders'>): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // HTTP/2 passes the parts of the request line as headers such as `:path`.
    if (!name.startsWith(':')) headers.append(name, rawHeaders[at + 1] as string);
  }
  return headers;
}

/**
 * A header that repeats an argument of an MCP call, if it is sent twice. Joined, the two values
 * could equal the argument, although a gateway has judged only the first.
 */
export function repeatedParam({ rawHeaders }: Pick<NodeRequest, 'rawHeaders'>): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const key = name.toLowerCase();
    if (!key.startsWith('mcp-param-')) continue;
    if (seen.has(key)) return name;
    seen.add(key);
  }
  return undefined;
}

/** Makes an absolute URL. Its host has no meaning, since checks read the `Host` header. */
export function urlOf({ url = '/', socket }: Pick<NodeRequest, 'url' | 'socket'>): string {
  const isSecure = socket !== undefined && 'encrypted' in socket && socket.encrypted === true;
  return `http${isSecure ? 's' : ''}://localhost${url.startsWith('/') ? url : '/'}`;
}

/** Makes a request from its parts. `body` is only called for a method that has a body. */
export function requestOf(
  incoming: Pick<NodeRequest, 'method' | 'url' | 'socket'>,
  headers: Headers,
  signal: AbortSignal,
  body: () => string | ReadableStream<Uint8Array>,
): Request {
  const { method = 'GET' } = incoming;
  const init: RequestInit & { duplex?: 'half' } = { method, headers, signal };
  if (method !== 'GET' && method !== 'HEAD') Object.assign(init, { body: body(), duplex: 'half' });
  return new Request(urlOf(incoming), init);
}

/**
 * Makes a body stream that takes a chunk only when it is read.
 * @param onCancel called when the rest will not be read
 */
export function bodyStream(
  chunks: AsyncIterator<Uint8Array>,
  onCancel?: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => onCancel?.(),
    },
    { highWaterMark: 0 },
  );
}
