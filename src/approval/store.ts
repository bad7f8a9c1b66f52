/** The port for stores of suspended calls, and the store in memory. */
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
 * The mark that a suspended call was answered. It keeps the token single-use if the call's record
 * is put back. Plain JSON.
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
 * `take` is atomic and returns a record once, which makes a token single-use in any number of
 * processes. The marks keep it single-use even if a record is put back after it was taken. For
 * that, `list` must return everything that an earlier `put` stored, also in another process. A
 * store may drop records after `expiresAt` (epoch milliseconds). An operation that takes longer
 * than the registry's `policyTimeoutMs` counts as failed.
 */
export interface ApprovalStore {
  /**
   * Stores a record under its `id`, replacing one of that id. If it rejects, the call is refused.
   */
  put(record: ApprovalRecord): MaybePromise<void>;
  /** Removes and returns a record, in one atomic step; undefined if there is none. */
  take(id: string): MaybePromise<JsonObject | undefined>;
  /** Returns the records and marks with this `sessionId`, of any principal. Removes nothing. */
  list(sessionId: string): MaybePromise<readonly JsonObject[]>;
}

/**
 * A store in the memory of this process. Expired records are dropped when others are added.
 * @param now Returns epoch milliseconds.
 */
export function memoryApprovalStore(now: () => number): ApprovalStore {
  const records = new Map<string, ApprovalRecord>();
  // So that listing one session does not search the records of all.
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

/** Starts an operation of a store. If it throws synchronously, the promise rejects. */
export function startOperation<T>(operation: () => MaybePromise<T>): Promise<T> {
  return new Promise((resolve) => {
    resolve(operation());
  });
}

/** Bounds the time of an operation. @param milliseconds The registry's `policyTimeoutMs`. */
export function inTime<T>(operation: Promise<T>, milliseconds: number): Promise<T> {
  return withDeadline(operation, milliseconds);
}
