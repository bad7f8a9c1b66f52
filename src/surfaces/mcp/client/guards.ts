/** Bounds on what a server can make a connection do: answer its requests and reopen its streams. */
import type { Client, ReconnectionScheduler, Transport } from '@modelcontextprotocol/client';
import type { Later } from './relisting.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** Most characters of the id of a server's request, because the answer repeats it. */
const maxIdChars = 128;
/** Most answers in transit at once. */
const maxAnswers = 16;

/**
 * Answers a server's requests only as fast as the server takes the answers. A request with a long
 * id gets no answer, and neither does one that comes while 16 answers are in transit. This is done
 * where answers leave, so it applies from the first message of the handshake.
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

/** Put before a method's name, so that the SDK has no schema for it. */
const unread = 'host-tools/';

/**
 * A client whose requests resolve with exactly what the server sent. In the 2026 era the SDK checks
 * each result with its method's schema, whatever schema the request was given, and describes each
 * wrong part: 20 000 wrong parts make megabytes of text. So the SDK is given a method name that it
 * does not know, which is corrected where the request leaves.
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
      schema,
      options,
    );
  return Object.create(client, { request: { value: request } });
}

const firstPauseMs = 500;
const longestPauseMs = 5_000;
/** The longest pause that a server can ask for. A timer treats far longer times as zero. */
const longestWishMs = 30_000;
/** After this long without a reconnection, the pause is short again. */
const quietMs = 30_000;

/** Decides when streams are reopened. */
export interface Reconnections {
  /** For the SDK's transport. */
  readonly schedule: ReconnectionScheduler;
  /** Cancels all reconnections that are due. */
  clear(): void;
}

/**
 * Reopens streams that keep ending after a growing pause, from half a second to 5 s, whatever
 * `retry` the server sends. If it asks for a longer pause, it gets one of up to 30 s.
 */
export function createReconnections(clock: { now(): number }, later: Later): Reconnections {
  const pending = new Set<() => void>();
  let pauseMs = firstPauseMs;
  let lastAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    for (const cancel of pending) cancel();
    pending.clear();
  };
  return {
    schedule(reconnect, wish) {
      const now = clock.now();
      if (now - lastAt >= quietMs + pauseMs) pauseMs = firstPauseMs;
      lastAt = now;
      const wait = Math.min(longestWishMs, Math.max(pauseMs, wish));
      pauseMs = Math.min(longestPauseMs, 2 * pauseMs);
      const cancel = later(() => {
        pending.delete(cancel);
        reconnect();
      }, wait);
      pending.add(cancel);
      // The transport keeps only the last one and calls it when it closes, which must end them all.
      return clear;
    },
    clear,
  };
}
