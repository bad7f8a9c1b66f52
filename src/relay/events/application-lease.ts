/**
 * One connection of the application gets its calls: the newest. The others learn that they were
 * replaced.
 */
import { randomUUID } from 'node:crypto';
import { keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** The lease of a connection. */
export interface ApplicationLease {
  /** Changes only where the lease had run out and was taken again. */
  readonly epoch: number;
  /**
   * Keeps it. False when another connection has it, the session is gone, or it was given back here.
   * Asks the store anew, in turn.
   */
  renew(): Promise<boolean>;
  /**
   * Gives it back for good, also what a renewal under way still takes: nobody is connected any
   * more.
   */
  release(): Promise<void>;
}

/** Takes the lease from whoever has it; undefined where there is no such session. */
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
  // In order, so that the epoch is that of the store's last answer.
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run);
    last = turn.catch(() => {});
    return turn;
  };
  const renew = async (): Promise<boolean> => {
    waiting = undefined;
    if (released) return false;
    if (await store.renew(code, keys.applicationLease, epoch, leaseMs)) return true;
    // It ran out, as while the store was away: it is ours again where nobody else has come.
    const again = await store.acquire(code, keys.applicationLease, holder, leaseMs);
    if (again !== undefined) epoch = again;
    return again !== undefined;
  };
  return {
    get epoch() {
      return epoch;
    },
    renew() {
      // One whose turn has not come is as good for whoever asks meanwhile: while the store hangs,
      // they do not pile up.
      waiting ??= inTurn(renew);
      return waiting;
    },
    async release() {
      released = true;
      await inTurn(() => store.release(code, keys.applicationLease, epoch));
    },
  };
}
