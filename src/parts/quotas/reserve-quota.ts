/**
 * Quotas. What the call spends is reserved immediately before its handler starts: all of it, or
 * nothing. It is given back if the handler never starts.
 */

import type { QuotaSpend } from '../../api/quotas.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { releaseAll } from '../../core/call/release.ts';
import { GoTo, type Next, type Step } from '../../core/call/step.ts';
import { hasOwn } from '../../values/json/value.ts';
import { callEnded, giveBackQuota, type Reservation, reserveAll } from './ask-quota-store.ts';
import type { CompiledQuota } from './quota.ts';
import { askBeyond } from './quota-judge.ts';
import { compare, exceededError, unavailableError, unreadableError } from './quota-levels.ts';
import { type Spending, spendingsOf } from './quota-spending.ts';
import { reservedQuota } from './quota-state.ts';

/**
 * Reserves what the call spends. A call that waited for the store is judged again, and comes back
 * here with its reservation.
 */
export function reserveQuota(call: FoundCall, quotas: readonly CompiledQuota[]): Step {
  const spendings = spendingsOf(call, quotas);
  if (hasOwn(spendings, 'unreadable')) return unreadableError(spendings);
  const due = spendings.filter(({ spend }) => spend.amount > 0n);
  const reserved = call.extra === undefined ? undefined : reservedQuota.of(call.extra);
  if (reserved !== undefined) {
    if (isSame(reserved.spends, due)) return undefined;
    // The quotas, or the values that they read, have changed since then.
    giveBackQuota(call);
  }
  if (due.length === 0) return undefined;
  const answer = reserveAll(call, due);
  return answer instanceof Promise
    ? answer.then((settled) => take(call, due, settled))
    : take(call, due, answer);
}

function take(call: FoundCall, due: readonly Spending[], answer: Reservation): Next {
  if (answer === callEnded) return undefined;
  if (hasOwn(answer, 'unavailable')) return unavailableError(due[0] as Spending, answer);
  if (hasOwn(answer, 'reservation')) {
    const { reservation } = answer;
    reservedQuota.set(call.more, { reservation, spends: due.map(({ spend }) => spend) });
    // The call may have ended in the turn in which the answer came.
    if (call.ended) giveBackQuota(call);
    return undefined;
  }
  const over = compare(due, answer.refused).filter((one) => one.over);
  const refused = over.find(({ quota }) => quota.over === 'deny');
  if (refused !== undefined) return exceededError(refused);
  // A person is asked while the call holds nothing. An amount that the person allows is counted
  // without a limit.
  releaseAll(call);
  call.approved = false;
  call.verdict = askBeyond(call, over);
  return GoTo.approval;
}

function isSame(spends: readonly QuotaSpend[], due: readonly Spending[]): boolean {
  return (
    spends.length === due.length &&
    spends.every(({ key, amount, max }, index) => {
      const other = (due[index] as Spending).spend;
      return key === other.key && amount === other.amount && max === other.max;
    })
  );
}
