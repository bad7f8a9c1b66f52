/**
 * Serves one WebSocket of a session. It sends events as text frames, and receives answers and other
 * frames.
 */
import type { RawData, WebSocket } from 'ws';
import type { JsonObject } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import {
  type Backpressure,
  bufferBytes,
  createBackpressure,
  eventText,
  roomyBytes,
  tooSlow,
} from '../events/event-text.ts';
import type { OpenStream, StreamEvent } from '../events/ports.ts';
import { isRelayError } from '../relay-error.ts';
import { faultOf } from '../report.ts';
import { logName } from '../secrets.ts';
import type { RelayLogger } from '../settings.ts';
import type { SocketAdmission } from './server-port.ts';
import { readFrame } from './socket-frame.ts';

/**
 * Why the relay closes a WebSocket; the reason says more. `ws` itself closes with 1002 for a
 * violation of the protocol, 1007 for invalid text and 1009 for a frame that is too large.
 */
const closeCodes = {
  /** The stream has ended. The reason is that of the preceding `goodbye`. */
  ended: 1000,
  /** This node shuts down. Connect again, to another node or later. */
  leaving: 1001,
  /** The client sent a binary frame. */
  binary: 1003,
  /** The client sent too many frames that the relay cannot read, or its stream was refused. */
  misuse: 1008,
  /** The relay failed. */
  failed: 1011,
  /** The client reads too slowly, or the store cannot be reached. Connect again. */
  later: 1013,
} as const;

/**
 * Most frames of one socket that are processed at the same time. Beyond that, the socket is not
 * read, so that only frames that have already arrived wait.
 */
const maxAtOnce = 16;
/** Unreadable frames after which the socket is closed. */
const maxFaults = 5;
/** Milliseconds that a client has to close its side. */
const closingMs = 5_000;
/** Most bytes of a reason. The protocol sets this limit. */
const reasonBytes = 123;

/** A socket that is served. */
export interface ServedSocket {
  /** Pings the client; ends the connection when the last ping was not answered. */
  check(): void;
}

/** One socket and its state. */
interface Serving extends SocketAdmission {
  readonly socket: WebSocket;
  readonly logger: RelayLogger;
  readonly backpressure: Backpressure;
  /** Functions that process the frames which wait for one of {@link maxAtOnce} places. */
  readonly waiting: (() => Promise<void>)[];
  /** The stream, once it is open. */
  opened: OpenStream | undefined;
  over: boolean;
  /** The number of frames that could not be read. */
  faults: number;
  /** The number of frames that are being processed. */
  taking: number;
  /** Whether the client has answered the last ping. */
  answered: boolean;
  /** The reason of the last `goodbye`. */
  reason: string;
  /**
   * Bytes of a frame that is being sent and is larger than the buffer. They do not count as
   * waiting.
   */
  large: number;
}

/** Serves an open socket until it closes. */
export function serveSocket(
  socket: WebSocket,
  admission: SocketAdmission,
  logger: RelayLogger,
): ServedSocket {
  const serving: Serving = {
    ...admission,
    socket,
    logger,
    backpressure: createBackpressure(),
    waiting: [],
    opened: undefined,
    over: false,
    faults: 0,
    taking: 0,
    answered: true,
    reason: '',
    large: 0,
  };
  listen(serving);
  openStream(serving);
  return {
    check() {
      if (!serving.answered) return socket.terminate();
      if (serving.over) return;
      serving.answered = false;
      socket.ping();
    },
  };
}

function listen(serving: Serving): void {
  const { socket } = serving;
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (serving.over) return;
    if (isBinary) close(serving, closeCodes.binary, 'Only text frames are read.');
    else takeFrame(serving, (data as Buffer).toString());
  });
  socket.on('ping', (data: Buffer) => {
    if (serving.over) return;
    if (waitingBytes(serving) > bufferBytes) drop(serving);
    else socket.pong(data);
  });
  socket.on('pong', () => {
    serving.answered = true;
  });
  // The client has violated the protocol. The event `close` follows.
  socket.on('error', () => {});
  socket.once('close', () => leave(serving));
}

