/** Asks the host's store of outcomes: in bounded time, without trusting its answer. */

import type { ClaimAnswer } from '../../api/idempotency.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { answerInTime, tooLate } from '../../core/call/with-deadline.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { ignoreRejection, isThenable } from '../../values/maybe-promise.ts';
import { type Claim, type KeptOutcome, readOutcomeText } from './claim.ts';
import type { Idempotency } from './idempotency-options.ts';

/** What a store has answered, with its outcome read. */
export type Claimed =
  | Exclude<ClaimAnswer, { readonly state: 'done' }>
  | { readonly state: 'done'; readonly outcome: KeptOutcome }
  /** The store gave no usable answer. */
  | { readonly state: 'unavailable'; readonly cause: unknown }
  /** The call has ended meanwhile, so no answer is needed. */
  | { readonly state: 'ended' };

/**
 * Asks for the key. If the call ends or the time runs out first, a claim that the store makes later
 * is released.
 */
export function askToClaim(
  call: FoundCall,
  idempotency: Idempotency,
  claim: Claim,
): Claimed | Promise<Claimed> {
  const { key, input, holder } = claim;
  const { store, leaseMs, ttlMs } = idempotency;
  const takeOver = call.entry.summary.annotations?.idempotent === true;
  try {
    const answer: unknown = store.claim({ key, input, holder, leaseMs, ttlMs, takeOver });
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
  answer: PromiseLike<unknown>,
): Promise<Claimed> {
  const { policyTimeoutMs } = call.session.registry;
  const asked = Promise.resolve(answer).then((settled) => ({ settled }));
  try {
    const got = await answerInTime(call, asked, policyTimeoutMs);
    if (got !== tooLate) return settle(call, idempotency, claim, got.settled);
    // A claim that comes too late is released, even in the turn in which the call ended.
    void asked.then(({ settled }) => {
      if (read(settled)?.state === 'claimed') releaseKey(call, idempotency, claim);
    }, ignore);
    if (call.ended) return { state: 'ended' };
    return failed(
      call,
      new Error(`The store of outcomes did not answer within ${policyTimeoutMs / 1_000} s.`),
    );
  } catch (error) {
    return failed(call, error);
  }
}

function settle(call: FoundCall, idempotency: Idempotency, claim: Claim, answer: unknown): Claimed {
  const claimed = read(answer);
  if (call.ended) {
    if (claimed?.state === 'claimed') releaseKey(call, idempotency, claim);
    return { state: 'ended' };
  }
  if (claimed !== undefined) return claimed;
  ignoreRejection(answer);
  return failed(
    call,
    new MisuseError(
      'invalid_option',
      'Expected the store of outcomes to answer { state } with `claimed`, `running` and ' +
        '`leaseMs`, `lost`, `done` and an outcome that it was given, or `conflict`; got ' +
        `${describe(answer)}.`,
    ),
  );
}

/** Reads own members only. */
function read(answer: unknown): Claimed | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const state = own(answer, 'state');
  switch (state) {
    case 'claimed':
    case 'lost':
    case 'conflict':
      return { state };
    case 'running': {
      const leaseMs = own(answer, 'leaseMs');
      return typeof leaseMs === 'number' && leaseMs > 0 ? { state, leaseMs } : undefined;
    }
    case 'done': {
      const outcome = readOutcomeText(own(answer, 'outcome'));
      return outcome === undefined ? undefined : { state, outcome };
    }
    default:
      return undefined;
  }
}

function own(answer: object, name: string): unknown {
  return Object.hasOwn(answer, name) ? (answer as Record<string, unknown>)[name] : undefined;
}

function failed(call: FoundCall, cause: unknown): Claimed {
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
export function releaseKey(call: FoundCall, { store }: Idempotency, claim: Claim): void {
  const { key, holder } = claim;
  void tell(call, 'the idempotency key of a call that never ran could not be released', () =>
    store.release(key, holder),
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

function ignore(): void {}
