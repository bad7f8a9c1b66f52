/**
 * What a server can make a connection do by itself, bounded: answers to its requests, and opening
 * its streams again.
 */
import type { Client, ReconnectionScheduler, Transport } from '@modelcontextprotocol/client';
import type { Later } from './relisting.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** Most characters of the id of a server's request: its answer repeats it. */
const maxIdChars = 128;
/** Most answers that are under way at once. */
const maxAnswers = 16;

/**
 * Answers a server's requests only as fast as it takes the answers: those with a long id, and those
 * beyond 16 whose answers are still under way, get none. It is done where answers leave, so that it
 * holds from the first message of the handshake on.
 */
export function boundAnswers(transport: Transport): void {
  const send = transport.send.bind(transport);
  let unanswered = 0;
  transport.send = async (message, options) => {
    if (Array.isArray(message) || 'method' in message) return send(message, options);
    if (
      (typeof message.id === 'string' && message.id.length > maxIdChars) ||
      unanswered >= maxAnswers
    )
      return;
    unanswered++;
    try {
      await send(message, options);
    } finally {
      unanswered--;
    }
  };
}

/** Before a method's name, where the SDK has no schema for it. */
const unread = 'host-tools/';

/**
 * A client whose requests are answered with what the server sent. In the era of 2026 the SDK reads
 * each result by its method's schema, whatever schema a request is given, and tells of each part
 * that is wrong: 20 000 wrong parts make megabytes of text. So it is asked for a method that it
 * does not know, and the name is put right where the request leaves.
 */
export function askUnread(client: Client, transport: Transport): ConnectedMcpClient {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(
      !Array.isArray(message) && 'method' in message && message.method.startsWith(unread)
        ? { ...message, method: message.method.slice(unread.length) }
        : message,
      options,
    );
  const request: ConnectedMcpClient['request'] = ({ method, params }, schema, options) =>
    client.request(
      { method: unread + method, ...(params === undefined ? {} : { params }) },
      schema as never,
      options,
    );
  return Object.create(client, { request: { value: request } });
}

const firstPauseMs = 500;
const longestPauseMs = 5_000;
/** Most that a server can ask for. Timers take what is far longer for nothing. */
const longestWishMs = 30_000;
/** Without a reconnection for so long, the pause begins anew. */
const quietMs = 30_000;

/** When streams are opened again. */
export interface Reconnections {
  /** For the SDK's transport. */
  readonly schedule: ReconnectionScheduler;
  /** Calls off what is to come. */
  clear(): void;
}

/**
 * Streams that end again and again are opened ever later, whatever `retry` the server gives: from
 * half a second to 5 s; longer where it asks for that.
 */
export function createReconnections(clock: { now(): number }, later: Later): Reconnections {
  const pending = new Set<() => void>();
  let pauseMs = firstPauseMs;
  let lastAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    for (const callOff of pending) callOff();
    pending.clear();
  };
  return {
    schedule(reconnect, wish) {
      const now = clock.now();
      if (now - lastAt >= quietMs + pauseMs) pauseMs = firstPauseMs;
      lastAt = now;
      const wait = Math.min(longestWishMs, Math.max(pauseMs, wish));
      pauseMs = Math.min(longestPauseMs, 2 * pauseMs);
      const callOff = later(() => {
        pending.delete(callOff);
        reconnect();
      }, wait);
      pending.add(callOff);
      // The transport remembers one of them, and calls it when it closes: they all end then.
      return clear;
    },
    clear,
  };
}
