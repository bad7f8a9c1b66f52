/**
 * A request of `node:http` as a web-standard one, of which only that is made which is looked at.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { markDirect } from '../http/direct-body.ts';

interface Source {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  headers?: Headers;
  abort?: AbortController;
  full?: Request;
}

const source: unique symbol = Symbol('source');
type Lazy = Request & { [source]: Source };

/** The authority is only looked at in the Host header. */
const base = 'http://localhost';

const own: Readonly<Record<string, (of: Source) => unknown>> = {
  method: ({ incoming }) => incoming.method ?? 'GET',
  url: ({ incoming: { url = '/' } }) => base + (url.startsWith('/') ? url : '/'),
  headers: (of) => {
    of.headers ??= headersOf(of.incoming);
    return of.headers;
  },
  signal: (of) => {
    of.abort ??= abortOf(of.outgoing);
    return of.abort.signal;
  },
};

/**
 * Inherits from `Request`, whose other members are those of a whole one that is made when they are
 * asked for.
 */
const prototype: object = Object.create(Request.prototype, membersOf());

function membersOf(): PropertyDescriptorMap {
  const members: PropertyDescriptorMap = {};
  // The whole chain: some servers put a class of theirs in the place of the global one.
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
    if (get !== undefined) members[name] = { get: lazily(get) };
    else if (typeof value === 'function')
      members[name] = {
        value: lazily((of, ...rest) =>
          (full(of)[name as 'text'] as (...given: unknown[]) => unknown)(...rest),
        ),
      };
    else members[name] = { get: lazily((of) => full(of)[name as 'body']) };
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
 * Its `signal` aborts when the client goes away before the answer was sent. `directBody` knows it.
 */
export function nodeRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const request = Object.create(prototype) as Lazy;
  request[source] = { incoming, outgoing };
  const found = headerFinder(incoming);
  markDirect(request, (mostBytes) => readBody(incoming, mostBytes), found);
  return request;
}

/** All of them, as they came: a name that comes twice has both values. */
export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  return headers;
}

/** Finds headers as {@link headersOf} has them, without making it. */
function headerFinder({ rawHeaders }: IncomingMessage): (name: string) => string | null {
  let found: Map<string, string> | undefined;
  return (name) => {
    if (found === undefined) {
      found = new Map();
      for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
        const key = (rawHeaders[at] as string).toLowerCase();
        const value = rawHeaders[at + 1] as string;
        const before = found.get(key);
        found.set(key, before === undefined ? value : `${before}, ${value}`);
      }
    }
    return found.get(name) ?? null;
  };
}

function abortOf(outgoing: ServerResponse): AbortController {
  const abort = new AbortController();
  const onClose = (): void => {
    if (!outgoing.writableFinished) abort.abort();
  };
  if (outgoing.destroyed) onClose();
  else outgoing.once('close', onClose);
  return abort;
}

function full(of: Source): Request {
  of.full ??= wholeRequest(of);
  return of.full;
}

function wholeRequest(of: Source): Request {
  const { incoming } = of;
  const { method = 'GET' } = incoming;
  const init = {
    method,
    headers: of.headers ?? headersOf(incoming),
    signal: (own.signal as (of: Source) => AbortSignal)(of),
  };
  const url = (own.url as (of: Source) => string)(of);
  if (method === 'GET' || method === 'HEAD') return new Request(url, init);
  return new Request(url, { ...init, body: bodyOf(incoming), duplex: 'half' } as RequestInit);
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    // What was not read is let go of with the answer.
    cancel: () => void chunks.return?.(),
  });
}

function readBody(incoming: IncomingMessage, mostBytes: number): Promise<Uint8Array | undefined> {
  // Node has made sure that it is a number, and that no more comes.
  if (Number(incoming.headers['content-length'] ?? 0) > mostBytes)
    return Promise.resolve(undefined);
  if (incoming.readableDidRead || incoming.destroyed)
    return Promise.reject(new TypeError('The body was read before, or its client has gone.'));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size <= mostBytes) return;
      settle();
      incoming.pause();
      resolve(undefined);
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    };
    const onGone = (): void => {
      settle();
      reject(new Error('The client went away before its body had come.'));
    };
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}
