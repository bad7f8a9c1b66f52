/** Claims the key of a call. If an earlier call has used the key, the call ends as that one did. */

import type { FoundCall } from '../../core/call/call.ts';
import type { Step } from '../../core/call/step.ts';
import { claimOf } from './claim.ts';
import { claimKey } from './claim-key.ts';
import type { Idempotency } from './idempotency-options.ts';
import { isKeyed } from './make-claim.ts';
import { replay } from './replay.ts';

export function claimOrReplay(call: FoundCall, idempotency: Idempotency): Step {
  if (!isKeyed(call)) return undefined;
  const outcome = claimKey(call, idempotency);
  if (outcome === undefined && !call.ended) {
    const kept = claimOf(call.extra)?.outcome;
    if (kept !== undefined) replay(call, kept);
  }
  return outcome;
}
