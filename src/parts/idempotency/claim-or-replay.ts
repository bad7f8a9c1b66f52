/** Claims the key of a call. If an earlier call has used the key, the call ends as that one did. */
import { sentAlongside } from '../../core/alongside.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { endCall, failCall, successResult } from '../../core/call/end-call.ts';
import type { Step } from '../../core/call/step.ts';
import type { StoreStep } from '../../core/call/store-step.ts';
import type { KeptOutcome } from './claim.ts';
import { claimKey } from './claim-key.ts';
import type { Idempotency } from './idempotency-options.ts';
import { isKeyed } from './make-claim.ts';

function replay(call: FoundCall, outcome: KeptOutcome): void {
  // The model sees the outcome as if the handler had just settled, so it is remembered in the same
  // way.
  call.state = 'shaping';
  call.more.ensureOutcome().metadata = { ...call.extra?.outcome?.metadata, replayed: true };
  if (outcome.untrusted) call.session.registry.ports.calls.provenance?.mix(call);
  if (!outcome.ok) return failCall(call, outcome.error);
  const { output, truncated, handler, alongside } = outcome;
  if (alongside !== undefined) call.more.ensureOutcome().alongside = sentAlongside(alongside);
  const { masking } = call.binding.status;
  masking?.collectOutput(call, output);
  const isCut = truncated !== undefined || alongside?.truncated !== undefined;
  // The secrets of what is no longer there cannot be collected, and the rest may repeat them.
  if (isCut || alongside?.leftOut !== undefined) masking?.hideOutput(call);
  endCall(call, successResult(call, output, truncated, handler));
}

export function claimOrReplay(call: FoundCall, idempotency: Idempotency): StoreStep | Step {
  if (!isKeyed(call)) return undefined;
  return claimKey(call, idempotency, (outcome) => replay(call, outcome));
}
