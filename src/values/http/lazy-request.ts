/**
 * Makes a web-standard request from one of `node:http`, and creates its members only when they are
 * read. A relayed call is two small requests, whose `Headers`, body stream and abort signal are
 * never read. With a real `Request` the server needs 1.3 to 1.45 times the processor time for each
 * round trip, as `npm run bench:relay -- --only requests` measures.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { markDirect } from './direct-body.ts';
import { bodyStream, headersOf, requestOf, urlOf } from './node-request.ts';
import { whenGone } from './node-response.ts';

interface Source {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  headers?: Headers;
  gone?: AbortController;
  whole?: Request;
}

const source: unique symbol = Symbol('source');
type Lazy = Request & { [source]: Source };

const own: Readonly<Record<string, (of: Source) => unknown>> = {
  method: ({ incoming }) => incoming.method ?? 'GET',
  url: ({ incoming }) => urlOf(incoming),
  headers: ownHeaders,
  signal: ownSignal,
};

/**
 * Inherits from `Request`. A member that is not in {@link own} comes from a complete `Request`,
 * which is made when such a member is first read.
 */
let prototype: object | undefined;

function membersOf(): PropertyDescriptorMap {
  const members: PropertyDescriptorMap = {};
  // Reads the whole prototype chain, because some servers replace the global class with their own.
  const all: PropertyDescriptorMap = {};
  for (
    let from: object | null = Request.prototype;
    from !== null && from !== Object.prototype;
    from = Object.getPrototypeOf(from) as object | null
  )
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(from)))
      all[name] ??= descriptor;
  for (const [name, { value }] of Object.entries(all)) {
    if (name === 'constructor') continue;
    const get = own[name];
    if (get !== undefined)
      members[name] = {
        get(this: Lazy) {
          return get(this[source]);
        },
      };
    else if (typeof value === 'function')
      members[name] = {
        value: lazily((of, ...rest) =>
          (ownWhole(of)[name as 'text'] as (...given: unknown[]) => unknown)(...rest),
        ),
      };
    else members[name] = { get: lazily((of) => ownWhole(of)[name as 'body']) };
  }
  return members;
}

function lazily(
  run: (of: Source, ...rest: unknown[]) => unknown,
): (this: Lazy, ...rest: unknown[]) => unknown {
  return function (...rest) {
    return run(this[source], ...rest);
  };
}

/**
 * Makes the request of a client. Its `signal` aborts when the client goes away before the answer
 * was sent. `directBody` and `headerOf` read it without creating any members.
 */
export function lazyRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  // Made here, since the first use of `Request` makes the engine load all of `fetch`.
  prototype ??= Object.create(Request.prototype, membersOf()) as object;
  const request = Object.create(prototype) as Lazy;
  request[source] = { incoming, outgoing };
  markRequest(request, incoming);
  return request;
}

/** Makes a real `Request` instead. The benchmarks compare the two. */
export function wholeRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const request = ownWhole({ incoming, outgoing });
  markRequest(request, incoming);
  return request;
}

function markRequest(request: Request, incoming: IncomingMessage): void {
  const header = headerFinder(incoming);
  markDirect(
    request,
    (maxBytes) => readBody(incoming, maxBytes, header('content-length')),
    header,
    incoming.rawHeaders,
  );
}

/** Finds the same headers as `headersOf`, without building anything. */
function headerFinder({ rawHeaders }: IncomingMessage): (name: string) => string | null {
  return (name) => {
    let found: string | null = null;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const key = rawHeaders[at] as string;
      if (key.length !== name.length || key.toLowerCase() !== name) continue;
      const value = rawHeaders[at + 1] as string;
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  };
}

function ownHeaders(of: Source): Headers {
  of.headers ??= headersOf(of.incoming);
  return of.headers;
}

function ownSignal(of: Source): AbortSignal {
  of.gone ??= whenGone(of.outgoing);
  return of.gone.signal;
}

function ownWhole(of: Source): Request {
  of.whole ??= requestOf(of.incoming, ownHeaders(of), ownSignal(of), () => bodyOf(of.incoming));
  return of.whole;
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  // The listener discards the unread rest after the answer.
  return bodyStream(chunks, () => void chunks.return?.());
}

function readBody(
  incoming: IncomingMessage,
  maxBytes: number,
  length: string | null,
): Promise<Uint8Array | undefined> {
  // Node's parser has checked that this is a number, and does not read beyond it.
  if (Number(length ?? 0) > maxBytes) return Promise.resolve(undefined);
  if (incoming.readableDidRead || incoming.destroyed)
    return Promise.reject(new TypeError('The body was read before, or the client has gone away.'));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      incoming.pause();
      resolve(undefined);
    };
    // After the end there is nothing to hear any more, so the listeners may stay.
    const onEnd = (): void => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    const onGone = (): void =>
      reject(new Error('The client went away before the whole body had arrived.'));
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}
