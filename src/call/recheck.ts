/** Judges a call again if it waited, or if something changed since its verdict. */

import { toolError } from '../errors/index.ts';
import type { FoundCall } from '../state/call.ts';
import { lacksSlot } from '../state/session-limits.ts';
import { giveBackQuota } from './ask-quota-store.ts';
import { releaseAll } from './release.ts';
import { tellTrials } from './shadow-rules.ts';
import { decide } from './stages/decide.ts';
import { checkAvailable, removedMeanwhile } from './stages/lookup.ts';
import { withdrawn } from './standing-grants.ts';
import { type Outcome, type Step, steps } from './step.ts';
import { inPhase } from './traced.ts';

/** A call is denied if the rules keep changing faster than it can be judged. */
const mostRounds = 8;

/** Checks availability, policy and fingerprint again, until nothing changed in the meantime. */
export function recheck(call: FoundCall): Step {
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
  const unavailable = checkAvailable(call);
  if (unavailable !== undefined) return unavailable;
  const outcome = inPhase(call, 'policy', decide);
  return outcome instanceof Promise
    ? outcome.then((settled) => conclude(call, settled))
    : conclude(call, outcome);
}

function conclude(call: FoundCall, outcome: Outcome): Outcome {
  tellTrials(call);
  return outcome ?? routeAfter(call);
}

/** Chooses the step that the new verdict makes necessary. */
function routeAfter(call: FoundCall): Outcome {
  if (call.ended) return undefined;
  if (withdrawn(call)) call.approved = false;
  // This round may have waited for a policy. Only a change makes another round necessary.
  call.waited = false;
  if (call.verdict?.effect === 'ask' && !call.approved) {
    releaseAll(call);
    giveBackQuota(call);
    call.goto = steps.approve;
  } else if (call.judgedAt !== call.session.current()) call.goto = steps.recheck;
  else if (lacksSlot(call)) call.goto = steps.acquire;
  return undefined;
}
