/** HTTP to a server whose answers are bounded while they arrive: the SDK reads them whole. */

/** Most bytes of one message: a JSON body, or one event of a stream. */
export const maxMessageBytes = 8 * 1_048_576;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A `fetch` whose bodies fail once a message is over `maxBytes`. A stream may go on for ever; each event of it is bounded. */
export function boundedFetch(inner: Fetch = fetch, maxBytes = maxMessageBytes): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const streaming = headers.get('content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true;
    const bounded = new Response(body.pipeThrough(bound(maxBytes, streaming)), { status, statusText, headers });
    // What the SDK reads of a response to tell redirects.
    Object.defineProperties(bounded, { url: { value: response.url }, redirected: { value: response.redirected }, type: { value: response.type } });
    return bounded;
  };
}

const lineFeed = 10;
const carriageReturn = 13;

function bound(maxBytes: number, streaming: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let emptyLine = true;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (streaming) {
        for (let at = 0; at < chunk.length; at++) {
          const byte = chunk[at];
          if (byte === carriageReturn) continue;
          // An empty line ends an event: what stands after it counts anew.
          if (byte === lineFeed && emptyLine) bytes = chunk.length - at - 1;
          emptyLine = byte === lineFeed;
        }
      }
      if (bytes > maxBytes) controller.error(new Error(`The server sent a message of more than ${maxBytes} bytes.`));
      else controller.enqueue(chunk);
    },
  });
}
