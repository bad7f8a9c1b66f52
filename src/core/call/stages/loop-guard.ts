/** The loop guard: stops a model that repeats the same call. */

import { type ToolError, toolError } from '../../../values/errors/index.ts';
import { canonicalJson } from '../../../values/json/index.ts';
import type { Call } from '../call.ts';
import type { Step } from '../step.ts';

/**
 * Allows `loopGuard` identical calls in a row. Off by default. A resumed or re-judged call counts
 * once. Only calls by the model count: a tool may poll another tool, and its calls must not
 * interrupt a series of calls by the model.
 */
export function loopGuard(call: Call): Step {
  const { session } = call;
  const { loopGuard } = session.limits;
  if (
    typeof loopGuard !== 'number' ||
    call.parent?.session === session ||
    call.resumed !== undefined ||
    call.more.guarded
  )
    return undefined;
  call.more.guarded = true;
  session.calls.loop = seriesWith(call);
  return problemOf(session.calls.loop.count, loopGuard);
}

/** What the loop guard would say to a call by the model now. Counts nothing, for `explain`. */
export function loopProblem(call: Call): ToolError | undefined {
  const { loopGuard } = call.session.limits;
  return typeof loopGuard === 'number' ? problemOf(seriesWith(call).count, loopGuard) : undefined;
}

/** The series of identical calls that ends with this one. */
function seriesWith({ session, toolName, canonical }: Call): { key: string; count: number } {
  const key = canonicalJson([toolName, canonical]);
  return { key, count: session.calls.loop?.key === key ? session.calls.loop.count + 1 : 1 };
}

function problemOf(count: number, loopGuard: number): ToolError | undefined {
  if (count <= loopGuard) return undefined;
  return toolError(
    'loop_detected',
    `The same call was made ${count} times in a row. Change the arguments, use another tool, or ` +
      'stop.',
    { reason: 'identical_calls', details: { allowed: loopGuard } },
  );
}
