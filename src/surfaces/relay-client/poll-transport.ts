/**
 * Receives events by long polling: a request waits at the relay until there is an event, or for the
 * time of a heartbeat.
 */
import type { RelayHttp } from './http.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringIn } from './json.ts';
import { type Line, streamPath, type Transport } from './line.ts';

/** If the first request waits this long without an error, the line is up. */
const upMs = 1_000;
/** Least milliseconds between two requests if the first one brought nothing new. */
const pauseMs = 1_000;

export function pollTransport(http: RelayHttp): Transport {
  return {
    name: 'poll',
    async run(line) {
      line.scope.after(upMs, line.up);
      let first = true;
      for (;;) {
        const after = line.after();
        const startedAt = performance.now();
        // Only the first poll may take the session from another application.
        const continues = first ? undefined : 'true';
        const path = streamPath(line, { mode: 'poll', after, continues });
        const answer = await http.call(line.scope, 'GET', path, { timeoutMs: line.silenceMs() });
        line.heard();
        // A stream sends this with its `connected` event, a poll next to its events.
        if (first) line.receive({ id: undefined, event: 'connected', data: about(answer) });
        first = false;
        take(line, answer);
        if (line.after() === after && !line.scope.ended)
          await line.scope.sleep(pauseMs - (performance.now() - startedAt));
        if (line.scope.ended) return;
      }
    },
  };
}

function about({ events: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

function take(line: Line, { events }: JsonObject): void {
  if (!Array.isArray(events)) return;
  for (const item of events as readonly JsonValue[]) {
    if (line.scope.ended) return;
    if (!isJsonObject(item) || !isJsonObject(item.data)) continue;
    const { id, data } = item;
    line.receive({
      id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
      event: stringIn(item, 'event') ?? '',
      data,
    });
  }
}
