/** Web-standard requests from those of `node:http` and what is built on it. */

/** What is used of Node's `IncomingMessage`; Express and others extend it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  /** The HTTP method. */
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** What a body parser has read already, if there is one. */
  readonly body?: unknown;
  /** True once the body was read. */
  readonly readableEnded?: boolean | undefined;
}

/** The headers of a request; the values of a repeated name are joined. */
export function headersOf({ rawHeaders }: Pick<NodeRequest, 'rawHeaders'>): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // HTTP/2 passes the parts of the request line as headers such as `:path`.
    if (!name.startsWith(':')) headers.append(name, rawHeaders[at + 1] as string);
  }
  return headers;
}

/** An absolute URL. Its host means nothing: checks read the `Host` header. */
export function urlOf({ url = '/' }: Pick<NodeRequest, 'url'>): string {
  return `http://localhost${url.startsWith('/') ? url : '/'}`;
}

/** A request with its parts; `body` is asked for where the method has one. */
export function requestOf(
  incoming: Pick<NodeRequest, 'method' | 'url'>,
  headers: Headers,
  signal: AbortSignal,
  body: () => string | ReadableStream<Uint8Array>,
): Request {
  const { method = 'GET' } = incoming;
  const init: RequestInit & { duplex?: 'half' } = { method, headers, signal };
  if (method !== 'GET' && method !== 'HEAD') Object.assign(init, { body: body(), duplex: 'half' });
  return new Request(urlOf(incoming), init);
}

/** Reads one chunk when the stream is read. @param onCancel the rest will not be read */
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
