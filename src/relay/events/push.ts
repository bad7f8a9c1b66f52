/**
 * A stream of events: reads its source whenever the bus wakes it and with every heartbeat, until
 * the client, the session or the node goes.
 */

import { longestTimerMs } from '../../options.ts';
import { faultOf } from '../report.ts';
import type { EventSink, OpenStream, StreamEvent, StreamRequest } from './ports.ts';
import {
  type ConnectionParts,
  type EndReason,
  type EventSource,
  goodbye,
  openEventSource,
} from './source.ts';

/**
 * Opens a stream into a sink. Rejects where the session is gone, or store or bus cannot be reached.
 */
export async function pushEvents(
  parts: ConnectionParts,
  request: StreamRequest,
  sink: EventSink,
): Promise<OpenStream> {
  const { now, leaseMs, heartbeatMs, logger } = parts.settings;
  const { code, side, expiresAt } = request;
  const timers: ReturnType<typeof setTimeout>[] = [];
  let retry: ReturnType<typeof setTimeout> | undefined;
  let unwatch: (() => void) | undefined;
  let source: EventSource | undefined;
  let stopped = false;
  let reading = false;
  let again = false;
  let failing = false;

  /** Also what came to be while the stream was over already. */
  const leave = (): void => {
    stopped = true;
    exit();
    unwatch?.();
    for (const timer of timers.splice(0)) clearTimeout(timer);
    clearTimeout(retry);
    source?.leave();
  };
  const send = (event: StreamEvent): boolean => {
    if (stopped) return false;
    if (!sink.send(event)) leave();
    return !stopped;
  };
  const end = (reason: EndReason): void => {
    if (!send(goodbye(reason))) return;
    leave();
    sink.end();
  };
  const exit = parts.enter(request, end);

  const read = async (): Promise<void> => {
    again = true;
    if (reading || source === undefined) return;
    reading = true;
    try {
      while (again && !stopped) {
        again = false;
        for await (const event of source.reader.next()) {
          if (!send(event)) return;
          await sink.ready?.();
          if (stopped) return;
        }
        failing = false;
      }
    } finally {
      reading = false;
    }
  };
  const look = (): void => {
    read().catch((error: unknown) => {
      if (stopped) return;
      source?.reader.markStale();
      if (!failing)
        logger.warn(
          { err: faultOf(error) },
          'relay: a stream could not read its log; it tries again until it can',
        );
      failing = true;
      clearTimeout(retry);
      retry = setTimeout(look, leaseMs);
    });
  };
  const renewLease = (): void => {
    source?.renewLease().then(
      (reason) => reason && end(reason),
      // Tried again at the next beat.
      () => {},
    );
  };

  try {
    unwatch = await parts.hub.watch(code, (wake) => {
      if (wake === undefined) source?.reader.markStale();
      if (wake === `log:${side}` || wake === undefined) look();
      if ((wake === 'lease' && side === 'application') || wake === undefined) renewLease();
      if (wake === 'closed') end('session_closed');
    });
    if (!stopped) source = await openEventSource(parts, request, end);
  } catch (error) {
    leave();
    throw error;
  }
  if (source === undefined || stopped) leave();
  else {
    const { toolsRevision } = source;
    timers.push(
      setInterval(() => {
        send({ event: 'heartbeat', data: { timestamp: timestamp(now) } });
        // A wake may have been lost, or the session be gone.
        source?.reader.markStale();
        renewLease();
        look();
      }, heartbeatMs),
    );
    if (side === 'application') timers.push(setInterval(renewLease, leaseMs / 3));
    const left = expiresAt - now();
    if (left <= longestTimerMs)
      timers.push(setTimeout(() => end('session_expired'), Math.max(0, left)));
    send({
      event: 'connected',
      data: { sessionCode: code, timestamp: timestamp(now), toolsRevision, heartbeatMs, leaseMs },
    });
    look();
  }
  return { close: leave };
}

function timestamp(now: () => number): string {
  return new Date(now()).toISOString();
}
