/**
 * Calls with an idempotency key, if the registry keeps outcomes. The key is claimed after all gates
 * have allowed the call. Of all calls with the same key, only one runs.
 */

import type { FoundCall } from '../../core/call/call.ts';
import { releaseAll } from '../../core/call/session-limits.ts';
import { GoTo, type Next, type Outcome, type Step } from '../../core/call/step.ts';
import type { StoreStep } from '../../core/call/store-step.ts';
import { Slot } from '../../core/slot.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import {
  askToClaim,
  type Claimed,
  failed,
  releaseKey,
  requestOf,
} from './ask-idempotency-store.ts';
import { type Claim, claimOf, claimSlot, type KeptOutcome } from './claim.ts';
import { space } from './idempotency-in.ts';
import type { Idempotency } from './idempotency-options.ts';
import { endClaim, hold, inputDigest, makeClaim, releaseClaim, untilWoken } from './make-claim.ts';

/** Milliseconds between two looks of a waiting call that nothing wakes. */
const firstLookMs = 25;
const lastLookMs = 1_000;

/**
 * Claims the key, or finds the outcome of an earlier call. A call that waited for that is judged
 * again, and comes back here with what it found.
 */
export function claimKey(
  call: FoundCall,
  idempotency: Idempotency,
  replay: (outcome: KeptOutcome) => void,
): StoreStep | Step {
  const before = claimOf(call.extra);
  if (before !== undefined) {
    if (before.canonical !== call.canonical && before.input !== inputDigest(call)) {
      // A person has changed the input since then.
      releaseClaim(call, idempotency, before);
      claimSlot.delete(call.more);
    } else {
      before.canonical = call.canonical;
      if (before.outcome !== undefined) replay(before.outcome);
      return undefined;
    }
  }
  if (hasClaimed.of(call.more) !== true) {
    hasClaimed.set(call.more, true);
    call.onEnd((result) => endClaim(call, idempotency, result));
  }
  return claiming(call, idempotency, makeClaim(call, idempotency), replay);
}

/** Calls that end by {@link endClaim}. */
const hasClaimed = new Slot<true>();

function claiming(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
  replay: (outcome: KeptOutcome) => void,
): StoreStep {
  const { keys, store } = idempotency;
  const request = requestOf(call, idempotency, claim);
  return {
    store,
    space,
    operations: [keys.first(request)],
    settled([version]) {
      keys.claimed(request, version as number);
      claimSlot.set(call.more, claim);
      hold(call, idempotency, claim);
    },
    refused(found) {
      claimSlot.set(call.more, claim);
      const answer = askToClaim(call, idempotency, claim, found);
      if (answer instanceof Promise)
        return answer.then((settled) => take(call, idempotency, claim, settled));
      const outcome = take(call, idempotency, claim, answer);
      if (outcome === undefined && claim.outcome !== undefined && !call.ended)
        replay(claim.outcome);
      return outcome;
    },
    missed() {},
    failed: (cause) => conclude(call, idempotency, claim, failed(call, cause)),
    undo([version]) {
      keys.claimed(request, version as number);
      releaseKey(call, idempotency, claim);
    },
  };
}

function take(call: FoundCall, idempotency: Idempotency, claim: Claim, answer: Claimed): Step {
  return answer.state === 'running'
    ? waitForHolder(call, idempotency, claim, answer.leaseMs)
    : conclude(call, idempotency, claim, answer);
}

function conclude(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
  answer: Exclude<Claimed, { readonly state: 'running' }>,
): Outcome {
  switch (answer.state) {
    case 'claimed':
      // The call may have ended in the turn in which the answer came.
      if (call.ended) releaseKey(call, idempotency, claim);
      else hold(call, idempotency, claim);
      return undefined;
    case 'done':
      claim.outcome = answer.outcome;
      return undefined;
    case 'conflict':
      return conflictError;
    case 'lost':
      return lostError;
    case 'unavailable':
      return withCause(unavailableError(), answer.cause);
    case 'ended':
      return undefined;
  }
}

/**
 * Waits for the running call, as long as this one might have run itself. Slots and locks are given
 * back meanwhile.
 */
async function waitForHolder(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
  leaseMs: number,
): Promise<Next> {
  releaseAll(call);
  const { registry } = call.session;
  const asked = call.options?.timeoutMs ?? Number.POSITIVE_INFINITY;
  const until = registry.monotonic() + Math.min(asked, call.binding.status.timeoutMs);
  let lookMs = firstLookMs;
  let lease = leaseMs;
  for (;;) {
    const left = until - registry.monotonic();
    if (left <= 0) return stillRunningError;
    await untilWoken(call, idempotency, claim.key, Math.min(lookMs, left, lease));
    if (call.ended) return undefined;
    const answer = await askToClaim(call, idempotency, claim);
    if (answer.state !== 'running') {
      const refused = conclude(call, idempotency, claim, answer);
      // The call needs its slots and locks again before it may run.
      return answer.state === 'claimed' ? GoTo.slots : refused;
    }
    lookMs = Math.min(lookMs * 2, lastLookMs);
    lease = answer.leaseMs;
  }
}

const conflictError: ToolError = toolError(
  'invalid_input',
  'This idempotency key was used with other arguments. Repeat the call with the same arguments, ' +
    'or use another key.',
  { reason: 'idempotency_conflict', source: 'idempotency' },
);

const lostError: ToolError = toolError(
  'executor_lost',
  'The process that ran the first call with this idempotency key went away, and it is not known ' +
    'what the call did. Nothing ran now. Find that out before you repeat it with another key.',
  { reason: 'holder_lost', source: 'idempotency', retryable: false },
);

const stillRunningError: ToolError = toolError(
  'timeout',
  'The first call with this idempotency key still runs. Repeat the call later to get its outcome.',
  { reason: 'idempotency_in_progress', source: 'idempotency' },
);

function unavailableError(): ToolError {
  return toolError(
    'policy_error',
    'The call was refused because it is not known whether it has run before. Try again later.',
    { reason: 'idempotency_unavailable', source: 'idempotency', retryable: true },
  );
}
