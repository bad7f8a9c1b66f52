/** Suspended calls, read from the store with suspicion. */
import { openRecord } from '../approval/record.ts';
import type { PendingApproval } from '../approval/request.ts';
import { inTime, startOperation } from '../approval/store.ts';
import { deepFreeze } from '../json.ts';
import type { SessionState } from '../state/session-state.ts';

/** Suspended calls of this session id and principal that are genuine and not expired. */
export async function pendingOf(session: SessionState): Promise<PendingApproval[]> {
  const { registry, sessionId, principal } = session;
  const { signer, store, policyTimeoutMs } = registry;
  if (signer === undefined || principal === undefined) return [];
  const pending: PendingApproval[] = [];
  for (const record of await inTime(
    startOperation(() => store.list(sessionId)),
    policyTimeoutMs,
  )) {
    const opened = openRecord(signer, record);
    if (opened === undefined || opened.claims.sessionId !== sessionId || opened.claims.principal !== principal || opened.claims.expiresAt <= registry.now())
      continue;
    pending.push(deepFreeze({ ...opened.call.request, token: opened.token }));
  }
  return pending;
}
