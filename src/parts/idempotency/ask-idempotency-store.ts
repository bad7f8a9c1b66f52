/** Asks the host's store of outcomes: in bounded time, without trusting its answer. */

import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { answerOfStore } from '../../core/call/with-deadline.ts';
import { isThenable } from '../../values/maybe-promise.ts';
import { type Claim, type KeptOutcome, readOutcomeText } from './claim.ts';
import type { ClaimAnswer, IdempotencyClaim } from './idempotency-in.ts';
import type { Idempotency } from './idempotency-options.ts';

/** What a store has answered, with its outcome read. */
export type Claimed =
  | Exclude<ClaimAnswer, { readonly state: 'done' }>
  | { readonly state: 'done'; readonly outcome: KeptOutcome }
  /** The store gave no usable answer. */
  | { readonly state: 'unavailable'; readonly cause: unknown }
  /** The call has ended meanwhile, so no answer is needed. */
  | { readonly state: 'ended' };

/** What the call requests. */
export function requestOf(
  call: FoundCall,
  { leaseMs, ttlMs }: Idempotency,
  { key, input, holder }: Claim,
): IdempotencyClaim {
  const takeOver = call.entry.summary.annotations?.idempotent === true;
  return { key, input, holder, leaseMs, ttlMs, takeOver };
}

/**
 * Asks for the key, or goes on with what was found under it. If the call ends or the time runs out
 * first, a claim that the store makes later is released.
 */
export function askToClaim(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
  found?: Store.Refused,
): Claimed | Promise<Claimed> {
  const { keys } = idempotency;
  const request = requestOf(call, idempotency, claim);
  try {
    const answer = found === undefined ? keys.claim(request) : keys.found(request, found.found);
    if (!isThenable(answer)) return settle(call, idempotency, claim, answer);
    return inTime(call, idempotency, claim, answer);
  } catch (error) {
    return failed(call, error);
  }
}

async function inTime(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
  answer: PromiseLike<ClaimAnswer>,
): Promise<Claimed> {
  try {
    const got = await answerOfStore(call, answer, 'store of outcomes', (late) => {
      if (late.state === 'claimed') releaseKey(call, idempotency, claim);
    });
    return got === undefined ? { state: 'ended' } : settle(call, idempotency, claim, got.answer);
  } catch (error) {
    return failed(call, error);
  }
}

function settle(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
  answer: ClaimAnswer,
): Claimed {
  if (call.ended) {
    if (answer.state === 'claimed') releaseKey(call, idempotency, claim);
    return { state: 'ended' };
  }
  if (answer.state !== 'done') return answer;
  const outcome = readOutcomeText(answer.outcome);
  return outcome === undefined
    ? failed(call, new Error('The store has something else than an outcome under the key.'))
    : { state: 'done', outcome };
}

export function failed(
  call: FoundCall,
  cause: unknown,
): Extract<Claimed, { readonly state: 'ended' | 'unavailable' }> {
  reportFault(
    call,
    cause,
    'idempotencyStore',
    'the store of outcomes failed, so the call was refused',
  );
  return call.ended ? { state: 'ended' } : { state: 'unavailable', cause };
}

/**
 * Forgets the key of a call that has not started. If that fails, other calls with the key wait
 * until the lease ends, and then count this one as lost.
 */
export function releaseKey(call: FoundCall, { keys }: Idempotency, claim: Claim): void {
  const { key, holder } = claim;
  void tell(call, 'the idempotency key of a call that never ran could not be released', () =>
    keys.release(key, holder),
  );
}

/** Runs one operation whose answer no one waits for. Its failure is reported. */
export function tell(
  call: FoundCall,
  message: string,
  run: () => unknown,
): PromiseLike<unknown> | undefined {
  const failed = (error: unknown): void => reportFault(call, error, 'idempotencyStore', message);
  try {
    const answer = run();
    return isThenable(answer) ? Promise.resolve(answer).then(undefined, failed) : undefined;
  } catch (error) {
    failed(error);
    return undefined;
  }
}
