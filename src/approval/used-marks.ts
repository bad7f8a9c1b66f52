/**
 * Marks of answered approvals. The store keeps them beside the records, so that a record that is
 * put back is refused by every process.
 */
import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../json.ts';
import type { AnsweredApproval } from './store.ts';
import type { TokenClaims } from './token.ts';

/**
 * Milliseconds that a mark outlives its token: the clocks of processes and stores differ, and none
 * of them may forget the mark while another still takes the token.
 */
const outlivesMs = 3_600_000;

/** The mark that an approval was answered. It holds no arguments and no token. */
export function usedMark({ id, sessionId, principal, expiresAt }: TokenClaims): AnsweredApproval {
  return { id: randomUUID(), sessionId, principal, used: id, expiresAt: expiresAt + outlivesMs };
}

/**
 * The ids of the approvals that a listing has marks of. @param own the id of a mark that does not
 * count
 */
export function usedIn(records: readonly unknown[], own?: string): ReadonlySet<unknown> {
  const used = new Set<unknown>();
  for (const record of records)
    if (isJsonObject(record) && Object.hasOwn(record, 'used') && record.id !== own)
      used.add(record.used);
  return used;
}
