/** HTTP to a server whose answers are bounded while they arrive: the SDK reads them whole. */
import type { JsonBounds } from '../../text/json-bounds.ts';
import { createMessageGuard, maxMessageBytes, messageBounds } from './message-guard.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What can be set about it. */
export interface BoundedFetchOptions {
  /** Most bytes of one message. @default 8 MB */
  readonly maxBytes?: number;
  /** What a message may hold, asked as each begins. @default what a result may */
  readonly bounds?: () => JsonBounds;
  /** Hears which bound a message was over, before its body fails. @default nobody does */
  readonly exceeded?: (message: string) => void;
}

/**
 * A `fetch` whose bodies fail once a message is over a bound. A stream may go on for ever; each
 * event of it is bounded.
 */
export function boundedFetch(inner: Fetch = fetch, options: BoundedFetchOptions = {}): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    // Whatever else it calls itself, it is read whole.
    const streaming =
      response.ok && /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
    const bounded = new Response(body.pipeThrough(bound(streaming, options)), {
      status,
      statusText,
      headers,
    });
    // What the SDK reads of a response to tell redirects.
    Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
      type: { value: response.type },
    });
    return bounded;
  };
}

function bound(
  streaming: boolean,
  {
    maxBytes = maxMessageBytes,
    bounds = () => messageBounds,
    exceeded = () => {},
  }: BoundedFetchOptions,
): TransformStream<Uint8Array, Uint8Array> {
  const guard = createMessageGuard(streaming ? 'emptyLine' : 'body', maxBytes, bounds);
  const guarded = (count: () => void): void => {
    try {
      count();
    } catch (error) {
      exceeded((error as Error).message);
      throw error;
    }
  };
  return new TransformStream({
    transform(chunk, controller) {
      guarded(() => guard.take(chunk));
      controller.enqueue(chunk);
    },
    flush() {
      guarded(() => guard.end());
    },
  });
}
