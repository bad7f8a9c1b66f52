/** Decides again about a call that waited, or during which something changed. */

import { toolError } from '../errors.ts';
import type { Call } from '../state/call.ts';
import { lacksSlot } from '../state/session-limits.ts';
import { releaseAll } from './release.ts';
import { decide } from './stages/decide.ts';
import { checkAvailable, removedMeanwhile } from './stages/lookup.ts';
import { type Outcome, type Step, steps } from './step.ts';
import { withdrawn } from './withdrawn.ts';

/** A call is denied if rules keep changing faster than they can be read. */
const mostRounds = 8;

/**
 * What waited is judged again: availability, policy and fingerprint, until nothing changed
 * meanwhile.
 */
export function recheck(call: Call): Step {
  const { session } = call;
  if (call.extra?.grant !== undefined && withdrawn(call)) call.approved = false;
  else if (!call.waited && call.judgedAt === session.current()) return undefined;
  if (++call.more.rounds > mostRounds)
    return toolError(
      'policy_error',
      'The rules changed faster than the call could be judged. Try again.',
      { reason: 'rules_unstable', retryable: true },
    );
  const binding = session.binding(call.toolName);
  if (binding === undefined || binding.entry !== call.entry) return removedMeanwhile(call);
  const gone = checkAvailable(call);
  if (gone !== undefined) return gone;
  const outcome = decide(call);
  return outcome instanceof Promise
    ? outcome.then((settled) => settled ?? again(call))
    : (outcome ?? again(call));
}

function again(call: Call): Outcome {
  if (call.ended) return undefined;
  if (withdrawn(call)) call.approved = false;
  // The second judging may itself have waited for a policy; that wait alone asks for no third one,
  // a change does.
  call.waited = false;
  if (call.verdict?.effect === 'ask' && !call.approved) {
    releaseAll(call);
    call.goto = steps.approve;
  } else if (call.judgedAt !== call.session.current()) call.goto = steps.recheck;
  else if (lacksSlot(call)) call.goto = steps.acquire;
  return undefined;
}
