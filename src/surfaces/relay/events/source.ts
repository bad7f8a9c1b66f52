/**
 * The source of a connection's events: its place in the side's log and, for the application, the
 * lease that gives it the calls.
 */

import type { Calls } from '../calls/calls.ts';
import type { Hub } from '../hub.ts';
import { keys, type SessionDocument } from '../ports/documents.ts';
import { documentsOf, type KeptStore } from '../ports/kept-store.ts';
import { sessionNotFound } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import { type ApplicationLease, openLease } from './application-lease.ts';
import { type LogReader, openLogReader } from './log-reader.ts';
import type { StreamEvent, StreamRequest } from './ports.ts';
import type { Presence } from './presence.ts';

/** Why a connection ends. */
export type EndReason = 'replaced' | 'session_closed' | 'session_expired' | 'shutting_down';

/** The parts of a node that its connections share. */
export interface ConnectionParts {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly calls: Calls;
  /** Tells agents whether an application is connected. */
  readonly presence: Presence;
  /**
   * Adds a connection to the count. `end` is called when the node ends.
   * @returns a function that removes it from the count; idempotent
   * @throws RelayError 503 when the node is ending, 429 when this side has too many connections
   */
  enter(
    request: Pick<StreamRequest, 'code' | 'side'>,
    end: (reason: EndReason) => void,
  ): () => void;
}

/** The source of a connection's events. */
export interface EventSource {
  readonly reader: LogReader;
  readonly toolsRevision: number;
  /**
   * Renews the application's lease.
   * @returns why the connection is over, if it is. Rejects when the store cannot be reached.
   */
  renewLease(): Promise<EndReason | undefined>;
  /**
   * Stores how far the side has read and releases the lease, if the store can be reached.
   * Idempotent.
   */
  leave(): void;
}

/** Makes the event that tells an agent whether an application is connected. */
export function statusEvent(connected: boolean, at: number): StreamEvent {
  const timestamp = new Date(at).toISOString();
  return { event: 'application-status', data: { connected, timestamp } };
}

/** Milliseconds after which a client should reconnect when a node ends. */
const retryMs = 500;

/** Makes the last event of a connection. A client should reconnect only if the node ends. */
export function goodbye(reason: EndReason): StreamEvent {
  const reconnect = reason === 'shutting_down';
  return { event: 'goodbye', data: { reason, reconnect, ...(reconnect ? { retryMs } : {}) } };
}

/**
 * Opens the source. An application's source takes the calls over from the previous connection.
 * Rejects with 404 when the session is gone.
 * @param over called when a delivery finds that the connection is over
 * @param taken the application's lease, if it is taken already
 */
export async function openEventSource(
  { settings: { store, now, leaseMs, heartbeatMs }, hub, calls }: ConnectionParts,
  { code, side, after, client, expiresAt }: StreamRequest,
  over: (reason: EndReason) => void,
  taken?: ApplicationLease,
): Promise<EventSource> {
  const [session] = await documentsOf(store, code, [keys.session]);
  if (session === undefined) throw sessionNotFound();
  const { toolsRevision } = JSON.parse(session.value) as SessionDocument;
  const lease =
    side === 'application' ? (taken ?? (await leaseOf(store, code, client, leaseMs))) : undefined;
  if (lease !== undefined) hub.wake(code, 'lease');
  let left = false;

  /** Releases the lease. The wake-up tells agents that no application is connected. */
  const giveUp = (): void => {
    lease?.release().then(
      (released) => released && hub.wake(code, 'lease'),
      () => {},
    );
  };
  const renew = async (): Promise<EndReason | undefined> => {
    if (await lease?.renew()) return undefined;
    const [there] = await documentsOf(store, code, [keys.session]);
    if (there !== undefined) return lease && 'replaced';
    return expiresAt - now() <= leaseMs ? 'session_expired' : 'session_closed';
  };
  const reader = await openLogReader({
    store,
    code,
    side,
    after,
    now,
    newWithinMs: heartbeatMs + leaseMs,
    async deliver(id, attempt, isNew) {
      if (lease === undefined) return undefined;
      // A call that is delivered to an ended connection would never reach the newer one.
      const reason = await renew();
      if (reason !== undefined) over(reason);
      if (reason !== undefined || left) return undefined;
      return calls.deliver(code, id, attempt, { epoch: lease.epoch, client, isNew });
    },
    take: async (offers, place) =>
      lease && !left ? calls.take(code, offers, { epoch: lease.epoch, client }, place) : undefined,
  }).catch((error: unknown) => {
    giveUp();
    throw error;
  });
  return {
    reader,
    toolsRevision,
    renewLease: renew,
    leave() {
      if (left) return;
      left = true;
      reader.remember().catch(() => {});
      giveUp();
    },
  };
}

/** Takes the lease of a new connection. Rejects with 404 when the session is gone. */
async function leaseOf(
  store: KeptStore,
  code: string,
  client: string | undefined,
  leaseMs: number,
): Promise<ApplicationLease> {
  const lease = await openLease(store, { code, client }, leaseMs);
  if (lease === undefined) throw sessionNotFound();
  return lease;
}
