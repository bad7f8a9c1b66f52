/**
 * Quotas. What the call spends is reserved immediately before its handler starts: all of it, or
 * nothing. It is given back if the handler never starts.
 */

import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { releaseAll } from '../../core/call/session-limits.ts';
import { GoTo, type Next, type Step } from '../../core/call/step.ts';
import type { StoreStep } from '../../core/call/store-step.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import {
  callEnded,
  giveBackQuota,
  isOver,
  returnTo,
  storeFailed,
  usesIn,
} from './ask-quota-store.ts';
import { askBeyond } from './quota-judge.ts';
import type { CompiledQuota } from './quota-layers.ts';
import { compare, exceededError, unavailableError, unreadableError } from './quota-levels.ts';
import { type Spending, spendingsOf } from './quota-spending.ts';
import { reservedQuota } from './quota-state.ts';
import { addsOf, type QuotaSpend, reservationOf, space } from './quotas-in.ts';

/**
 * Reserves what the call spends. A call that waited for the store is judged again, and comes back
 * here with its reservation.
 */
export function reserveQuota(
  call: FoundCall,
  quotas: readonly CompiledQuota[],
  store: Store,
): StoreStep | Step {
  const spendings = spendingsOf(call, quotas);
  if (hasOwn(spendings, 'unreadable')) return unreadableError(spendings);
  const due = spendings.filter(({ spend }) => spend.amount > 0n);
  const reserved = call.extra === undefined ? undefined : reservedQuota.of(call.extra);
  if (reserved !== undefined) {
    if (isSame(reserved.spends, due)) return undefined;
    // The quotas, or the values that they read, have changed since then.
    giveBackQuota(call);
  }
  return due.length === 0 ? undefined : reserving(call, due, store);
}

function reserving(call: FoundCall, due: readonly Spending[], store: Store): StoreStep {
  const spends = due.map(({ spend }) => spend);
  const operations = addsOf(store, spends);
  return {
    store,
    space,
    operations,
    settled(places) {
      reservedQuota.set(call.more, { reservation: reservationOf(operations, places), spends });
    },
    refused: (answer) => refuse(call, due, answer),
    missed() {},
    failed: (cause) => unanswered(call, due, cause),
    undo: (places) => returnTo(call, reservationOf(operations, places)),
  };
}

function refuse(call: FoundCall, due: readonly Spending[], { uses }: Store.Refused): Next {
  const known = usesIn(uses, due);
  if (known?.some((use, index) => isOver(due[index] as Spending, use)) !== true)
    return unanswered(
      call,
      due,
      new MisuseError(
        'invalid_option',
        'Expected the store to answer an amount that does not fit with the use of each amount, ' +
          'one of which is over its maximum; got something else.',
      ),
    );
  const over = compare(due, known).filter((one) => one.over);
  const refused = over.find(({ quota }) => quota.over === 'deny');
  if (refused !== undefined) return exceededError(refused);
  // A person is asked while the call holds nothing. An amount that the person allows is counted
  // without a limit.
  releaseAll(call);
  call.approved = false;
  call.verdict = askBeyond(call, over);
  return GoTo.approval;
}

function unanswered(call: FoundCall, due: readonly Spending[], cause: unknown): Next {
  const failure = storeFailed(call, cause);
  return failure === callEnded ? undefined : unavailableError(due[0] as Spending, failure);
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
