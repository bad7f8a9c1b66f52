/**
 * Events and answers over one WebSocket. It is opened with a ticket, because a socket cannot send
 * the token in a header, and a URL must not contain it.
 */
import type { RelayHttp } from './http.ts';
import { isJsonObject, parseObject, stringIn } from './json.ts';
import { type Line, streamPath, type Transport, transportUnavailable } from './line.ts';
import type { RelayWebSocket } from './options.ts';
import { asRelayClientError, relayClientError } from './relay-client-error.ts';
import { maxEventChars } from './sse-parser.ts';

/** @param base the address of the session, with http: or https: */
export function websocketTransport(
  http: RelayHttp,
  base: string,
  Socket: new (url: string) => RelayWebSocket,
): Transport {
  return {
    name: 'websocket',
    async run(line) {
      const ticket = await fetchTicket(http, line);
      await talk(
        line,
        open(
          Socket,
          `${base.replace(/^http/, 'ws')}${streamPath(line, { ticket, after: line.after() })}`,
        ),
      );
    },
  };
}

async function fetchTicket(http: RelayHttp, line: Line): Promise<string> {
  try {
    const ticket = stringIn(
      await http.call(line.scope, 'POST', '/ticket', { body: '{}' }),
      'ticket',
    );
    if (ticket !== undefined) return ticket;
  } catch (thrown) {
    const { status, code } = asRelayClientError(thrown);
    const noRoute =
      (status === 404 && code !== 'session_not_found') || status === 405 || status === 501;
    if (!noRoute) throw thrown;
  }
  throw transportUnavailable('The relay does not support WebSockets: it gave no ticket.');
}

function open(Socket: new (url: string) => RelayWebSocket, url: string): RelayWebSocket {
  try {
    return new Socket(url);
  } catch {
    // The error may quote the URL, which contains the ticket.
    throw transportUnavailable('A WebSocket to the relay cannot be opened here.');
  }
}

function talk(line: Line, socket: RelayWebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    let opened = false;
    line.scope.onEnd((reason) => {
      reject(reason);
      try {
        socket.close(1000);
      } catch {
        // The socket was never open.
      }
    });
    const lost = (): void => {
      if (opened) resolve();
      else reject(transportUnavailable('The WebSocket to the relay did not open.'));
    };
    socket.addEventListener('open', () => {
      opened = true;
      line.addDecision((frame) => socket.send(frame));
    });
    socket.addEventListener('close', lost);
    // Some environments send no `close` after an `error`.
    socket.addEventListener('error', lost);
    socket.addEventListener('message', ({ data }: { readonly data?: unknown }) => {
      if (line.scope.ended) return;
      line.heard();
      if (typeof data !== 'string') return;
      if (data.length > maxEventChars)
        return reject(
          relayClientError(
            'invalid_answer',
            `A frame of the relay has more than ${maxEventChars} characters.`,
          ),
        );
      const frame = parseObject(data);
      if (frame === undefined || !isJsonObject(frame.data)) return;
      const { id } = frame;
      line.receive({
        id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
        event: stringIn(frame, 'event') ?? '',
        data: frame.data,
      });
    });
  });
}
