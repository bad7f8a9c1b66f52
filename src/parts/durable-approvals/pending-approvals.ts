/** The suspended calls of a session, read from an untrusted store. */

import type { PendingApproval } from '../../api/approval.ts';
import type { CallSession } from '../../core/call/session-port.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { createPause } from '../../values/limits/stretches.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { durableOf } from './durable-state.ts';
import { openHead } from './head.ts';
import { type ShownCall, showRecord } from './record.ts';
import { type ApprovalQuery, startOperation } from './store.ts';

/** Its own members, so that none of a changed prototype counts. */
const everything = { principal: undefined, after: undefined, limit: Number.POSITIVE_INFINITY };

/**
 * The suspended calls of this session id and principal that are genuine, unanswered and unexpired.
 * @param most The search stops when it has found this many.
 */
export async function pendingOf(
  session: CallSession,
  most = Number.POSITIVE_INFINITY,
): Promise<PendingApproval[]> {
  const { registry, sessionId, principal } = session;
  const { signer, approvals } = durableOf(registry);
  if (signer === undefined || principal === undefined) return [];
  const records = await withDeadline(
    startOperation(() => approvals.page({ ...everything, sessionId })),
    registry.settings.policyTimeoutMs,
  );
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
    if (found === undefined) continue;
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
   * How many bytes those of its principal have, roughly, and `Infinity` if there are too many to
   * count.
   */
  readonly bytes: number;
}

/** Most rows that are read at once, and most times. */
const rowsAtOnce = 1_000;
const maxReads = 20;

/**
 * Counts what waits, without reading inputs.
 * @param most The search stops when it has found this many calls of the session.
 */
export async function waitingOf(session: CallSession, most: number): Promise<Waiting> {
  const { registry, sessionId, principal = '' } = session;
  const { signer, approvals } = durableOf(registry);
  const ids = new Set<string>();
  if (signer === undefined) return { ids, bytes: 0 };
  let bytes = 0;
  let after: ApprovalQuery['after'];
  const pause = createPause();
  for (let read = 0; read < maxReads && ids.size < most; read++) {
    const query = { sessionId: undefined, principal, after, limit: rowsAtOnce };
    const rows = await withDeadline(
      startOperation(() => approvals.heads(query)),
      registry.settings.policyTimeoutMs,
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
