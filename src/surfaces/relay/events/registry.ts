/** The streams and polls that are open on a node. */

import pTimeout from 'p-timeout';
import { progressIn } from '../calls/apply-and-wake.ts';
import { momentMs, offerIn } from '../calls/call-delivery.ts';
import type { Calls } from '../calls/calls.ts';
import type { Hub } from '../hub.ts';
import type { Wake } from '../ports/documents.ts';
import { leaving, relayError } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import { type ApplicationLease, continueLease } from './application-lease.ts';
import { bufferBytes, dataText } from './event-text.ts';
import { whenExpired } from './expiry.ts';
import type { LogReader } from './log-reader.ts';
import type { EventStreams, StreamEvent, StreamRequest } from './ports.ts';
import { createPresence } from './presence.ts';
import { pushEvents } from './push.ts';
import {
  type ConnectionParts,
  type EndReason,
  type EventSource,
  goodbye,
  openEventSource,
  statusEvent,
} from './source.ts';

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

// Polls, for clients that cannot hold a stream open. A poll returns the events that the client has
// missed, or the first ones that arrive while it waits.

/** The most events of one poll that are not in a log. */
const maxPassing = 100;

/** One poll and its state. */
interface Poll {
  readonly request: StreamRequest;
  readonly signal: AbortSignal;
  source: EventSource | undefined;
  /** Events that arrived during the poll and are not in a log. */
  readonly passing: StreamEvent[];
  /** Why the connection is over; undefined while it is not. */
  over: EndReason | undefined;
  /** Ends the current wait. */
  wake: () => void;
}

/**
 * Waits for events for up to `waitMs` milliseconds. An application stays connected for one lease
 * after its poll, so that the connection lasts until the next poll. When the connection is over,
 * the last event is a `goodbye`. Rejects in the same cases as opening a stream, and when the store
 * fails.
 */
async function pollEvents(
  parts: ConnectionParts,
  request: StreamRequest,
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly StreamEvent[]> {
  const { now, leaseMs } = parts.settings;
  const poll: Poll = {
    request,
    signal,
    source: undefined,
    passing: [],
    over: undefined,
    wake: () => {},
  };
  const endPoll = (reason: EndReason): void => end(poll, reason);
  let unwatch: (() => void) | undefined;
  let ignore: (() => void) | undefined;
  let beat: ReturnType<typeof setInterval> | undefined;
  let outlive: (() => void) | undefined;
  const onAbort = (): void => poll.wake();
  const exit = parts.enter(request, endPoll);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    unwatch = await parts.hub.watch(request.code, (wake) => onWake(poll, wake));
    const lease = await continuedLease(parts, request);
    if (lease === 'replaced') return [goodbye('replaced')];
    poll.source = await openEventSource(parts, request, endPoll, lease);
    if (request.side === 'agent')
      ignore = await parts.presence.watch(request.code, onChange(poll, now));
    beat = setInterval(() => renewLease(poll), leaseMs / 3);
    outlive = whenExpired(parts.settings, request, () => end(poll, 'session_expired'));
    return await waitForEvents(poll, poll.source.reader, waitMs, now);
  } finally {
    exit();
    unwatch?.();
    ignore?.();
    clearInterval(beat);
    outlive?.();
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Continues the lease of the client's last poll. Other polls take a lease when they open their
 * source.
 */
async function continuedLease(
  { settings: { store, leaseMs } }: ConnectionParts,
  { code, side, client, continues }: StreamRequest,
): Promise<ApplicationLease | 'replaced' | undefined> {
  return continues === true && side === 'application' && client !== undefined
    ? continueLease(store, { code, client }, leaseMs)
    : undefined;
}

/**
 * Makes a listener for whether the application is connected. Its first call tells the state before
 * the poll, so it makes no event.
 */
function onChange(poll: Poll, now: () => number): (connected: boolean) => void {
  let isFirst = true;
  return (connected) => {
    if (!isFirst) pass(poll, statusEvent(connected, now()));
    isFirst = false;
  };
}

/** Keeps an event that is not in a log, and ends the wait. */
function pass(poll: Poll, event: StreamEvent): void {
  if (poll.passing.length < maxPassing) poll.passing.push(event);
  poll.wake();
}

async function waitForEvents(
  poll: Poll,
  reader: LogReader,
  waitMs: number,
  now: () => number,
): Promise<readonly StreamEvent[]> {
  const until = performance.now() + waitMs;
  for (;;) {
    const woken = new Promise<void>((resolve) => {
      poll.wake = resolve;
    });
    const logged = await readEvents(poll, reader);
    // These events come first, because the id of the last event must be the client's place.
    const events = [...poll.passing.splice(0), ...logged];
    const readAt = performance.now();
    const left = until - readAt;
    if (events.length > 0 || isOver(poll) || left <= 0) {
      await reader.remember(events.at(-1)?.id).catch(() => {});
      if (poll.over === undefined) await renewLease(poll);
      const given = withoutLateCalls(events, readAt, now);
      return poll.over === undefined ? given : [...given, goodbye(poll.over)];
    }
    await pTimeout(woken, { milliseconds: left, fallback: () => {} });
  }
}

async function readEvents(poll: Poll, reader: LogReader): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  let bytes = 0;
  for await (const event of reader.next()) {
    events.push(event);
    bytes += dataText(event).length;
    // The rest is left for the next poll.
    if (bytes >= bufferBytes || isOver(poll)) break;
  }
  return events;
}

/**
 * Removes calls whose deadline has passed since they were read, because the store was slow. A
 * caller that still waits has its call delivered again.
 */
function withoutLateCalls(
  events: readonly StreamEvent[],
  readAt: number,
  now: () => number,
): readonly StreamEvent[] {
  if (performance.now() - readAt <= momentMs) return events;
  const time = now();
  return events.filter(
    ({ event, data }) => event !== 'tool-request' || Number(data.deadline) > time,
  );
}

function onWake(poll: Poll, wake: Wake | undefined): void {
  const { side } = poll.request;
  if (wake === undefined) poll.source?.reader.markStale();
  if (wake === 'closed') end(poll, 'session_closed');
  if ((wake === 'lease' && side === 'application') || wake === undefined) void renewLease(poll);
  const progress = side === 'agent' ? progressIn(wake) : undefined;
  if (progress !== undefined) pass(poll, { event: 'tool-progress', data: progress });
  const offer = side === 'application' ? offerIn(wake) : undefined;
  if (offer !== undefined) poll.source?.reader.offer(offer);
  if (wake === `log:${side}` || wake === undefined || offer !== undefined) poll.wake();
}

function end(poll: Poll, reason: EndReason): void {
  poll.over ??= reason;
  poll.wake();
}

function isOver({ over, signal }: Poll): boolean {
  return over !== undefined || signal.aborted;
}

async function renewLease(poll: Poll): Promise<void> {
  try {
    const reason = await poll.source?.renewLease();
    if (reason !== undefined) end(poll, reason);
  } catch {
    // The next interval tries again.
  }
}
