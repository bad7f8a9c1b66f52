/** The store of suspended calls in the memory of a process. */

import type { ApprovalRecord, InboxStore, SettledApproval } from '../../api/approval-store.ts';
import { inProcess } from '../../values/limits/in-process.ts';
import { pageOf, rememberedMs, rowOf } from './store.ts';

/** What is kept of a taken record. */
type Taken = Pick<ApprovalRecord, 'id' | 'sessionId' | 'principal' | 'expiresAt'> | SettledApproval;

/**
 * A store in the memory of this process. Expired records are dropped when others are added.
 * @param now Returns epoch milliseconds.
 */
export function memoryApprovalStore(now: () => number): InboxStore {
  const records = new Map<string, ApprovalRecord>();
  const settled = new Map<string, Taken>();
  // An index, so that listing one session does not search all records.
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
  const sweep = (): void => {
    if (records.size + settled.size < sweepAt) return;
    const time = now();
    for (const [id, { expiresAt }] of records) if (expiresAt <= time) drop(id);
    for (const [id, { expiresAt }] of settled)
      if (expiresAt + rememberedMs <= time) settled.delete(id);
    sweepAt = Math.max(64, (records.size + settled.size) * 2);
  };
  return inProcess({
    put(record) {
      if (settled.has(record.id)) return;
      drop(record.id);
      records.set(record.id, record);
      const ids = bySession.get(record.sessionId);
      if (ids === undefined) bySession.set(record.sessionId, new Set([record.id]));
      else ids.add(record.id);
      sweep();
    },
    take(id) {
      const record = drop(id);
      if (record === undefined) return undefined;
      const { sessionId, principal, expiresAt } = record;
      settled.set(id, { id, sessionId, principal, expiresAt });
      return record;
    },
    list(sessionId) {
      return [...(bySession.get(sessionId) ?? [])].map((id) => records.get(id) as ApprovalRecord);
    },
    settle(outcome) {
      settled.set(outcome.id, outcome);
      sweep();
    },
    read(id) {
      return records.get(id) ?? settled.get(id);
    },
    page(query) {
      return pageOf(records.values(), query, now());
    },
    heads(query) {
      return pageOf(records.values(), query, now()).map(rowOf);
    },
  });
}
