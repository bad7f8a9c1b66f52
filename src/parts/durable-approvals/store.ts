/** What stores of suspended calls, and those that ask them, have in common. */

import type {
  ApprovalQuery,
  ApprovalRecord,
  ApprovalStore,
  InboxStore,
  SuspendedApproval,
} from '../../api/approval-store.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';

/** Whether a store has the methods that an inbox over all sessions needs. */
export function isInboxStore(store: ApprovalStore): store is InboxStore {
  return inboxMethods.every((name) => typeof store[name] === 'function');
}

export const inboxMethods = ['settle', 'read', 'page'] as const;

/**
 * Milliseconds for which a store remembers an approval after it has expired, because clocks differ.
 */
export const rememberedMs = 3_600_000;

/** The order of a page: approvals that expire first come first. */
export function byExpiry(
  a: { readonly id: string; readonly expiresAt: number },
  b: { readonly id: string; readonly expiresAt: number },
): number {
  return a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** What a list needs of a record: all of it, if it has no head. */
export function rowOf(record: ApprovalRecord): ApprovalRow {
  if (!hasHead(record)) return record;
  const { id, sessionId, principal, expiresAt, head } = record;
  return { id, sessionId, principal, expiresAt, head };
}

function hasHead(record: ApprovalRecord): record is SuspendedApproval & { readonly head: string } {
  return Object.hasOwn(record, 'head') && typeof (record as SuspendedApproval).head === 'string';
}

/** What is known of a record without reading its input. */
export type ApprovalRow = Pick<ApprovalRecord, 'id' | 'sessionId' | 'principal' | 'expiresAt'> & {
  readonly head?: string;
};

/** Sorts, filters and limits the records of a store. @param now Epoch milliseconds. */
export function pageOf<R extends ApprovalRow>(
  records: Iterable<R>,
  { sessionId, principal, after, limit }: ApprovalQuery,
  now: number,
): R[] {
  const found: R[] = [];
  for (const record of records)
    if (
      !Object.hasOwn(record, 'used') &&
      record.expiresAt > now &&
      (sessionId === undefined || record.sessionId === sessionId) &&
      (principal === undefined || record.principal === principal) &&
      (after === undefined || byExpiry(record, after) > 0)
    )
      found.push(record);
  return found.sort(byExpiry).slice(0, limit);
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

// What a list needs of a suspended call, found in the beginning of its text.

/** So many bytes of the text contain the head of a record that has one. */
export const headBytes = 17_000;

/** The first member is the head, as a text. */
const beginning = /^\{"head":("(?:[^"\\]|\\.)*")[,}]/;

/**
 * The row of a list: the head and where it belongs. Undefined if the record has no head. Nothing of
 * it is verified.
 */
export function rowIn(text: string): JsonObject | undefined {
  const [, literal] = beginning.exec(text) ?? [];
  if (literal === undefined) return undefined;
  try {
    const head = JSON.parse(literal) as string;
    const { listed, principal } = JSON.parse(head.slice(head.indexOf('.') + 1)) as JsonObject;
    if (!isJsonObject(listed as JsonValue)) return undefined;
    const { id, sessionId, expiresAt } = listed as JsonObject;
    return { id, sessionId, principal, expiresAt, head } as JsonObject;
  } catch {
    return undefined;
  }
}
