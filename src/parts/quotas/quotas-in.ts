/** What quotas have counted, in a store. */
import type { QuotaAnswer, QuotaSpend, QuotaStore, QuotaUse } from '../../api/quotas.ts';
import type { Store } from '../../api/store.ts';
import type { Use } from '../../stores/shared/use-store.ts';
import { randomUUID, sha256 } from '../../values/crypto.ts';
import { after, type MaybePromise } from '../../values/maybe-promise.ts';

const space = { shared: 'calls' } as const;

/** How long a mark shows that amounts were given back, so that a second try does nothing. */
const markMs = 3_600_000;
/** Amounts that one step gives back, which has a mark too. */
const mostAtOnce = 999;

/** One sum for each key. All amounts of a call are added in one step. */
export const quotasIn: Use<QuotaStore> = {
  what: 'quotas',
  needs: ['add', 'sum', 'subtract', 'set'],
  over: (store) => ({
    reserve: (spends) => reserve(store, spends),
    giveBack: (reservation) => giveBack(store, reservation),
    look: (spends) => look(store, spends),
  }),
};

/** The added amounts, until they are given back. */
class Reservation {
  readonly parts: readonly Store.Subtract[];
  /** Names the marks. */
  id: string | undefined;
  givenBack = false;

  constructor(parts: readonly Store.Subtract[]) {
    this.parts = parts;
  }
}

function slidingOf({ key, amount, max, windowMs, session, holder }: QuotaSpend): Store.Sliding {
  // It may name a person or a payee, which nobody needs to read in a database. JSON keeps apart
  // what UTF-8 cannot express.
  return {
    key: `quota ${sha256(JSON.stringify(key))}`,
    amount,
    max,
    windowMs,
    owner: session,
    holder,
  };
}

function reserve(store: Store, spends: readonly QuotaSpend[]): MaybePromise<QuotaAnswer> {
  const adds = spends.map((spend): Store.Add => ({ op: 'add', ...slidingOf(spend) }));
  return after(store.apply(space, adds), ({ results, uses }: Added): QuotaAnswer => {
    if (results === undefined) {
      if (uses !== undefined) return { refused: uses };
      throw new Error('The store refused amounts without their use.');
    }
    return {
      reservation: new Reservation(
        adds.map(({ key, amount }, index): Store.Subtract => {
          return { op: 'subtract', key, amount, place: results[index] as string };
        }),
      ),
    };
  });
}

type Added = Pick<Store.Refused, 'uses'> & { readonly results?: readonly string[] | undefined };

function giveBack(store: Store, reservation: object): MaybePromise<void> {
  if (!(reservation instanceof Reservation) || reservation.givenBack) return;
  reservation.id ??= randomUUID();
  return after(giveBackFrom(store, reservation, reservation.id, 0), () => {
    reservation.givenBack = true;
  });
}

/** Of a thousand amounts, the last one needs a step of its own. */
function giveBackFrom(
  store: Store,
  reservation: Reservation,
  id: string,
  from: number,
): MaybePromise<void> {
  const parts = reservation.parts.slice(from, from + mostAtOnce);
  if (parts.length === 0) return;
  const mark: Store.Set = {
    op: 'set',
    key: `given back ${id} ${from}`,
    value: '',
    version: 0,
    ttlMs: markMs,
  };
  // If the mark exists, an earlier try has given them back.
  return after(store.apply(space, [mark, ...parts]), () =>
    giveBackFrom(store, reservation, id, from + mostAtOnce),
  );
}

function look(store: Store, spends: readonly QuotaSpend[]): MaybePromise<readonly QuotaUse[]> {
  const sums = spends.map((spend): Store.Sum => ({ op: 'sum', ...slidingOf(spend) }));
  return after(store.apply(space, sums), ({ results }) => {
    if (results === undefined) throw new Error('The store refused to read sums.');
    return results;
  });
}
