/** The port where suspended calls wait, and the store in memory. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { JsonObject } from '../json.ts';

/** What is kept of a suspended call. */
export type ApprovalRecord = JsonObject & { readonly id: string; readonly expiresAt: number };

/**
 * Keeps suspended calls until they are answered. `take` is atomic and gives a record once: that alone makes a token single-use, on any number of processes.
 * A store may drop records after `expiresAt` (epoch milliseconds).
 */
export interface ApprovalStore {
  put(record: ApprovalRecord): MaybePromise<void>;
  take(id: string): MaybePromise<JsonObject | undefined>;
  list(sessionId: string): MaybePromise<readonly JsonObject[]>;
}

/** Keeps records in this process: they do not survive it. Expired ones are dropped as others come. @param now Epoch milliseconds. */
export function memoryApprovalStore(now: () => number): ApprovalStore {
  const records = new Map<string, ApprovalRecord>();
  let sweepAt = 64;
  return {
    put(record) {
      records.set(record.id, record);
      if (records.size < sweepAt) return;
      const time = now();
      for (const [id, { expiresAt }] of records) if (expiresAt < time) records.delete(id);
      sweepAt = Math.max(64, records.size * 2);
    },
    take(id) {
      const record = records.get(id);
      records.delete(id);
      return record;
    },
    list(sessionId) {
      return [...records.values()].filter((record) => record.sessionId === sessionId);
    },
  };
}
