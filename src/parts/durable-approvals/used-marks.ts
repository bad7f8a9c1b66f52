/**
 * Marks of answered approvals. They are stored with the records, so that every process refuses a
 * record that is put back.
 */
import { randomUUID } from 'node:crypto';
import type { AnsweredApproval } from '../../api/approval-store.ts';
import { isJsonObject } from '../../values/json/index.ts';
import type { TokenClaims } from './token.ts';

/**
 * Milliseconds that a mark outlives its token. The clocks of processes and stores differ, and the
 * mark must not be dropped while any process still accepts the token.
 */
const outlivesMs = 3_600_000;

/** The mark that an approval was answered. It contains no arguments and no token. */
export function usedMark({ id, sessionId, principal, expiresAt }: TokenClaims): AnsweredApproval {
  return { id: randomUUID(), sessionId, principal, used: id, expiresAt: expiresAt + outlivesMs };
}

/** The ids of the approvals that have marks. @param own The id of a mark that does not count. */
export function usedIn(records: readonly unknown[], own?: string): ReadonlySet<unknown> {
  const used = new Set<unknown>();
  for (const record of records)
    if (isJsonObject(record) && Object.hasOwn(record, 'used') && record.id !== own)
      used.add(record.used);
  return used;
}
