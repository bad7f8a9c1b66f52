/**
 * The lease that gives the newest connection of an application its calls. Older connections find
 * out that they were replaced.
 */
import { randomUUID } from 'node:crypto';
import { keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** The lease of a connection. */
export interface ApplicationLease {
  /** Changes only when the lease has expired and was taken again. */
  readonly epoch: number;
  /**
   * Renews the lease. False when another connection has it, the session is gone, or this connection
   * has released the lease. Calls ask the store one after another.
   */
  renew(): Promise<boolean>;
  /**
   * Releases the lease permanently, even if a running renewal takes it again. True if no application
   * is connected after that; false if another connection has the lease.
   */
  release(): Promise<boolean>;
}

/** Takes the lease from its holder; undefined for an unknown session. */
export async function takeLease(
  store: RelayStore,
  code: string,
  leaseMs: number,
): Promise<ApplicationLease | undefined> {
  const holder = randomUUID();
  const taken = await store.acquire(code, keys.applicationLease, holder, leaseMs, true);
  if (taken === undefined) return undefined;
  let epoch = taken;
  let released = false;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<boolean> | undefined;
  // One by one, so that the epoch is that of the store's last answer.
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run);
    last = turn.catch(() => {});
    return turn;
  };
  const renew = async (): Promise<boolean> => {
    waiting = undefined;
    if (released) return false;
    if (await store.renew(code, keys.applicationLease, epoch, leaseMs)) return true;
    // The lease has expired, for example while the store was unavailable. It can be taken again if
    // no other connection has it.
    const again = await store.acquire(code, keys.applicationLease, holder, leaseMs);
    if (again !== undefined) epoch = again;
    return again !== undefined;
  };
  return {
    get epoch() {
      return epoch;
    },
    renew() {
      // Callers share a renewal that has not started, so that renewals do not pile up while the
      // store hangs.
      waiting ??= inTurn(renew);
      return waiting;
    },
    release() {
      released = true;
      return inTurn(() => store.release(code, keys.applicationLease, epoch));
    },
  };
}
