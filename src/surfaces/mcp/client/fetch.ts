/** HTTP with responses that are bounded as they arrive, because the SDK reads them whole. */
import { nextTurn } from '../../../values/limits/next-turn.ts';
import type { JsonBounds } from '../../../values/text/json-bounds.ts';
import { createMessageGuard, maxMessageBytes, messageBounds } from './message-guard.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Options of {@link boundedFetch}. */
export interface BoundedFetchOptions {
  /** Most bytes of one message. @default 8 MB */
  readonly maxBytes?: number;
  /** The bounds of a message, asked as each one begins. @default those of a result */
  readonly bounds?: () => JsonBounds;
  /** Called with the bound that a message exceeds, before its body fails. @default not called */
  readonly exceeded?: (message: string) => void;
}

/**
 * A `fetch` whose response bodies fail once a message exceeds a bound. A stream may go on forever,
 * but each of its events is bounded.
 */
export function boundedFetch(inner: Fetch = fetch, options: BoundedFetchOptions = {}): Fetch {
  return async (url, init) => {
    await noticeClosed();
    const response = await inner(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    // The SDK reads any other body whole.
    const streaming =
      response.ok && /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
    const bounded = new Response(body.pipeThrough(bound(streaming, options)), {
      status,
      statusText,
      headers,
    });
    // The SDK reads these to recognize redirects.
    Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
      type: { value: response.type },
    });
    return bounded;
  };
}

/**
 * Lets Node read from its sockets once, so that a connection which the server has closed is not
 * used for the request. Such a request would fail as if the server might have read it. The first
 * turn may already have begun, so there are two.
 */
async function noticeClosed(): Promise<void> {
  await nextTurn();
  await nextTurn();
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
