/** Claims the key of a call. If an earlier call has used the key, the call ends as that one did. */
import type { FoundCall } from '../state/call.ts';
import type { Idempotency } from '../state/idempotency-options.ts';
import { isKeyed } from './claim.ts';
import { replay } from './replay.ts';
import { claimKey } from './stages/claim-key.ts';
import type { Step } from './step.ts';

export function claimOrReplay(call: FoundCall, idempotency: Idempotency): Step {
  if (!isKeyed(call)) return undefined;
  const outcome = claimKey(call, idempotency);
  if (outcome === undefined && !call.ended) {
    const kept = call.extra?.claim?.outcome;
    if (kept !== undefined) replay(call, kept);
  }
  return outcome;
}
