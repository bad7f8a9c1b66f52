/** The loop guard: stops a model that repeats the same call. */

import { toolError } from '../../errors/index.ts';
import { canonicalJson } from '../../json/index.ts';
import type { Call } from '../../state/call.ts';
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
    call.parent !== undefined ||
    call.resumed !== undefined ||
    call.more.guarded
  )
    return undefined;
  call.more.guarded = true;
  const key = canonicalJson([call.toolName, call.canonical]);
  if (session.loop?.key === key) session.loop.count++;
  else session.loop = { key, count: 1 };
  if (session.loop.count <= loopGuard) return undefined;
  return toolError(
    'loop_detected',
    `The same call was made ${session.loop.count} times in a row. Change the arguments, use ` +
      'another tool, or stop.',
    { reason: 'identical_calls', details: { allowed: loopGuard } },
  );
}
