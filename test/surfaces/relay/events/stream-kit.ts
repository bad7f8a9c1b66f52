/**
 * What tests of transports share: streams of events that a test feeds, a relay that answers as it
 * is told, and raw sockets.
 */
import { connect, type Socket } from 'node:net';
import type {
  EventSink,
  EventStreams,
  StreamRequest,
} from '../../../../src/surfaces/relay/events/ports.ts';
import {
  listen,
  type NodeServer,
  type NodeServerSettings,
  type Served,
} from '../../../../src/surfaces/relay/server/node-server.ts';
import type { SocketAdmission } from '../../../../src/surfaces/relay/server/server-port.ts';

/** A stream that was opened, held by the test. */
export interface FedStream extends EventSink {
  readonly request: StreamRequest;
  closed: number;
}

export interface FakeStreams extends EventStreams {
  readonly opened: FedStream[];
  /** What the next `open` rejects with. */
  fault: unknown;
}

export const application: StreamRequest = {
  code: 'ABCDEFGH',
  side: 'application',
  expiresAt: 4_102_444_800_000,
};

export function fakeStreams(): FakeStreams {
  const opened: FedStream[] = [];
  return {
    opened,
    fault: undefined,
    async open(request, sink) {
      await Promise.resolve();
      if (this.fault !== undefined) throw this.fault;
      const stream: FedStream = {
        request,
        closed: 0,
        send: (event) => sink.send(event),
        end: () => sink.end(),
        ready: () => sink.ready?.(),
      };
      opened.push(stream);
      sink.send({ event: 'connected', data: { sessionCode: request.code } });
      return {
        close() {
          stream.closed++;
        },
      };
    },
    poll: async () => [],
    get count() {
      return opened.length;
    },
    close() {
      for (const stream of opened) {
        if (stream.closed > 0) continue;
        stream.send({ event: 'goodbye', data: { reason: 'shutting_down' } });
        stream.end();
      }
    },
  };
}

/** An event of about so many bytes. */
export function bulk(bytes: number, id = 1) {
  return { id, event: 'tool-request', data: { args: 'x'.repeat(bytes) } };
}

/** What a test opens, to be closed after it. */
export interface Opened {
  serve(served?: Partial<Served>, settings?: Partial<NodeServerSettings>): Promise<NodeServer>;
  raw(port: number, text?: string, host?: string): Promise<RawClient>;
  close(): Promise<void>;
}

/** A client without any protocol. */
export interface RawClient {
  readonly socket: Socket;
  /** All that has come. */
  text(): string;
  /** True once the connection is gone. */
  over(): boolean;
}

export const silent = { info() {}, warn() {}, error() {} };

export function opened(): Opened {
  const servers: NodeServer[] = [];
  const sockets: Socket[] = [];
  return {
    async serve(
      {
        answer = async () => new Response('none', { status: 404 }),
        logger = silent,
        close = async () => {},
        sockets: port,
      } = {},
      settings = {},
    ) {
      const refuse = async (): Promise<Response | SocketAdmission> =>
        new Response('none', { status: 404 });
      const served: Served = {
        answer,
        logger,
        close,
        sockets: port ?? { open: refuse, heartbeatMs: 30_000, logger },
      };
      const server = await listen(served, {
        host: '127.0.0.1',
        port: 0,
        maxConnections: 100,
        ...settings,
      });
      servers.push(server);
      return server;
    },
    async raw(port, text = '', host = '127.0.0.1') {
      const socket = connect(port, host);
      sockets.push(socket);
      let came = '';
      socket.on('data', (chunk) => {
        came += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.write(text);
      return { socket, text: () => came, over: () => socket.destroyed || socket.readableEnded };
    },
    async close() {
      for (const socket of sockets.splice(0)) socket.destroy();
      await Promise.all(servers.splice(0).map((server) => server.close()));
    },
  };
}
