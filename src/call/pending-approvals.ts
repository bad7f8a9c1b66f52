/** The suspended calls of a session, read from an untrusted store. */
import { openRecord } from '../approval/record.ts';
import type { PendingApproval } from '../approval/request.ts';
import { inTime, startOperation } from '../approval/store.ts';
import { usedIn } from '../approval/used-marks.ts';
import { deepFreeze, isJsonObject } from '../json/index.ts';
import { createPause } from '../limits/stretches.ts';
import type { SessionState } from '../state/session-state.ts';

/**
 * The suspended calls of this session id and principal that are genuine, unanswered and unexpired.
 * @param most The search stops when it has found this many.
 */
export async function pendingOf(
  session: SessionState,
  most = Number.POSITIVE_INFINITY,
): Promise<PendingApproval[]> {
  const { registry, sessionId, principal } = session;
  const { signer, store, policyTimeoutMs } = registry;
  if (signer === undefined || principal === undefined) return [];
  const records = await inTime(
    startOperation(() => store.list(sessionId)),
    policyTimeoutMs,
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
    const opened = openRecord(signer, record);
    if (opened === undefined || used.has(opened.claims.id)) continue;
    const { claims } = opened;
    if (
      claims.sessionId !== sessionId ||
      claims.principal !== principal ||
      claims.expiresAt <= registry.now()
    )
      continue;
    pending.push(deepFreeze({ ...opened.call.request, token: opened.token }));
  }
  return pending;
}

function isOf(record: unknown, principal: string): boolean {
  return (
    isJsonObject(record) && Object.hasOwn(record, 'principal') && record.principal === principal
  );
}
