/** The port for stores of suspended calls. */

import type { JsonObject } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { ApprovalChoice, ApprovalRequest } from './approval.ts';

/** A suspended call as a store keeps it. Plain JSON. */
export type SuspendedApproval = {
  /**
   * What a list shows of the record, in at most 16 000 bytes, signed. Absent if that is not
   * possible. It is the first member.
   */
  readonly head?: string;
  /** The id of the approval, a UUID. `take` is called with it. */
  readonly id: string;
  /** The id of the session that made the call. `list` is called with it. */
  readonly sessionId: string;
  /** The session's principal, for whom it acts. */
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
  /** The id of the session's profile; absent if it had none. */
  readonly profile?: string;
  /** The session's facts; absent if it had none. */
  readonly facts?: JsonObject;
  /** The session's overrides; absent if it had none. */
  readonly overrides?: JsonObject;
  /** The name of the surface through which the call came; absent for a direct call. */
  readonly surface?: string;
};

/**
 * How a suspended call ended, under the id of its approval. A store keeps it instead of the record
 * that was taken. Plain JSON.
 */
export type SettledApproval = {
  /** The id of the approval. */
  readonly id: string;
  /** The id of the session that made the call. */
  readonly sessionId: string;
  /** The session's principal, for whom it acts. */
  readonly principal: string;
  /** Epoch milliseconds: when the approval expires. */
  readonly expiresAt: number;
  /** Always true; it tells the outcome from a suspended call. */
  readonly settled: true;
  /** What was answered. */
  readonly decision?: ApprovalChoice;
  /** Who answered, if the answer said so. */
  readonly by?: string;
  /** The result of the call; absent while it runs, and if it is over 1 048 576 characters. */
  readonly result?: JsonObject;
  /** The output of the result was made from content parts. */
  readonly content?: true;
  /** Signs the other members, so that an edited outcome does not count. */
  readonly seal: string;
};

/** Which suspended calls a store returns. */
export interface ApprovalQuery {
  /** Only those of this session. @default all */
  readonly sessionId?: string | undefined;
  /** Only those of this principal. @default all */
  readonly principal?: string | undefined;
  /**
   * Only those after this one in the order. It need not exist any more.
   * @default all
   */
  readonly after?: { readonly id: string; readonly expiresAt: number } | undefined;
  /** The most records to return. From 1. */
  readonly limit: number;
}

/**
 * The mark that a suspended call was answered. It keeps the token single-use if the call's record
 * is put back. Plain JSON.
 */
export type AnsweredApproval = {
  /** The mark's own id, a UUID. */
  readonly id: string;
  /** The id of the session that made the call. */
  readonly sessionId: string;
  /** The session's principal, for whom it acts. */
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
 * that, `list` must return everything that an earlier `put` stored, in any process. A store may
 * drop records after `expiresAt` (epoch milliseconds). An operation that takes longer than the
 * registry's `policyTimeoutMs` counts as failed.
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
  /**
   * Keeps the outcome of a record that was taken, replacing an earlier one, until an hour after its
   * `expiresAt`. A store with this method also has `read` and `page`, remembers until then that the
   * record was taken, and ignores a `put` of its id. Without this method, the library keeps marks
   * with `put`.
   */
  settle?(outcome: SettledApproval): MaybePromise<void>;
  /**
   * Returns the record of this id, or the outcome that `settle` kept if the record was taken;
   * undefined if there is neither. Removes nothing.
   */
  read?(id: string): MaybePromise<JsonObject | undefined>;
  /**
   * Returns suspended calls that were not taken and have not expired. They are ordered by expiry,
   * then by `id`. Marks are left out.
   */
  page?(query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
  /**
   * Returns the same calls as `page`, in the same order, but of a record that has a `head` only
   * `id`, `sessionId`, `principal`, `expiresAt` and `head`. It should not read the rest, because
   * inputs may have megabytes. Without this method, lists read whole records.
   */
  heads?(query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
}

/** A store from which an inbox can read the calls of all sessions. */
export type InboxStore = ApprovalStore & Required<Pick<ApprovalStore, 'settle' | 'read' | 'page'>>;

export type Key = string | Uint8Array;
