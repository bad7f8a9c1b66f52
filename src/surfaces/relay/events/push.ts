/**
 * Sends a stream of events. The stream reads its source whenever the bus wakes it and at every
 * heartbeat, until the client, the session or the node is gone.
 */

import { progressIn } from '../calls/apply-and-wake.ts';
import { offerIn } from '../calls/call-delivery.ts';
import type { Wake } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import { whenExpired } from './expiry.ts';
import type { EventSink, OpenStream, StreamEvent, StreamRequest } from './ports.ts';
import {
  type ConnectionParts,
  type EndReason,
  type EventSource,
  goodbye,
  openEventSource,
  statusEvent,
} from './source.ts';

/** One stream and its state. */
interface Push {
  readonly parts: ConnectionParts;
  readonly request: StreamRequest;
  readonly sink: EventSink;
  readonly timers: ReturnType<typeof setTimeout>[];
  retry: ReturnType<typeof setTimeout> | undefined;
  source: EventSource | undefined;
  unwatch: (() => void) | undefined;
  /** Stops listening for whether the application is connected. */
  ignore: (() => void) | undefined;
  /** Stops waiting for the end of the session. */
  outlive: (() => void) | undefined;
  /** Removes the stream from the node's count. */
  exit: () => void;
  stopped: boolean;
  /** True while the log is read. Reads must not overlap. */
  reading: boolean;
  /** True if there may be more to read. */
  again: boolean;
  /** True if the last read failed, which was logged. */
  failing: boolean;
}

/**
 * Opens a stream into a sink. Rejects when the session is gone, or when the store or the bus cannot
 * be reached.
 */
export async function pushEvents(
  parts: ConnectionParts,
  request: StreamRequest,
  sink: EventSink,
): Promise<OpenStream> {
  const push: Push = {
    parts,
    request,
    sink,
    timers: [],
    retry: undefined,
    source: undefined,
    unwatch: undefined,
    ignore: undefined,
    outlive: undefined,
    exit: () => {},
    stopped: false,
    reading: false,
    again: false,
    failing: false,
  };
  const endPush = (reason: EndReason): void => end(push, reason);
  push.exit = parts.enter(request, endPush);
  try {
    push.unwatch = await parts.hub.watch(request.code, (wake) => onWake(push, wake));
    if (!push.stopped) push.source = await openEventSource(parts, request, endPush);
  } catch (error) {
    leave(push);
    throw error;
  }
  if (push.source === undefined || push.stopped) leave(push);
  else begin(push, push.source);
  return { close: () => leave(push) };
}

function begin(push: Push, { toolsRevision }: EventSource): void {
  const { now, leaseMs, heartbeatMs } = push.parts.settings;
  const { code, side } = push.request;
  push.timers.push(
    setInterval(() => {
      send(push, { event: 'heartbeat', data: { timestamp: timestamp(now) } });
      // A wake-up may have been lost, or the session may be gone.
      push.source?.reader.markStale();
      renewLease(push);
      look(push);
    }, heartbeatMs),
  );
  if (side === 'application') push.timers.push(setInterval(() => renewLease(push), leaseMs / 3));
  push.outlive = whenExpired(push.parts.settings, push.request, () => end(push, 'session_expired'));
  send(push, {
    event: 'connected',
    data: { sessionCode: code, timestamp: timestamp(now), toolsRevision, heartbeatMs, leaseMs },
  });
  if (side === 'agent') follow(push);
  look(push);
}

/** Tells an agent whether the application is connected, now and at each change. */
function follow(push: Push): void {
  const { presence, settings } = push.parts;
  presence
    .watch(
      push.request.code,
      (connected) => void send(push, statusEvent(connected, settings.now())),
    )
    .then(
      (stop) => {
        push.ignore = stop;
        if (push.stopped) stop();
      },
      // The stream has a subscription of its own, so this fails only if the bus failed just now.
      () => {},
    );
}

function onWake(push: Push, wake: Wake | undefined): void {
  const { side } = push.request;
  if (wake === undefined) push.source?.reader.markStale();
  const offer = side === 'application' ? offerIn(wake) : undefined;
  if (offer !== undefined) push.source?.reader.offer(offer);
  if (wake === `log:${side}` || wake === undefined || offer !== undefined) look(push);
  if ((wake === 'lease' && side === 'application') || wake === undefined) renewLease(push);
  if (wake === 'closed') end(push, 'session_closed');
  const progress = side === 'agent' ? progressIn(wake) : undefined;
  if (progress !== undefined && push.source !== undefined)
    send(push, { event: 'tool-progress', data: progress });
}

/** Ends the stream. Called again, it frees what was opened after the stream had ended. */
function leave(push: Push): void {
  push.stopped = true;
  push.exit();
  push.unwatch?.();
  push.ignore?.();
  push.outlive?.();
  for (const timer of push.timers.splice(0)) clearTimeout(timer);
  clearTimeout(push.retry);
  push.source?.leave();
}

function send(push: Push, event: StreamEvent): boolean {
  if (push.stopped) return false;
  if (!push.sink.send(event)) leave(push);
  return !push.stopped;
}

function end(push: Push, reason: EndReason): void {
  if (!send(push, goodbye(reason))) return;
  leave(push);
  push.sink.end();
}

function look(push: Push): void {
  const { logger, leaseMs } = push.parts.settings;
  read(push).catch((error: unknown) => {
    if (push.stopped) return;
    push.source?.reader.markStale();
    if (!push.failing)
      logger.warn(
        { err: faultOf(error) },
        'relay: a stream could not read its log; it tries again until it can',
      );
    push.failing = true;
    clearTimeout(push.retry);
    push.retry = setTimeout(() => look(push), leaseMs);
  });
}

async function read(push: Push): Promise<void> {
  push.again = true;
  if (push.reading || push.source === undefined) return;
  push.reading = true;
  try {
    while (push.again && !push.stopped) {
      push.again = false;
      for await (const event of push.source.reader.next()) {
        if (!send(push, event)) return;
        await push.sink.ready?.();
        if (push.stopped) return;
      }
      push.failing = false;
    }
  } finally {
    push.reading = false;
  }
}

function renewLease(push: Push): void {
  push.source?.renewLease().then(
    (reason) => reason && end(push, reason),
    // The next interval tries again.
    () => {},
  );
}

function timestamp(now: () => number): string {
  return new Date(now()).toISOString();
}
