/** The streams and polls that are open on a node. */
import type { Calls } from '../calls/calls.ts';
import type { Hub } from '../hub.ts';
import { leaving, relayError } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import { pollEvents } from './poll.ts';
import type { EventStreams } from './ports.ts';
import { createPresence } from './presence.ts';
import { pushEvents } from './push.ts';
import type { ConnectionParts, EndReason } from './source.ts';

/**
 * The most streams and polls of one side of a session on a node. The limit keeps one token from
 * taking all connections of the node.
 */
const maxOfSession = 1_024;

/** Makes the streams of a node. */
export function createEventStreams(settings: RelaySettings, hub: Hub, calls: Calls): EventStreams {
  const open = new Set<(reason: EndReason) => void>();
  const counts = new Map<string, number>();
  let closed = false;
  const parts: ConnectionParts = {
    settings,
    hub,
    calls,
    presence: createPresence(settings, hub),
    enter({ code, side }, end) {
      if (closed) throw leaving();
      const whose = `${code} ${side}`;
      const count = counts.get(whose) ?? 0;
      if (count >= maxOfSession)
        throw relayError(
          429,
          'rate_limit_exceeded',
          `This side of the session already has ${maxOfSession} open streams and polls on this ` +
            'node. Close some of them.',
          {
            code: 'STREAM_LIMIT',
            headers: { 'Retry-After': '5' },
          },
        );
      counts.set(whose, count + 1);
      open.add(end);
      return () => {
        if (!open.delete(end)) return;
        const left = (counts.get(whose) as number) - 1;
        if (left === 0) counts.delete(whose);
        else counts.set(whose, left);
      };
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
