/** A relay on `node:http`: what a slow or silent client may hold, and an orderly end. */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import pTimeout from 'p-timeout';
import { faultOf } from '../report.ts';
import type { RelayLogger } from '../settings.ts';
import { type Answer, nodeListener } from './node-listener.ts';
import type { SocketPort } from './socket-port.ts';
import { createSocketServer, type WsPackage } from './socket-server.ts';

/** What is served. */
export interface Served {
  readonly answer: Answer;
  readonly sockets: SocketPort;
  readonly logger: RelayLogger;
  /** Ends streams with a goodbye, refuses new requests, and waits for what runs. */
  close(): Promise<void>;
}

/** Where, and within what. */
export interface NodeServerSettings {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  /** Milliseconds for a request's headers. @default 10_000 */
  readonly headersTimeout?: number;
  /** Milliseconds for a whole request to arrive; its answer may take longer. @default 60_000 */
  readonly requestTimeout?: number;
  /** Milliseconds between looks at those two. @default 5_000 */
  readonly connectionsCheckingInterval?: number;
  /** Milliseconds that connections have to end once what is served is closed. @default 5_000 */
  readonly closingMs?: number;
  /** How `ws` is had. */
  readonly loadWs?: () => Promise<WsPackage>;
}

/** A server that listens. */
export interface NodeServer {
  readonly port: number;
  /** Resolves when nothing is open any more. Idempotent. */
  close(): Promise<void>;
}

/**
 * Milliseconds that an idle connection is kept, longer than the minute that proxies in front
 * usually keep theirs.
 */
const keepAliveTimeout = 65_000;

/**
 * Most requests of one connection without an answer: nobody sends more ahead but to have many
 * answers wait here.
 */
const mostAhead = 16;

/** Milliseconds that what is served may take to close, which bounds itself; should it not. */
const drainMs = 20_000;

/** Rejects when it cannot listen. */
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
  /** The requests of a connection that have no answer yet. */
  const openOf = (socket: Socket): Set<ServerResponse> => {
    let open = ahead.get(socket);
    if (open !== undefined) return open;
    open = new Set();
    ahead.set(socket, open);
    const own = open;
    socket.once('close', () => {
      // Those that wait behind another answer are not told that their connection has gone.
      for (const outgoing of own) outgoing.destroy().emit('close');
    });
    return open;
  };
  const server = createServer(
    { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout },
    (incoming, outgoing) => {
      const open = openOf(incoming.socket);
      if (open.size >= mostAhead) return void incoming.socket.destroy();
      open.add(outgoing);
      running.add(outgoing);
      if (closing !== undefined) outgoing.shouldKeepAlive = false;
      outgoing.once('close', () => {
        open.delete(outgoing);
        running.delete(outgoing);
        if (running.size === 0) onIdle();
      });
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
      // Still listening: what runs may need answers that come by other requests.
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
