/** What passes between the transport of an MCP session and its server. */
import { randomBytes } from 'node:crypto';
import type {
  JSONRPCMessage,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { wellFormedJson } from '../../../values/json/index.ts';
import { maxOpenRequests, type RpcId } from './rpc.ts';

/**
 * Marks the ids of requests that the server sends. Each server counts its requests from 0. Without
 * the mark, a client's answer to a request of another process, or of an earlier life of the
 * session, could be taken for the answer to one of these, and a user's "yes" would allow a
 * different call.
 */
export function markAsks(
  transport: WebStandardStreamableHTTPServerTransport,
  inFlight: Pick<OpenRequests, 'get'>,
): void {
  const mark = randomBytes(6).toString('hex');
  const send = transport.send.bind(transport);
  const marked = (id: unknown): string => `${mark}-${String(id)}`;
  transport.send = (message: JSONRPCMessage, options) => {
    if (!('method' in message)) return send(message, options);
    if ('id' in message) {
      const id = marked(message.id);
      const related = options?.relatedRequestId;
      if (related !== undefined) inFlight.get(related)?.asks.add(id);
      return send({ ...message, id }, options);
    }
    const { requestId } = (message.params ?? {}) as { readonly requestId?: unknown };
    if (message.method !== 'notifications/cancelled' || requestId === undefined)
      return send(message, options);
    return send(
      { ...message, params: { ...message.params, requestId: marked(requestId) } },
      options,
    );
  };
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if ('method' in message) return onmessage?.call(transport, message, extra);
    const { id } = message;
    const [own, count] = typeof id === 'string' ? id.split('-') : [];
    if (own === mark && count !== undefined && /^\d{1,15}$/.test(count))
      onmessage?.call(transport, { ...message, id: Number(count) }, extra);
  };
}

/** Makes a server send well-formed texts only. It must not be connected yet. */
export function sendsWellFormed(server: Server): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(wellFormedJson(message), options);
    return connect(transport);
  };
}

/** Removes a request from those in flight when it is answered. */
export function watchAnswers(
  transport: WebStandardStreamableHTTPServerTransport,
  inFlight: Pick<OpenRequests, 'delete'>,
): void {
  const send = transport.send.bind(transport);
  transport.send = async (message: JSONRPCMessage, options) => {
    try {
      await send(message, options);
    } finally {
      if (!('method' in message) && message.id !== undefined) inFlight.delete(message.id);
    }
  };
}

// The requests of one MCP session of the 2025 era that have no answer yet.

/** A request that has no answer yet. */
export interface OpenRequest {
  readonly method: string;
  /** It came in a batch, whose answers share one stream. */
  readonly batched: boolean;
  /** It has been handed to the server. */
  delivered: boolean;
  /** Its handler has begun. */
  begun: boolean;
  /** The tools that it calls, also through a program that has asked about one. */
  readonly tools: Set<string>;
  /** The ids of what its client is asked on its behalf. */
  readonly asks: Set<RpcId>;
}

/** Those requests, by id. */
export interface OpenRequests {
  /** Adds requests with free ids, all or none. False if there are too many already. */
  add(ids: Iterable<readonly [RpcId, OpenRequest]>): boolean;
  get(id: RpcId): OpenRequest | undefined;
  delete(id: RpcId): void;
  /** The tools of the request on whose behalf something was asked. */
  toolsAsking(ask: RpcId): readonly string[];
  clear(): void;
  readonly size: number;
}

export function createOpenRequests(places: Places, principal: string | undefined): OpenRequests {
  const open = new Map<RpcId, { readonly request: OpenRequest; readonly release: Release }>();
  const remove = (id: RpcId): void => {
    open.get(id)?.release();
    open.delete(id);
  };
  return {
    add(requests) {
      const added: RpcId[] = [];
      for (const [id, request] of requests) {
        const release = open.size < maxOpenRequests ? places.take(principal) : 'all';
        if (typeof release === 'string') {
          for (const one of added) remove(one);
          return false;
        }
        open.set(id, { request, release });
        added.push(id);
      }
      return true;
    },
    get: (id) => open.get(id)?.request,
    delete: remove,
    toolsAsking: (ask) =>
      [...open.values()].flatMap(({ request: { asks, tools } }) =>
        asks.has(ask) ? [...tools] : [],
      ),
    clear() {
      for (const id of [...open.keys()]) remove(id);
    },
    get size() {
      return open.size;
    },
  };
}

// Places that all clients of a handler share. No principal can take all of them.

/** Frees a place. Idempotent. */
type Release = () => void;

/** A fixed number of places. */
export interface Places {
  /** Takes a place. Gives `all` if none is left, `share` if the principal has used up its share. */
  take(principal: string | undefined): Release | 'share' | 'all';
}

/**
 * @param most the number of places
 * @param shared true if there are several principals: then each may take a quarter of the places,
 * and at least one
 */
export function createPlaces(most: number, shared: boolean): Places {
  const share = shared ? Math.max(1, Math.floor(most / 4)) : most;
  const taken = new Map<string | undefined, number>();
  let all = 0;
  return {
    take(principal) {
      const own = taken.get(principal) ?? 0;
      if (shared && own >= share) return 'share';
      if (all >= most) return 'all';
      all++;
      taken.set(principal, own + 1);
      let isFree = false;
      return () => {
        if (isFree) return;
        isFree = true;
        all--;
        const left = (taken.get(principal) ?? 0) - 1;
        if (left > 0) taken.set(principal, left);
        else taken.delete(principal);
      };
    },
  };
}
