/** The suspended calls of a session, read from an untrusted store. */

import type { PendingApproval } from '../../api/approval.ts';
import type { ApprovalQuery } from '../../api/approval-store.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { createPause } from '../../values/limits/stretches.ts';
import { durableOf } from './durable-state.ts';
import { openHead } from './head.ts';
import { type ShownCall, showRecord, usedIn } from './record.ts';
import { inTime, isInboxStore, startOperation } from './store.ts';

/**
 * The suspended calls of this session id and principal that are genuine, unanswered and unexpired.
 * @param most The search stops when it has found this many.
 */
export async function pendingOf(
  session: SessionState,
  most = Number.POSITIVE_INFINITY,
): Promise<PendingApproval[]> {
  const { registry, sessionId, principal } = session;
  const { signer, store } = durableOf(registry);
  if (signer === undefined || principal === undefined) return [];
  const records = await inTime(
    startOperation(() => store.list(sessionId)),
    registry.policyTimeoutMs,
  );
  const used = usedIn(records);
  const pending: PendingApproval[] = [];
  // A record may hold megabytes, which take time to check.
  const pause = createPause();
  for (const record of records) {
    if (pending.length >= most) break;
    // Checked first, because verifying a record costs far more.
    if (!isOf(record, principal)) continue;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    const found = showRecord(signer, record);
    if (found === undefined || used.has(found.claims.id)) continue;
    const { claims, request, token } = found;
    if (
      claims.sessionId !== sessionId ||
      claims.principal !== principal ||
      claims.expiresAt <= registry.now()
    )
      continue;
    pending.push(Object.freeze({ ...request, token }));
  }
  return pending;
}

/** What waits already. */
export interface Waiting {
  /** The ids of the session's suspended calls. */
  readonly ids: Set<string>;
  /**
   * How many bytes those of its principal have, roughly; 0 if the store cannot tell, and `Infinity`
   * if there are too many to count.
   */
  readonly bytes: number;
}

/** Most rows that are read at once, and most times. */
const rowsAtOnce = 1_000;
const maxReads = 20;

/**
 * Counts what waits, without reading inputs if the store has heads.
 * @param most The search stops when it has found this many calls of the session.
 */
export async function waitingOf(session: SessionState, most: number): Promise<Waiting> {
  const { registry, sessionId, principal = '' } = session;
  const { signer, store } = durableOf(registry);
  const ids = new Set<string>();
  if (signer === undefined || store.heads === undefined || !isInboxStore(store)) {
    for (const { id } of await pendingOf(session, most)) ids.add(id);
    return { ids, bytes: 0 };
  }
  let bytes = 0;
  let after: ApprovalQuery['after'];
  const pause = createPause();
  for (let read = 0; read < maxReads && ids.size < most; read++) {
    const query = { principal, after, limit: rowsAtOnce };
    const rows = await inTime(
      startOperation(() => store.heads?.(query) ?? []),
      registry.policyTimeoutMs,
    );
    for (const row of rows) {
      const pausing = pause();
      if (pausing !== undefined) await pausing;
      const found = openHead(signer, row.head) ?? headOf(showRecord(signer, row), row);
      if (
        found?.principal !== principal ||
        found.listed.id !== row.id ||
        found.listed.expiresAt <= registry.now()
      )
        continue;
      bytes += found.bytes;
      if (found.listed.sessionId === sessionId) ids.add(found.listed.id);
    }
    const last = rows.at(-1);
    if (rows.length < rowsAtOnce || typeof last?.id !== 'string') return { ids, bytes };
    after = { id: last.id, expiresAt: Number(last.expiresAt) };
  }
  // Calls that were not counted count against this one.
  return { ids, bytes: Number.POSITIVE_INFINITY };
}

/** What a head would say of a record that has none. */
function headOf(found: ShownCall | undefined, record: JsonObject) {
  return (
    found && {
      listed: found.request,
      principal: found.claims.principal,
      bytes: JSON.stringify(record).length,
    }
  );
}

function isOf(record: unknown, principal: string): boolean {
  return (
    isJsonObject(record) && Object.hasOwn(record, 'principal') && record.principal === principal
  );
}
