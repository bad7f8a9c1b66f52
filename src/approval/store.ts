/** The port where suspended calls wait, and the store in memory. */
import type { JsonObject } from '../json.ts';
import { withDeadline } from '../limits/with-deadline.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { ApprovalRequest } from './request.ts';

/** A suspended call as a store keeps it. Plain JSON. */
export type SuspendedApproval = {
  /** The id of the approval, a UUID. `take` is called with it. */
  readonly id: string;
  /** The id of the session that made the call. `list` is called with it. */
  readonly sessionId: string;
  /** The session's principal: whom it acts for. */
  readonly principal: string;
  /** Epoch milliseconds. The store may drop the record afterwards. */
  readonly expiresAt: number;
  /** The input that will run, in full: secrets are not hidden. */
  readonly input: JsonObject;
  /** Becomes `context.idempotencyKey` of the call when it is resumed. */
  readonly idempotencyKey: string;
  /** The question as an approver sees it; secret fields are hidden. */
  readonly request: ApprovalRequest & JsonObject;
  /**
   * What `session.approvals.resume` takes. It is a credential: keep it from models and logs. It
   * signs the other members, so that an edited record is refused.
   */
  readonly token: string;
};

/**
 * The mark that a suspended call was answered. It keeps the token single-use if the call's record is
 * put back. Plain JSON.
 */
export type AnsweredApproval = {
  /** The mark's own id, a UUID. */
  readonly id: string;
  /** The id of the session that made the call. */
  readonly sessionId: string;
  /** The session's principal: whom it acts for. */
  readonly principal: string;
  /** The id of the answered approval. */
  readonly used: string;
  /** Epoch milliseconds: an hour after the approval expires. */
  readonly expiresAt: number;
};

/**
 * What an {@link ApprovalStore} keeps: a suspended call, or the mark that one was answered. Only a
 * mark has `used`. A store treats both alike.
 */
export type ApprovalRecord = SuspendedApproval | AnsweredApproval;

/**
 * Keeps suspended calls until they are answered, and the marks of answered ones until they expire.
 * `take` is atomic and gives a record once: that makes a token single-use, on any number of
 * processes. The marks keep it single-use where a record is put back after it was taken; for that,
 * `list` must give what an earlier `put` has kept, also one of another process. A store may drop
 * records after `expiresAt` (epoch milliseconds). An operation that takes longer than the
 * registry's `policyTimeoutMs` counts as failed: no call waits for ever for a store.
 */
export interface ApprovalStore {
  /**
   * Keeps a record under its `id`; the id again replaces it. A rejection ends the call that wanted
   * to be suspended.
   */
  put(record: ApprovalRecord): MaybePromise<void>;
  /** Gives a record and removes it, in one atomic step; undefined when there is none. */
  take(id: string): MaybePromise<JsonObject | undefined>;
  /**
   * The records and marks whose `sessionId` this is, whoever their principal is; the library picks.
   * Removes nothing.
   */
  list(sessionId: string): MaybePromise<readonly JsonObject[]>;
}

/**
 * Keeps records in this process: they do not survive it. Expired ones are dropped as others come.
 * @param now Epoch milliseconds.
 */
export function memoryApprovalStore(now: () => number): ApprovalStore {
  const records = new Map<string, ApprovalRecord>();
  // One session's listing does not walk through everybody's records.
  const bySession = new Map<string, Set<string>>();
  const drop = (id: string): ApprovalRecord | undefined => {
    const record = records.get(id);
    if (record === undefined) return undefined;
    records.delete(id);
    const ids = bySession.get(record.sessionId);
    ids?.delete(id);
    if (ids?.size === 0) bySession.delete(record.sessionId);
    return record;
  };
  let sweepAt = 64;
  return {
    put(record) {
      drop(record.id);
      records.set(record.id, record);
      const ids = bySession.get(record.sessionId);
      if (ids === undefined) bySession.set(record.sessionId, new Set([record.id]));
      else ids.add(record.id);
      if (records.size < sweepAt) return;
      const time = now();
      for (const [id, { expiresAt }] of records) if (expiresAt <= time) drop(id);
      sweepAt = Math.max(64, records.size * 2);
    },
    take: drop,
    list(sessionId) {
      return [...(bySession.get(sessionId) ?? [])].map((id) => records.get(id) as ApprovalRecord);
    },
  };
}

/** Starts a store's operation; one that throws at once rejects like one that throws later. */
export function startOperation<T>(operation: () => MaybePromise<T>): Promise<T> {
  return new Promise((resolve) => {
    resolve(operation());
  });
}

/**
 * Waits so long for an operation and no longer. @param milliseconds The registry's
 * `policyTimeoutMs`.
 */
export function inTime<T>(operation: Promise<T>, milliseconds: number): Promise<T> {
  return withDeadline(operation, milliseconds);
}
