/**
 * Upgrades `node:http` requests to WebSockets after the relay's own checks. The package `ws`
 * implements the protocol. It is imported on first use.
 */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { MisuseError } from '../../../core.ts';
import { headersOf, urlOf } from '../../../values/http/node-request.ts';
import { packageFault } from '../../../values/packages/missing-package.ts';
import { faultOf } from '../report.ts';
import type { SocketPort } from './server-port.ts';
import { type ServedSocket, serveSocket } from './web-socket.ts';

/** The part of `ws` that is used. */
export interface WsPackage {
  readonly WebSocketServer: typeof WebSocketServer;
}

/** The WebSockets of a server. */
export interface SocketServer {
  /** The listener for `upgrade`. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Answers further upgrades with 503. Resolves when the last socket has closed, whichever side
   * closes it.
   */
  leave(): Promise<void>;
  /** Cuts the remaining connections. */
  terminate(): void;
}

/** Most bytes of a frame from a client: a result of 4 MB and the rest of its message. */
const mostPayload = 4 * 1_048_576 + 65_536;

/**
 * Makes the WebSocket server of a relay. Longer than 60 lines, since all its functions share the
 * set of open sockets and the loaded package.
 * @param load loads the package
 */
export function createSocketServer(
  port: SocketPort,
  load: () => Promise<WsPackage> = () => import('ws'),
): SocketServer {
  const served = new Map<Duplex, ServedSocket | undefined>();
  let loading: Promise<WebSocketServer> | undefined;
  let wasLogged = false;
  let beat: ReturnType<typeof setInterval> | undefined;
  let leaving = false;
  let onEmpty = (): void => {};

  const server = (): Promise<WebSocketServer> => {
    loading ??= loadWs(load).then(
      // The relay answers pings itself, so that a client that sends them and reads nothing cannot
      // fill the memory. Extensions and subprotocols are off.
      (ws) =>
        new ws.WebSocketServer({
          noServer: true,
          clientTracking: false,
          autoPong: false,
          perMessageDeflate: false,
          maxPayload: mostPayload,
          handleProtocols: () => false,
        }),
    );
    return loading;
  };
  const admit = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const ws = await server();
    const { remoteAddress } = incoming.socket;
    const admission = await port.open(
      toRequest(incoming),
      remoteAddress === undefined ? {} : { address: remoteAddress },
    );
    if (admission instanceof Response)
      return refuse(socket, admission.status, await admission.text(), admission.headers);
    if (socket.destroyed) return;
    ws.handleUpgrade(incoming, socket, head, (webSocket) =>
      served.set(socket, serveSocket(webSocket, admission, port.logger)),
    );
  };

  return {
    upgrade(incoming, socket, head) {
      socket.on('error', () => socket.destroy());
      if (incoming.headers.upgrade?.toLowerCase() !== 'websocket')
        return refuseWith(
          socket,
          400,
          'upgrade_refused',
          'Only WebSockets are upgraded to. Send the request without `Upgrade`.',
        );
      if (leaving)
        return refuseWith(
          socket,
          503,
          'shutting_down',
          'This node is shutting down. Connect again.',
        );
      served.set(socket, undefined);
      beat ??= setInterval(() => {
        for (const one of served.values()) one?.check();
      }, port.heartbeatMs);
      socket.once('close', () => {
        served.delete(socket);
        if (served.size > 0) return;
        clearInterval(beat);
        beat = undefined;
        onEmpty();
      });
      admit(incoming, socket, head).catch((error: unknown) => {
        if (error instanceof MisuseError) {
          loading = undefined;
          // Logged once, since any client can ask for a WebSocket again and again.
          if (!wasLogged)
            port.logger.error({ err: faultOf(error) }, 'relay: WebSockets are not available');
          wasLogged = true;
          return refuseWith(
            socket,
            501,
            'web_sockets_unavailable',
            'The package `ws` cannot be loaded on the server; run `npm install ws` there.',
          );
        }
        port.logger.error({ err: faultOf(error) }, 'relay: a WebSocket could not be opened');
        refuseWith(socket, 500, 'internal_server_error', 'The relay failed. Try again.');
      });
    },
    leave() {
      leaving = true;
      if (served.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        onEmpty = resolve;
      });
    },
    terminate() {
      for (const socket of served.keys()) socket.destroy();
    },
  };
}

async function loadWs(load: () => Promise<WsPackage>): Promise<WsPackage> {
  try {
    return await load();
  } catch (cause) {
    throw packageFault('ws', 'WebSockets need', cause);
  }
}

function toRequest(incoming: IncomingMessage): Request {
  // The relay's checks refuse any method but GET.
  return new Request(urlOf(incoming), {
    method: (incoming.method ?? 'GET') === 'GET' ? 'GET' : 'POST',
    headers: headersOf(incoming),
  });
}

function refuseWith(socket: Duplex, status: number, error: string, message: string): void {
  refuse(
    socket,
    status,
    JSON.stringify({ error, message, code: error }),
    new Headers({ 'Content-Type': 'application/json' }),
  );
}

/**
 * Node offers no response object for an upgrade, so the answer is written to the socket directly.
 */
function refuse(socket: Duplex, status: number, body: string, headers: Headers): void {
  if (socket.destroyed) return;
  const lines = [...headers]
    .filter(([name]) => name !== 'connection' && name !== 'content-length')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${lines.join('')}connection: close\r\ncontent-length: ` +
      `${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
