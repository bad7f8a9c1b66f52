/** What is kept of approvals, and how those who need it ask for it. */

import type { GivenAnswer } from '../../api/answers.ts';
import type { ApprovalChoice } from '../../api/approval.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';

/**
 * How a suspended call ended, under the id of its approval. Plain JSON.
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
  /** All who answered, where certain people had to. */
  readonly answers?: (GivenAnswer & JsonObject)[];
  /** The id of the call. */
  readonly callId: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The call has ended. */
  readonly ended?: true;
  /** The result of the call; absent while it runs, and if it is over 1 048 576 characters. */
  readonly result?: JsonObject;
  /** The output of the result was made from content parts. */
  readonly content?: true;
  /** Signs the other members, so that an edited outcome does not count. */
  readonly seal: string;
};

/** Which suspended calls are read. */
export interface ApprovalQuery {
  /** Only those of this session. @default all */
  readonly sessionId?: string | undefined;
  /** Only those of this principal. @default all */
  readonly principal?: string | undefined;
  /** Only those after this one in the order. It need not exist any more. @default all */
  readonly after?: { readonly id: string; readonly expiresAt: number } | undefined;
  /** The most records to return. From 1. */
  readonly limit: number;
}

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

/** Starts an operation of a store. If it throws synchronously, the promise rejects. */
export function startOperation<T>(operation: () => MaybePromise<T>): Promise<T> {
  return new Promise((resolve) => {
    resolve(operation());
  });
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