function openStream(serving: Serving): void {
  const { stream, streams, backpressure } = serving;
  streams
    .open(stream, {
      send(event) {
        if (event.event === 'goodbye' && typeof event.data.reason === 'string')
          serving.reason = event.data.reason;
        return send(serving, event);
      },
      ready: () =>
        serving.over || waitingBytes(serving) <= roomyBytes ? undefined : backpressure.wait(),
      end: () => {
        const { reason } = serving;
        close(serving, reason === 'shutting_down' ? closeCodes.leaving : closeCodes.ended, reason);
      },
    })
    .then(
      (opened) => {
        serving.opened = opened;
        if (serving.over) opened.close();
      },
      (error: unknown) => {
        if (isRelayError(error))
          return close(
            serving,
            error.status === 503 ? closeCodes.later : closeCodes.misuse,
            error.error,
          );
        failed(serving, error, 'a stream over a WebSocket could not be opened');
      },
    );
}

function leave(serving: Serving): void {
  serving.over = true;
  serving.backpressure.release();
  serving.opened?.close();
}

function close(serving: Serving, code: number, why: string): void {
  const { socket } = serving;
  if (serving.over) return;
  leave(serving);
  socket.close(
    code,
    Buffer.from(why)
      .subarray(0, reasonBytes)
      .toString()
      .replace(/\uFFFD$/, ''),
  );
  const timer = setTimeout(() => socket.terminate(), closingMs);
  socket.once('close', () => clearTimeout(timer));
}

function failed(serving: Serving, error: unknown, what: string): void {
  const { logger, stream } = serving;
  logger.error({ session: logName(stream.code), err: faultOf(error) }, `relay: ${what}`);
  close(serving, closeCodes.failed, 'The relay failed.');
}

/** Closes the socket of a client that reads too slowly. */
function drop(serving: Serving): void {
  const { logger, stream } = serving;
  logger.warn(
    { session: logName(stream.code), side: stream.side },
    `relay: a WebSocket was dropped. ${tooSlow}`,
  );
  close(serving, closeCodes.later, tooSlow);
}

function waitingBytes({ socket, large }: Serving): number {
  return socket.bufferedAmount - large;
}

function send(serving: Serving, event: StreamEvent): boolean {
  const { socket, backpressure } = serving;
  if (serving.over) return false;
  const frame = eventText(event);
  const size = Buffer.byteLength(frame);
  const before = socket.bufferedAmount;
  if (before > 0 && waitingBytes(serving) + size > bufferBytes) {
    drop(serving);
    return false;
  }
  const exempt = before === 0 && size > bufferBytes ? size : 0;
  serving.large += exempt;
  socket.send(frame, () => {
    serving.large -= exempt;
    if (waitingBytes(serving) <= roomyBytes) backpressure.release();
  });
  return true;
}

/** Tells the client about a frame that cannot be read. */
function refuseFrame(serving: Serving, error: string, message: string): void {
  send(serving, { event: 'error', data: { error, message } });
  if (++serving.faults >= maxFaults)
    close(serving, closeCodes.misuse, 'Too many frames that cannot be read.');
}

function takeFrame(serving: Serving, text: string): void {
  const read = readFrame(text, serving);
  if ('error' in read) return refuseFrame(serving, read.error, read.message);
  const { data, frame } = read;
  serving.waiting.push(() =>
    frame === undefined
      ? store(serving, data)
      : frame.take(data, (event) => void send(serving, event)),
  );
  takeNext(serving);
}

function takeNext(serving: Serving): void {
  const { socket, waiting } = serving;
  const [take] = waiting;
  if (take === undefined) return socket.resume();
  if (serving.taking >= maxAtOnce) return socket.pause();
  waiting.shift();
  serving.taking++;
  take()
    .catch((error: unknown) => failed(serving, error, 'a frame of a WebSocket failed'))
    .finally(() => {
      serving.taking--;
      takeNext(serving);
    });
}

async function store(serving: Serving, data: unknown): Promise<void> {
  const { status, body } = await serving.respond(data);
  const requestId =
    isJsonObject(data) && typeof data.requestId === 'string'
      ? { requestId: data.requestId.slice(0, 200) }
      : {};
  if (status < 300)
    send(serving, {
      event: 'response-stored',
      data: { ...requestId, ...pick(body, ['requestId']) },
    });
  else
    send(serving, {
      event: 'response-refused',
      data: { ...requestId, status, ...pick(body, ['error', 'message']) },
    });
}

function pick(body: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  );
}
