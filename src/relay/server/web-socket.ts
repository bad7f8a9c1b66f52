/** One WebSocket of a session: events out as text frames, and an application's answers back. */
import type { RawData, WebSocket } from 'ws';
import type { JsonObject } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { excessOf, type JsonBounds, type JsonExcess } from '../../text/json-bounds.ts';
import { bufferBytes, createBackpressure, roomyBytes, tooSlow } from '../events/backpressure.ts';
import type { OpenStream, StreamEvent } from '../events/ports.ts';
import { maxAnswerValues, maxBodyDepth } from '../ports/answer-bounds.ts';
import { isRelayError } from '../relay-error.ts';
import { faultOf } from '../report.ts';
import { logName } from '../secrets.ts';
import type { RelayLogger } from '../settings.ts';
import type { SocketAdmission } from './socket-port.ts';

/**
 * Why the relay closes a WebSocket; the reason says more. Beside these, `ws` closes with 1002, 1007
 * and 1009 what is no protocol, no text or too large.
 */
export const closeCodes = {
  /** The stream has ended: the reason is that of the `goodbye` before. */
  ended: 1000,
  /** This node shuts down: connect again, elsewhere or later. */
  leaving: 1001,
  /** A binary frame came. */
  binary: 1003,
  /** Too many frames came that the relay cannot read. */
  misuse: 1008,
  /** The relay failed. */
  failed: 1011,
  /** The client reads too slowly, or the store is away: connect again. */
  later: 1013,
} as const;

/**
 * Most answers of one socket that are being stored at a time. Of more, only what had come by then
 * waits: the socket is not read meanwhile.
 */
const mostAtOnce = 16;
/** Frames that cannot be read, after which the socket is closed. */
const mostFaults = 5;
/** Of a frame: an answer within `data`. */
const frameBounds: JsonBounds = { maxDepth: maxBodyDepth + 1, maxValues: maxAnswerValues + 20 };
const tooMuch: Readonly<Record<JsonExcess, string>> = {
  depth: `Expected the data of a frame to be nested at most ${maxBodyDepth} levels deep.`,
  values:
    `An answer may hold at most ${maxAnswerValues} values. A member with a key that is new in ` +
    'it counts as five.',
};
/** Milliseconds that a client has for its part of the closing. */
const closingMs = 5_000;
/** Most bytes of a reason, by the protocol. */
const reasonBytes = 123;

/** A socket that is served. */
export interface ServedSocket {
  /** Asks whether the client is there; ends the connection when the last question has no answer. */
  check(): void;
}

/** Serves an open socket until it closes. */
export function serveSocket(
  socket: WebSocket,
  { stream, streams, respond }: SocketAdmission,
  logger: RelayLogger,
): ServedSocket {
  const backpressure = createBackpressure();
  let open: OpenStream | undefined;
  let over = false;
  let faults = 0;
  let storing = 0;
  const unstored: unknown[] = [];
  let answered = true;
  let reason = '';
  // A single frame may be larger than the buffer: it does not count while it is on its way.
  let large = 0;

  const leave = (): void => {
    over = true;
    backpressure.release();
    open?.close();
  };
  const close = (code: number, why: string): void => {
    if (over) return;
    leave();
    socket.close(
      code,
      Buffer.from(why)
        .subarray(0, reasonBytes)
        .toString()
        .replace(/\uFFFD$/, ''),
    );
    const timer = setTimeout(() => socket.terminate(), closingMs);
    socket.once('close', () => clearTimeout(timer));
  };
  const failed = (error: unknown, what: string): void => {
    logger.error({ session: logName(stream.code), err: faultOf(error) }, `relay: ${what}`);
    close(closeCodes.failed, 'The relay failed.');
  };
  const waiting = (): number => socket.bufferedAmount - large;
  const drop = (): void => {
    logger.warn(
      { session: logName(stream.code), side: stream.side },
      `relay: a WebSocket was dropped. ${tooSlow}`,
    );
    close(closeCodes.later, tooSlow);
  };
  const send = (event: StreamEvent): boolean => {
    if (over) return false;
    const frame = JSON.stringify({ event: event.event, id: event.id, data: event.data });
    const size = Buffer.byteLength(frame);
    const before = socket.bufferedAmount;
    if (before > 0 && waiting() + size > bufferBytes) {
      drop();
      return false;
    }
    const exempt = before === 0 && size > bufferBytes ? size : 0;
    large += exempt;
    socket.send(frame, () => {
      large -= exempt;
      if (waiting() <= roomyBytes) backpressure.release();
    });
    return true;
  };
  const fault = (error: string, message: string): void => {
    send({ event: 'error', data: { error, message } });
    if (++faults >= mostFaults) close(closeCodes.misuse, 'Too many frames that cannot be read.');
  };
  const store = async (data: unknown): Promise<void> => {
    const { status, body } = await respond(data);
    const requestId =
      isJsonObject(data) && typeof data.requestId === 'string'
        ? { requestId: data.requestId.slice(0, 200) }
        : {};
    if (status < 300)
      send({ event: 'response-stored', data: { ...requestId, ...pick(body, ['requestId']) } });
    else
      send({
        event: 'response-refused',
        data: { ...requestId, status, ...pick(body, ['error', 'message']) },
      });
  };
  const storeNext = (): void => {
    if (unstored.length === 0) return socket.resume();
    if (storing >= mostAtOnce) return socket.pause();
    storing++;
    store(unstored.shift())
      .catch((error: unknown) => failed(error, 'an answer over a WebSocket failed'))
      .finally(() => {
        storing--;
        storeNext();
      });
  };
  const take = (text: string): void => {
    const excess = excessOf(text, frameBounds);
    if (excess !== undefined) return fault('invalid_frame', tooMuch[excess]);
    const frame = parse(text);
    if (!isJsonObject(frame) || typeof frame.event !== 'string')
      return fault('invalid_frame', 'Expected a text frame with the JSON of `{ event, data }`.');
    if (frame.event !== 'response')
      return fault('unknown_event', 'Expected the event `response`; a client sends no other.');
    if (stream.side !== 'application')
      return fault('wrong_side', 'Only the application answers; this is a stream for agents.');
    unstored.push(frame.data);
    storeNext();
  };

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (over) return;
    if (isBinary) close(closeCodes.binary, 'Only text frames are read.');
    else take((data as Buffer).toString());
  });
  socket.on('ping', (data: Buffer) => {
    if (over) return;
    if (waiting() > bufferBytes) drop();
    else socket.pong(data);
  });
  socket.on('pong', () => {
    answered = true;
  });
  // What is no protocol: `close` follows.
  socket.on('error', () => {});
  socket.once('close', leave);

  streams
    .open(stream, {
      send(event) {
        if (event.event === 'goodbye' && typeof event.data.reason === 'string')
          reason = event.data.reason;
        return send(event);
      },
      ready: () => (over || waiting() <= roomyBytes ? undefined : backpressure.wait()),
      end: () => close(reason === 'shutting_down' ? closeCodes.leaving : closeCodes.ended, reason),
    })
    .then(
      (opened) => {
        open = opened;
        if (over) opened.close();
      },
      (error: unknown) => {
        if (isRelayError(error))
          return close(error.status === 503 ? closeCodes.later : closeCodes.misuse, error.error);
        failed(error, 'a stream over a WebSocket could not be opened');
      },
    );

  return {
    check() {
      if (!answered) return socket.terminate();
      if (over) return;
      answered = false;
      socket.ping();
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function pick(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  );
}
