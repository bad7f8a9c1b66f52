/**
 * A poll: what there is for a client that cannot hold a stream open, or what comes first within its
 * wait.
 */
import pTimeout from 'p-timeout';
import { bufferBytes } from './backpressure.ts';
import type { StreamEvent, StreamRequest } from './ports.ts';
import {
  type ConnectionParts,
  type EndReason,
  type EventSource,
  goodbye,
  openEventSource,
} from './source.ts';

/**
 * Waits for events, `waitMs` at most. An application's poll keeps its connection for a lease after
 * it, until the next one. Where the connection is over, the last event is a `goodbye`. Rejects as a
 * stream does that opens, and where the store goes.
 */
export async function pollEvents(
  parts: ConnectionParts,
  request: StreamRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly StreamEvent[]> {
  const { now, leaseMs } = parts.settings;
  const { code, side, expiresAt } = request;
  let source: EventSource | undefined;
  let unwatch: (() => void) | undefined;
  let beat: ReturnType<typeof setInterval> | undefined;
  let expiry: ReturnType<typeof setTimeout> | undefined;
  let over: EndReason | undefined;
  let wake = (): void => {};

  const end = (reason: EndReason): void => {
    over ??= reason;
    wake();
  };
  const renewLease = async (): Promise<void> => {
    try {
      const reason = await source?.renewLease();
      if (reason !== undefined) end(reason);
    } catch {
      // Tried again at the next beat.
    }
  };
  const isOver = (): boolean => over !== undefined || signal.aborted;
  const onAbort = (): void => wake();
  const exit = parts.enter(request, end);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    unwatch = await parts.hub.watch(code, (message) => {
      if (message === undefined) source?.reader.markStale();
      if (message === 'closed') end('session_closed');
      if ((message === 'lease' && side === 'application') || message === undefined)
        void renewLease();
      if (message === `log:${side}` || message === undefined) wake();
    });
    source = await openEventSource(parts, request, end);
    const { reader } = source;
    beat = setInterval(renewLease, leaseMs / 3);
    const livesMs = Math.max(0, expiresAt - now());
    if (livesMs <= waitMs) expiry = setTimeout(() => end('session_expired'), livesMs);
    const until = performance.now() + waitMs;
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const events: StreamEvent[] = [];
      let bytes = 0;
      for await (const event of reader.next()) {
        events.push(event);
        bytes += JSON.stringify(event.data).length;
        // The rest is for the next poll.
        if (bytes >= bufferBytes || isOver()) break;
      }
      const left = until - performance.now();
      if (events.length > 0 || isOver() || left <= 0) {
        await reader.remember(events.at(-1)?.id).catch(() => {});
        if (over === undefined) await renewLease();
        return over === undefined ? events : [...events, goodbye(over)];
      }
      await pTimeout(woken, { milliseconds: left, fallback: () => {} });
    }
  } finally {
    exit();
    unwatch?.();
    clearInterval(beat);
    clearTimeout(expiry);
    signal.removeEventListener('abort', onAbort);
  }
}
