/** The two streams of events, over SSE or by polling. */

import type { StreamRequest } from '../events/ports.ts';
import type { Side } from '../ports/documents.ts';
import { relayError } from '../relay-error.ts';
import type { NodeParts, SessionExchange, SessionHandlers } from './node-parts.ts';

/** Makes the handlers of these routes. */
export function streamRoutes({
  settings,
  streams,
  respond,
  limits,
  draining,
}: NodeParts): Pick<SessionHandlers, 'stream' | 'events' | 'agent'> {
  const untilDraining = withEither(draining);
  const open = async (exchange: SessionExchange): Promise<Response> => {
    const { request } = exchange;
    const url = new URL(request.url);
    const mode = url.searchParams.get('mode') ?? 'sse';
    const wanted = readStreamRequest(exchange);
    const { code, side } = wanted;
    if (mode !== 'sse' && mode !== 'poll')
      throw relayError(400, 'invalid_request', 'Expected `mode` to be "sse" or "poll".');
    await (mode === 'sse'
      ? limits.takeBySide('stream', code, side)
      : limits.takeBySide('read', code, side));
    if (mode === 'sse') return respond.sse(streams, wanted);
    return untilDraining(request.signal, (signal) =>
      respond.poll(streams, wanted, settings.heartbeatMs, signal),
    );
  };
  return { stream: open, events: open, agent: onlySocket };
}

/**
 * Makes a function that runs `work` with a signal which aborts when `nodeSignal` or the signal of a
 * request does. `AbortSignal.any` is not used, because in Node 20 each call leaves an entry on the
 * signal of the node, and the number of entries would grow as long as the node runs.
 */
function withEither(nodeSignal: AbortSignal) {
  const running = new Set<AbortController>();
  nodeSignal.addEventListener('abort', () => {
    for (const one of running) one.abort();
  });
  return async <T>(
    requestSignal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const either = new AbortController();
    const abort = (): void => either.abort();
    running.add(either);
    requestSignal.addEventListener('abort', abort, { once: true });
    if (nodeSignal.aborted || requestSignal.aborted) abort();
    try {
      return await work(either.signal);
    } finally {
      running.delete(either);
      requestSignal.removeEventListener('abort', abort);
    }
  };
}

/** Refuses plain requests to the route of the agent's WebSocket. Upgrades never reach it. */
async function onlySocket(): Promise<never> {
  throw relayError(
    426,
    'upgrade_required',
    'Expected a WebSocket. Send `Upgrade: websocket`, or use `request` and `events` instead.',
    { headers: { Upgrade: 'websocket', Connection: 'Upgrade' } },
  );
}

/**
 * Reads the query of a request, and `Last-Event-ID`, which a browser sends when it reconnects.
 * @throws RelayError 400 `invalid_last_event_id`, `invalid_client`, `invalid_request`
 */
export function readStreamRequest({
  request,
  document,
  side,
}: Pick<SessionExchange, 'request' | 'document' | 'side'>): StreamRequest {
  const url = new URL(request.url);
  const after = readPlace(
    request.headers.get('last-event-id') || url.searchParams.get('after') || undefined,
  );
  const client = url.searchParams.get('client') ?? undefined;
  if (client !== undefined && !/^[A-Za-z0-9_.:-]{1,128}$/.test(client))
    throw relayError(
      400,
      'invalid_client',
      'Expected `client` to have 1 to 128 characters of A-Z, a-z, 0-9, `_`, `.`, `:` and `-`.',
    );
  return {
    code: document.code,
    side: side as Side,
    expiresAt: document.expiresAt,
    ...(after === undefined ? {} : { after }),
    ...(client === undefined ? {} : { client }),
    ...(readContinues(url) ? { continues: true } : {}),
  };
}

function readContinues(url: URL): boolean {
  const text = url.searchParams.get('continues') ?? 'false';
  if (text !== 'true' && text !== 'false')
    throw relayError(400, 'invalid_request', 'Expected `continues` to be "true" or "false".');
  return text === 'true';
}

function readPlace(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const place = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(place))
    throw relayError(
      400,
      'invalid_last_event_id',
      'Expected `Last-Event-ID`, or `after`, to be a whole number from 0.',
    );
  return place;
}
