/** The loop guard: the same call again and again is stopped. */

import { toolError } from '../../errors.ts';
import { canonicalJson } from '../../json.ts';
import type { Call } from '../../state/call.ts';
import type { Step } from '../step.ts';

/**
 * Allows `loopGuard` identical calls in a row. Off unless set; a resumed or re-judged call counts
 * once. Only what the model calls counts: the calls that a tool makes would break up the row of its
 * own calls, and a tool may poll another one as it sees fit.
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
    {
      reason: 'identical_calls',
      details: { allowed: loopGuard },
    },
  );
}
