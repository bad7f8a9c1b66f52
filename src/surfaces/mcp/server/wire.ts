/** What passes between the transport of an MCP session and its server. */
import { randomBytes } from 'node:crypto';
import type {
  JSONRPCMessage,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { wellFormedJson } from '../../../values/json/index.ts';
import type { OpenRequests } from './open-requests.ts';

/**
 * Marks the ids of requests that the server sends. Each server counts its requests from 0. Without
 * the mark, a client's answer to a request of another process, or of an earlier life of the
 * session, could be taken for the answer to one of these, and a user's "yes" would allow a
 * different call.
 */
export function markAsks(transport: WebStandardStreamableHTTPServerTransport): void {
  const mark = randomBytes(6).toString('hex');
  const send = transport.send.bind(transport);
  const marked = (id: unknown): string => `${mark}-${String(id)}`;
  transport.send = (message: JSONRPCMessage, options) => {
    if (!('method' in message)) return send(message, options);
    if ('id' in message) return send({ ...message, id: marked(message.id) }, options);
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
