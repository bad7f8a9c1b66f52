/**
 * What a connection reads from: its place in the side's log, and for the application the lease by
 * which calls are its own.
 */

import type { Calls } from '../calls/calls.ts';
import type { Hub } from '../hub.ts';
import { keys, type SessionDocument } from '../ports/documents.ts';
import { sessionNotFound } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import { type ApplicationLease, takeLease } from './application-lease.ts';
import { type LogReader, openLogReader } from './log-reader.ts';
import type { StreamEvent, StreamRequest } from './ports.ts';

/** Why a connection ends. */
export type EndReason = 'replaced' | 'session_closed' | 'session_expired' | 'shutting_down';

/** What connections of a node have in common. */
export interface ConnectionParts {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly calls: Calls;
  /**
   * Counts a connection in; `end` is called when the node goes. Throws where it is going, and where
   * that side of the session has too many. @returns counts it out; idempotent
   */
  enter(
    request: Pick<StreamRequest, 'code' | 'side'>,
    end: (reason: EndReason) => void,
  ): () => void;
}

/** Where a connection's events come from. */
export interface EventSource {
  readonly reader: LogReader;
  readonly toolsRevision: number;
  /**
   * Keeps what is the connection's: why it is over, where it is. Rejects where the store is away.
   */
  renewLease(): Promise<EndReason | undefined>;
  /**
   * Writes down how far the side was told and gives the lease back, where the store is there.
   * Idempotent.
   */
  leave(): void;
}

/** Milliseconds after which a client is to come again when a node goes. */
const retryMs = 500;

/** The last event of a connection. Only from a node that goes is a client to come again. */
export function goodbye(reason: EndReason): StreamEvent {
  const reconnect = reason === 'shutting_down';
  return { event: 'goodbye', data: { reason, reconnect, ...(reconnect ? { retryMs } : {}) } };
}

/**
 * Opens the source; an application's takes the calls from the connection before. Rejects with 404
 * where the session is gone. @param over is told where a delivery finds that the connection is over
 */
export async function openEventSource(
  { settings: { store, now, leaseMs, heartbeatMs }, hub, calls }: ConnectionParts,
  { code, side, after, client, expiresAt }: StreamRequest,
  over: (reason: EndReason) => void,
): Promise<EventSource> {
  const [session] = await store.get(code, [keys.session]);
  if (session === undefined) throw sessionNotFound();
  const { toolsRevision } = JSON.parse(session.value) as SessionDocument;
  let lease: ApplicationLease | undefined;
  let left = false;
  if (side === 'application') {
    lease = await takeLease(store, code, leaseMs);
    if (lease === undefined) throw sessionNotFound();
    hub.wake(code, 'lease');
  }

  const hold = async (): Promise<EndReason | undefined> => {
    if (await lease?.renew()) return undefined;
    const [there] = await store.get(code, [keys.session]);
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
      // What was given to a connection that is over already would be lost to the newer one.
      const reason = await hold();
      if (reason !== undefined) over(reason);
      if (reason !== undefined || left) return undefined;
      return calls.deliver(code, id, attempt, { epoch: lease.epoch, client, isNew });
    },
  }).catch((error: unknown) => {
    lease?.release().catch(() => {});
    throw error;
  });
  return {
    reader,
    toolsRevision,
    renewLease: hold,
    leave() {
      if (left) return;
      left = true;
      reader.remember().catch(() => {});
      lease?.release().catch(() => {});
    },
  };
}
