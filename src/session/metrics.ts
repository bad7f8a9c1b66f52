/** The counts of one session, as `session.metrics()` returns them. */
import type { JsonObject } from '../json.ts';
import type { SessionState } from '../state/session-state.ts';

export function metricsOf(state: SessionState): JsonObject {
  const totals = {
    calls: 0,
    succeeded: 0,
    failed: 0,
    rejected: 0,
    cancelled: 0,
    pending: 0,
    denied: 0,
  };
  const byTool = new Map<string, JsonObject>();
  const add = (counters: typeof totals): void => {
    for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += counters[key];
  };
  for (const [name, binding] of state.bindings ?? []) {
    const { calls, succeeded, failed, rejected, cancelled, pending, denied } = binding;
    if (calls === 0) continue;
    const counters = { calls, succeeded, failed, rejected, cancelled, pending, denied };
    byTool.set(name, counters);
    add(counters);
  }
  if (state.metrics !== undefined) add(state.metrics.unknown);
  return {
    ...totals,
    denyRate: totals.calls === 0 ? 0 : totals.denied / totals.calls,
    lateSettles: state.metrics?.lateSettles ?? 0,
    byTool: Object.fromEntries(byTool),
    byReason: Object.fromEntries(
      [...(state.metrics?.byReason ?? [])].map(([reason, { count }]) => [reason, count]),
    ),
  };
}
