/** Asks the store of the quotas: in bounded time, without trusting its answer. */

import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { answerOfStore } from '../../core/call/with-deadline.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { isThenable } from '../../values/maybe-promise.ts';
import type { Spending } from './quota-spending.ts';
import { quotaStoreOf, reservedQuota } from './quota-state.ts';
import { giveBackTo, look, type Reservation } from './quotas-in.ts';

/** The store gave no usable answer. `cause` is undefined if it was only too slow. */
export interface NoAnswer {
  readonly unavailable: true;
  readonly cause: unknown;
}

/** The call has ended meanwhile, so no answer is needed. */
export const callEnded: unique symbol = Symbol('call ended');

/** What the store answers to a look. */
export type Looked = readonly Store.Use[] | NoAnswer | typeof callEnded;

/** Compares the amounts with what is already spent. Changes nothing. */
export function lookAll(call: FoundCall, spendings: readonly Spending[]): Looked | Promise<Looked> {
  const spends = spendings.map(({ spend }) => spend);
  try {
    const answer: unknown = look(quotaStoreOf(call), spends);
    if (!isThenable(answer)) return usesIn(answer, spendings) ?? nonsense();
    return inTime(call, spendings, answer);
  } catch (error) {
    return storeFailed(call, error);
  }
}

async function inTime(
  call: FoundCall,
  spendings: readonly Spending[],
  asked: PromiseLike<unknown>,
): Promise<Looked> {
  try {
    const got = await answerOfStore(call, asked, 'quota store', () => {});
    if (got === undefined || call.ended) return callEnded;
    return usesIn(got.answer, spendings) ?? nonsense();
  } catch (error) {
    return storeFailed(call, error);
  }
}

/** Gives back what the call has reserved, if its handler has not started. */
export function giveBackQuota(call: FoundCall): void {
  const { extra } = call;
  const reserved = extra === undefined ? undefined : reservedQuota.of(extra);
  if (extra === undefined || reserved === undefined) return;
  reservedQuota.delete(extra);
  returnTo(call, reserved.reservation);
}

/** Gives back a reservation. If that fails, the amounts stay spent until they leave the window. */
export function returnTo(call: FoundCall, reservation: Reservation): void {
  const failed = (error: unknown): void =>
    reportFault(
      call,
      error,
      'quotaStore',
      'what a call had reserved of its quotas could not be given back',
    );
  try {
    const answer: unknown = giveBackTo(quotaStoreOf(call), reservation);
    if (isThenable(answer)) Promise.resolve(answer).then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

export function storeFailed(call: FoundCall, cause: unknown): NoAnswer | typeof callEnded {
  reportFault(call, cause, 'quotaStore', 'the quota store failed, so the call was refused');
  return call.ended ? callEnded : { unavailable: true, cause };
}

function nonsense(): never {
  throw new MisuseError(
    'invalid_option',
    'Expected the store to answer with the use of each amount, got something else.',
  );
}

/** The use of each amount, as far as it can be one. Undefined if it cannot. */
export function usesIn(
  answer: unknown,
  spendings: readonly Spending[],
): readonly Store.Use[] | undefined {
  if (!Array.isArray(answer) || answer.length !== spendings.length) return undefined;
  return answer.every(isUse) ? answer : undefined;
}

function isUse(use: unknown): use is Store.Use {
  if (typeof use !== 'object' || use === null) return false;
  const { used, retryAfterMs } = use as {
    readonly used?: unknown;
    readonly retryAfterMs?: unknown;
  };
  return (
    typeof used === 'bigint' &&
    used >= 0n &&
    (retryAfterMs === undefined || (Number.isFinite(retryAfterMs) && Number(retryAfterMs) >= 0))
  );
}

/** Whether an amount does not fit. An amount of 0 always does. */
export function isOver({ spend }: Spending, { used }: Store.Use): boolean {
  return spend.amount > 0n && spend.max !== undefined && used + spend.amount > spend.max;
}
