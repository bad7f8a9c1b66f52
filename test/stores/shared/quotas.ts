/** The quotas of a store, as the spine of a call uses them. */
import type { MaybePromise } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import {
  addsOf,
  giveBackTo,
  look,
  type QuotaSpend,
  type Reservation,
  reservationOf,
  space,
} from '../../../src/parts/quotas/quotas-in.ts';
import { after } from '../../../src/values/maybe-promise.ts';

export type Quotas = ReturnType<typeof quotasIn>;

export function quotasIn(store: Store) {
  return {
    reserve(
      spends: readonly QuotaSpend[],
    ): MaybePromise<
      { readonly reservation: Reservation } | { readonly refused: readonly Store.Use[] }
    > {
      const adds = addsOf(store, spends);
      return after(store.apply(space, adds), (answer) =>
        answer.results === undefined
          ? { refused: answer.uses ?? [] }
          : { reservation: reservationOf(adds, answer.results) },
      );
    },
    giveBack: (reservation: Reservation) => giveBackTo(store, reservation),
    look: (spends: readonly QuotaSpend[]) =>
      after(look(store, spends), (uses): readonly Store.Use[] => uses ?? []),
  };
}
