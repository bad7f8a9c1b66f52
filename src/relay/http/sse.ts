/** Server-sent events: a stream of a session as a Response. */

import { bufferBytes, createBackpressure, roomyBytes, tooSlow } from '../events/backpressure.ts';
import type { EventStreams, OpenStream, StreamEvent, StreamRequest } from '../events/ports.ts';

const encoder = new TextEncoder();

/**
 * Opens a stream and answers with it: 200, `text/event-stream`. What comes while its client does
 * not read waits, up to 1 MB; then the body ends with an error and what waits is let go. Rejects as
 * `streams.open` does, before there is any Response.
 * @param dropped is told why, once, when the stream was dropped
 */
export async function sseResponse(
  streams: EventStreams,
  request: StreamRequest,
  dropped?: (reason: string) => void,
): Promise<Response> {
  const backpressure = createBackpressure();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let open: OpenStream | undefined;
  const waiting = (): number => bufferBytes - (controller?.desiredSize ?? bufferBytes);
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
      const frame = encoder.encode(frameOf(event));
      const before = waiting();
      if (before > 0 && before + frame.byteLength > bufferBytes) {
        controller.error(new Error(tooSlow));
        controller = undefined;
        backpressure.release();
        dropped?.(tooSlow);
        return false;
      }
      controller.enqueue(frame);
      return true;
    },
    ready: () =>
      controller === undefined || waiting() <= roomyBytes ? undefined : backpressure.wait(),
    end() {
      controller?.close();
      controller = undefined;
      backpressure.release();
    },
  });
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      // No intermediary may keep, rewrite or gather it.
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    },
  });
}

/** JSON has no line breaks, so that the data is one line. */
function frameOf({ id, event, data }: StreamEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
