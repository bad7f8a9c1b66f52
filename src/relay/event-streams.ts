/** The streams and polls that are open on a node. */
import type { Calls } from './calls.ts';
import { pollEvents } from './event-poll.ts';
import { pushEvents } from './event-push.ts';
import type { ConnectionParts, EndReason } from './event-source.ts';
import type { EventStreams } from './event-stream.ts';
import type { Hub } from './hub.ts';
import { relayError } from './relay-error.ts';
import type { RelaySettings } from './settings.ts';

/** Makes the streams of a node. */
export function createEventStreams(settings: RelaySettings, hub: Hub, calls: Calls): EventStreams {
  const open = new Set<(reason: EndReason) => void>();
  let closed = false;
  const parts: ConnectionParts = {
    settings,
    hub,
    calls,
    enter(end) {
      if (closed) throw relayError(503, 'shutting_down', 'This node is shutting down. Connect again.', { headers: { 'Retry-After': '1' } });
      open.add(end);
      return () => void open.delete(end);
    },
  };
  return {
    open: (request, sink) => pushEvents(parts, request, sink),
    poll: (request, waitMs, signal) => pollEvents(parts, request, waitMs, signal),
    get count() {
      return open.size;
    },
    close() {
      closed = true;
      for (const end of [...open]) end('shutting_down');
    },
  };
}
