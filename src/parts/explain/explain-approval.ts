/** What `explain` says about a call that needs approval. No one is asked. */

import { rejection, tooManyApprovals } from '../../core/call/approval-outcome.ts';
import { requestFor } from '../../core/call/approval-question.ts';
import { defaultMaxPending } from '../../core/call/ask-approver.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { Verdict } from '../../core/rules/verdict.ts';
import type { ToolError } from '../../values/errors/index.ts';

/**
 * Why the call would be refused before a person is asked. Whether there is an approver is not
 * looked at, since the adapter of a call may bring one.
 */
export async function approvalProblem(
  call: FoundCall,
  verdict: Verdict,
): Promise<ToolError | undefined> {
  const { session, entry } = call;
  const { approvalMode, approvalTimeoutMs } = session.setup;
  const suspends = approvalMode === 'suspend' && entry.internals.runsIn !== 'external';
  const crowded = suspends
    ? await session.registry.ports.answers?.crowded(call)
    : crowdedDesk(call);
  if (crowded !== undefined) return crowded;
  if (call.input === undefined) return undefined;
  const question = requestFor(call, verdict, 'explain', approvalTimeoutMs);
  return question.askable ? undefined : rejection(call, question.reason, question.message);
}

function crowdedDesk({ session }: FoundCall): ToolError | undefined {
  const limit = session.limits.maxPendingApprovals ?? defaultMaxPending;
  return (session.desk?.waiting.size ?? 0) >= limit ? tooManyApprovals(limit) : undefined;
}
