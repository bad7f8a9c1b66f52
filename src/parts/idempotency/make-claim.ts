/** The life of a claim: made before the call runs, renewed while it runs, and ended with it. */

import type { ToolResult } from '../../api/result.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { randomUUID, sha256 } from '../../values/crypto.ts';
import { canonicalJson } from '../../values/json/index.ts';
import { inScope } from '../../values/limits/async-scope.ts';
import { releaseKey, tell } from './ask-idempotency-store.ts';
import { Claim, claimOf, outcomeText } from './claim.ts';
import type { Idempotency } from './idempotency-options.ts';

/** Whether the caller has given the call a key, so that it runs at most once. */
export function isKeyed({ options, resumed }: FoundCall): boolean {
  return options?.idempotencyKey !== undefined || resumed?.answer !== undefined;
}

/** A claim for the call with its present input. No store has been asked yet. */
export function makeClaim(call: FoundCall, idempotency: Idempotency): Claim {
  const { session, entry, canonical } = call;
  const { principal, sessionId } = session;
  const whose = principal === undefined ? ['session', sessionId] : ['principal', principal];
  const key = digest(JSON.stringify([entry.summary.name, whose, call.idempotencyKey]));
  call.keepScope();
  return new Claim(key, inputDigest(call), randomUUID(), canonical, (claim) =>
    inScope(call.scope, () => renew(call, idempotency, claim)),
  );
}

/** A digest of the input as it is judged. */
export function inputDigest({ canonical }: FoundCall): string {
  return digest(canonicalJson(canonical));
}

function digest(text: string): string {
  return sha256(text);
}

/** From here on, the call holds the key until it ends. */
export function hold(call: FoundCall, idempotency: Idempotency, claim: Claim): void {
  claim.held = true;
  renewLater(call, idempotency, claim);
}

function renewLater(call: FoundCall, { leaseMs }: Idempotency, claim: Claim): void {
  const { registry } = call.session;
  registry.waiting.deadlines.add(claim, leaseMs / 3, registry.monotonic());
}

function renew(call: FoundCall, idempotency: Idempotency, claim: Claim): void {
  const { keys, leaseMs, ttlMs } = idempotency;
  void tell(call, 'the idempotency key of a running call could not be renewed', () =>
    keys.renew(claim.key, claim.holder, { leaseMs, ttlMs }),
  );
  renewLater(call, idempotency, claim);
}

/** Forgets the claim of a call that continues with another input. */
export function releaseClaim(call: FoundCall, idempotency: Idempotency, claim: Claim): void {
  if (!claim.held) return;
  claim.held = false;
  call.session.registry.waiting.deadlines.remove(claim);
  releaseKey(call, idempotency, claim);
  wake(idempotency, claim.key);
}

/** Keeps the outcome of a call whose handler has started, and releases the key of any other. */
export function endClaim(call: FoundCall, idempotency: Idempotency, result: ToolResult): void {
  const claim = claimOf(call.extra);
  if (claim === undefined) return;
  if (!call.begun) return releaseClaim(call, idempotency, claim);
  claim.held = false;
  call.session.registry.waiting.deadlines.remove(claim);
  const { keys, ttlMs, saving } = idempotency;
  const { provenance } = call.session.registry.ports.calls;
  // Without the part, nothing is known of what child calls have returned.
  const isMixed = provenance?.isMixed(call) ?? (call.extra?.childCount ?? 0) > 0;
  const saved = tell(
    call,
    'the outcome of a call could not be kept, so no other call with its idempotency key gets it',
    () => keys.finish(claim.key, claim.holder, outcomeText(result, isMixed), ttlMs),
  );
  if (saved === undefined) return wake(idempotency, claim.key);
  const all = Promise.resolve(saved).then(() => {
    saving.delete(all);
    wake(idempotency, claim.key);
  });
  saving.add(all);
}

/** Wakes the calls of this registry that wait for the key, so that they look again. */
function wake({ waiting }: Idempotency, key: string): void {
  for (const look of [...(waiting.get(key) ?? [])]) look();
}

/** Waits until the key may have changed, the call has ended, or the time is over. */
export function untilWoken(
  call: FoundCall,
  { waiting }: Idempotency,
  key: string,
  milliseconds: number,
): Promise<void> {
  return new Promise((resolve) => {
    const { registry } = call.session;
    const woken = (): void => {
      registry.waiting.deadlines.remove(timer);
      call.offEnd(woken);
      const others = waiting.get(key);
      others?.delete(woken);
      if (others?.size === 0) waiting.delete(key);
      resolve();
    };
    const timer = {
      expire: woken,
      dlPrev: undefined,
      dlNext: undefined,
      dlAt: 0,
      dlList: undefined,
    };
    let all = waiting.get(key);
    if (all === undefined) {
      all = new Set();
      waiting.set(key, all);
    }
    all.add(woken);
    call.onEnd(woken);
    registry.waiting.deadlines.add(timer, milliseconds, registry.monotonic());
  });
}
