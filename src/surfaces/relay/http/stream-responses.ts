/** The answers to requests for a stream: a stream of events, or what has happened since. */
import { inNextTurn } from '../../../values/limits/stretches.ts';
import {
  bufferBytes,
  createBackpressure,
  dataText,
  eventText,
  roomyBytes,
  tooSlow,
} from '../events/event-text.ts';
import type { EventStreams, OpenStream, StreamEvent, StreamRequest } from '../events/ports.ts';

/** Server-sent events: sends the stream of a session as a Response. */
const encoder = new TextEncoder();

/**
 * Opens a stream and answers 200 with it, as `text/event-stream`. Up to 1 MB of events wait while
 * the client does not read. Beyond that the body ends with an error and the waiting events are
 * discarded. Rejects like `streams.open`, before a Response exists.
 * Longer than 60 lines, since its short functions share the state of one stream.
 * @param dropped called once with the reason when the stream is dropped
 */
export async function sseResponse(
  streams: EventStreams,
  request: StreamRequest,
  dropped?: (reason: string) => void,
): Promise<Response> {
  const backpressure = createBackpressure();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let open: OpenStream | undefined;
  /** Events of this turn. They are sent together, since each write wakes the client. */
  let gathered = '';
  let gatheredBytes = 0;
  const waiting = (): number =>
    gatheredBytes + bufferBytes - (controller?.desiredSize ?? bufferBytes);
  const flush = (): void => {
    if (gatheredBytes > 0) controller?.enqueue(encoder.encode(gathered));
    gathered = '';
    gatheredBytes = 0;
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own;
      },
      pull() {
        if (waiting() <= roomyBytes) backpressure.release();
      },
      cancel() {
        controller = undefined;
        backpressure.release();
        open?.close();
      },
    },
    { highWaterMark: bufferBytes, size: ({ byteLength }) => byteLength },
  );
  open = await streams.open(request, {
    send(event) {
      if (controller === undefined) return false;
      const frame = frameOf(event);
      const size = Buffer.byteLength(frame);
      const before = waiting();
      if (before > 0 && before + size > bufferBytes) {
        controller.error(new Error(tooSlow));
        controller = undefined;
        backpressure.release();
        dropped?.(tooSlow);
        return false;
      }
      if (gatheredBytes === 0) inNextTurn(flush);
      gathered += frame;
      gatheredBytes += size;
      return true;
    },
    ready: () =>
      controller === undefined || waiting() <= roomyBytes ? undefined : backpressure.wait(),
    end() {
      flush();
      controller?.close();
      controller = undefined;
      backpressure.release();
    },
  });
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Proxies must not cache, transform or buffer the stream.
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    },
  });
}

/** Formats an event. JSON has no line breaks, so the data fits on one line. */
function frameOf(one: StreamEvent): string {
  const { id, event } = one;
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${dataText(one)}\n\n`;
}

/**
 * Answers 200 `{ events: [{ id, event, data }] }`: the events that are available, or else the first
 * that arrive within `waitMs`. The client polls again with the last id as `after`. Rejects like
 * `streams.poll`.
 * @param signal ends the wait when the client has gone away
 */
export async function pollResponse(
  streams: EventStreams,
  request: StreamRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<Response> {
  const events = await streams.poll(request, waitMs, signal);
  return new Response(`{"events":[${events.map(eventText).join()}]}`, {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  });
}
