/**
 * Passes requests and WebSockets on to the relay, so that page and relay have one origin, as a
 * proxy in front of both would.
 */
import { type IncomingMessage, type RequestListener, request } from 'node:http';
import { connect } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';

/** Where the relay listens on this machine. */
export interface Forward {
  readonly request: RequestListener;
  /** Of `node:http`'s event `upgrade`. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** @param port the relay's, on the loopback */
export function forwardTo(port: number): Forward {
  return {
    request(incoming, outgoing) {
      const { method, url: path, headers } = incoming;
      const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        // A stream of events goes on as it comes.
        outgoing.flushHeaders();
        pipeline(answer, outgoing, () => {});
      });
      onward.on('error', () =>
        outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(),
      );
      outgoing.on('close', () => onward.destroy());
      incoming.pipe(onward);
    },
    upgrade({ method, url, rawHeaders }, socket, head) {
      const lines = rawHeaders.flatMap((name, index) =>
        index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}\r\n`] : [],
      );
      const onward = connect(port, '127.0.0.1');
      onward.write(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`);
      onward.write(head);
      pipeline(socket, onward, socket, () => {
        onward.destroy();
        socket.destroy();
      });
    },
  };
}
