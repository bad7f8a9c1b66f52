/** Polling, for clients that cannot hold a stream open: the events of a moment as JSON. */
import type { EventStreams, StreamRequest } from '../events/ports.ts';

/**
 * Answers 200 `{ events: [{ id, event, data }] }`: what there is, or what comes first within
 * `waitMs`. The client asks again with the last id as `after`. Rejects as `streams.poll` does.
 * @param signal ends the wait, when the client has gone
 */
export async function pollResponse(
  streams: EventStreams,
  request: StreamRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<Response> {
  const events = await streams.poll(request, waitMs, signal);
  return Response.json(
    { events: events.map(({ id, event, data }) => ({ id, event, data })) },
    { headers: { 'Cache-Control': 'no-store' } },
  );
}
