/** Polling, for clients that cannot hold a stream open: answers with the current events as JSON. */
import { eventText } from '../events/event-text.ts';
import type { EventStreams, StreamRequest } from '../events/ports.ts';

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
