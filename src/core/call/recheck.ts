/** Judges a call again if it waited, or if something changed since its verdict. */

import { toolError } from '../../values/errors/index.ts';
import type { FoundCall } from './call.ts';
import { inPhase } from './call-tracers.ts';
import { giveBack, lacksSlot, releaseAll } from './session-limits.ts';
import { decide } from './stages/decide.ts';
import { checkAvailable, removedMeanwhile } from './stages/lookup.ts';
import { withdrawn } from './standing-grants.ts';
import { GoTo, type Next, type Step } from './step.ts';

/** A call is denied if the rules keep changing faster than it can be judged. */
const maxRounds = 8;
/** So is a call whose gates, asked once more, have to be waited for again and again. */
const maxPasses = 8;

/**
 * Checks availability, policy and fingerprint again, until nothing changed in the meantime. A round
 * asks all gates. If some of them had to be waited for, a pass follows in the turn in which the
 * call goes on: it keeps their answers and asks the others once more.
 */
export function recheck(call: FoundCall): Step {
  const { session, extra } = call;
  const isWithdrawn = extra?.approval?.grant !== undefined && withdrawn(call);
  if (isWithdrawn) call.approved = false;
  const isSame = !call.waited && !isWithdrawn && call.judgedAt === session.current();
  if (isSame && extra?.kept === undefined) return undefined;
  return judgeAgain(call, isSame);
}

/** @param isPass nothing has changed since the last round, apart from what its gates waited for */
function judgeAgain(call: FoundCall, isPass: boolean): Step {
  const { session, more } = call;
  // Rules may have changed while the last round waited for gates.
  const hasWaited = call.waited || more.kept !== undefined;
  if (isPass) more.passes++;
  else {
    more.rounds++;
    more.passes = 0;
    more.kept = undefined;
  }
  if (more.rounds > maxRounds || more.passes > maxPasses) return unstableError;
  const binding = session.binding(call.toolName);
  if (binding === undefined || binding.entry !== call.entry) return removedMeanwhile(call);
  call.judgedAt = binding.stamp;
  const unavailable = checkAvailable(call);
  if (unavailable !== undefined) return unavailable;
  if (isPass || hasWaited)
    for (const forget of session.registry.ports.calls.again) forget(call, isPass);
  const outcome = inPhase(call, 'policy', decide);
  if (outcome instanceof Promise) return outcome.then((settled) => conclude(call, settled));
  more.kept = undefined;
  return conclude(call, outcome);
}

const unstableError = toolError(
  'policy_error',
  'The rules changed faster than the call could be judged. Try again.',
  { reason: 'rules_unstable', retryable: true },
);

function conclude(call: FoundCall, outcome: Next): Next {
  call.session.registry.ports.calls.trials?.tell(call);
  return outcome ?? routeAfter(call);
}

/** The rules ask for more people by now than have allowed the call. */
function lacksPeople(call: FoundCall): boolean {
  return call.approved && call.session.registry.ports.calls.answers?.lacks(call) === true;
}

/** Chooses the place that the new verdict makes necessary. */
function routeAfter(call: FoundCall): Next {
  if (call.ended) return undefined;
  if (withdrawn(call) || lacksPeople(call)) call.approved = false;
  call.waited = false;
  if (call.verdict?.effect === 'ask' && !call.approved) {
    releaseAll(call);
    giveBack(call);
    return GoTo.approval;
  }
  if (call.judgedAt !== call.session.current()) return GoTo.recheck;
  return lacksSlot(call) ? GoTo.slots : undefined;
}
