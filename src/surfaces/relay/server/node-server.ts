/**
 * Serves a relay on `node:http`. It limits what slow or silent clients can occupy, and shuts down
 * in order.
 */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import pTimeout from 'p-timeout';
import { faultOf } from '../report.ts';
import type { RelayLogger } from '../settings.ts';
import { type Answer, nodeListener } from './node-listener.ts';
import type { SocketPort } from './server-port.ts';
import { createSocketServer, type WsPackage } from './socket-server.ts';

/** The relay that a server serves. */
export interface Served {
  readonly answer: Answer;
  readonly sockets: SocketPort;
  readonly logger: RelayLogger;
  /** Ends streams with a `goodbye`, refuses new requests, and waits for running calls. */
  close(): Promise<void>;
}

/** Where a server listens, and its limits. */
export interface NodeServerSettings {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  /** Milliseconds for a request's headers. @default 10_000 */
  readonly headersTimeout?: number;
  /** Milliseconds for a whole request to arrive; its answer may take longer. @default 60_000 */
  readonly requestTimeout?: number;
  /** Milliseconds between checks of those two timeouts. @default 5_000 */
  readonly connectionsCheckingInterval?: number;
  /** Milliseconds that connections have to end once the relay is closed. @default 5_000 */
  readonly closingMs?: number;
  /** Loads `ws`. @default an import of it */
  readonly loadWs?: () => Promise<WsPackage>;
}

/** A listening server. */
export interface NodeServer {
  readonly port: number;
  /** Resolves when all connections are closed. Idempotent. */
  close(): Promise<void>;
}

/**
 * Milliseconds that an idle connection is kept. Longer than 60 seconds, since proxies usually keep
 * theirs for a minute.
 */
const keepAliveTimeout = 65_000;

/**
 * Most unanswered requests of one connection. Only a client that wants to fill the memory with
 * waiting answers sends more.
 */
const maxAhead = 16;

/**
 * Milliseconds that the relay may take to close. It has a limit of its own; this one applies if
 * that fails.
 */
const drainMs = 20_000;

/**
 * Starts to listen. Rejects when it cannot. Longer than 60 lines, since the listener, the
 * bookkeeping of open answers and the shutdown share the same state.
 */
export async function listen(served: Served, settings: NodeServerSettings): Promise<NodeServer> {
  const {
    host,
    port,
    maxConnections,
    headersTimeout = 10_000,
    requestTimeout = 60_000,
    connectionsCheckingInterval = 5_000,
    closingMs = 5_000,
  } = settings;
  const running = new Set<ServerResponse>();
  let closing: Promise<void> | undefined;
  let onIdle = (): void => {};
  const answer = nodeListener(served.answer, (error) => {
    served.logger.error({ err: faultOf(error) }, 'relay: a request failed');
  });
  const sockets = createSocketServer(served.sockets, settings.loadWs);
  const ahead = new WeakMap<Socket, Set<ServerResponse>>();
  function onClosed(this: ServerResponse): void {
    const { socket } = this.req;
    ahead.get(socket)?.delete(this);
    running.delete(this);
    if (running.size === 0) onIdle();
  }
  /** The requests of a connection that have no answer yet. */
  const openOf = (socket: Socket): Set<ServerResponse> => {
    let open = ahead.get(socket);
    if (open !== undefined) return open;
    open = new Set();
    ahead.set(socket, open);
    const own = open;
    socket.once('close', () => {
      // Node emits no `close` for answers that are queued behind another one.
      for (const outgoing of own) outgoing.destroy().emit('close');
    });
    return open;
  };
  const server = createServer(
    { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout },
    (incoming, outgoing) => {
      const open = openOf(incoming.socket);
      if (open.size >= maxAhead) return void incoming.socket.destroy();
      open.add(outgoing);
      running.add(outgoing);
      if (closing !== undefined) outgoing.shouldKeepAlive = false;
      outgoing.on('close', onClosed);
      answer(incoming, outgoing);
    },
  );
  server.maxConnections = maxConnections;
  server.once('drop', () =>
    served.logger.warn(
      { maxConnections },
      'relay: connections are refused, since `maxConnections` are open',
    ),
  );
  server.on('upgrade', sockets.upgrade);

  const end = async (): Promise<void> => {
    const left = sockets.leave();
    try {
      // The server still listens, since running calls may need answers that arrive in other
      // requests.
      await pTimeout(served.close(), { milliseconds: drainMs, fallback: () => {} });
    } finally {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const outgoing of running) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await pTimeout(Promise.all([left, running.size === 0 || idle]), {
        milliseconds: closingMs,
        fallback: () => {},
      });
      sockets.terminate();
      server.closeAllConnections();
      await closed;
    }
  };
  await bind(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      closing ??= end();
      return closing;
    },
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
