/** What quotas have counted, in a store: one sum for each key. */
import type { Store } from '../../api/store.ts';
import { isInProcess, nameFor } from '../../stores/shared/use-store.ts';
import { randomUUID, sha256 } from '../../values/crypto.ts';
import { after, type MaybePromise } from '../../values/maybe-promise.ts';

export const space = { shared: 'calls' } as const;

/** What quotas need of a store. */
export const quotaUse = { what: 'quotas', needs: ['add', 'sum', 'subtract', 'set'] } as const;

/** How long a mark shows that amounts were given back, so that a second try does nothing. */
const markMs = 3_600_000;
/** Amounts that one step gives back, which has a mark too. */
const mostAtOnce = 999;

/** An amount that a call spends, in units of 10^-18. */
export interface QuotaSpend {
  /** The quota and what it is counted for. */
  readonly key: string;
  readonly amount: bigint;
  /** Undefined if a person has agreed to more. */
  readonly max: bigint | undefined;
  /** Undefined for a quota per session. */
  readonly windowMs: number | undefined;
  /** For a quota per session: lives as long as it. */
  readonly session?: object | undefined;
  readonly holder?: string | undefined;
}

/** The added amounts, until they are given back. */
export interface Reservation {
  readonly parts: readonly Store.Subtract[];
  /** Names the marks, once they are given back. */
  id?: string;
}

function slidingOf(store: Store, spend: QuotaSpend): Store.Sliding {
  const { key, amount, max, windowMs, session, holder } = spend;
  // It may name a person or a payee, which nobody needs to read in a database. JSON keeps apart
  // what UTF-8 cannot express.
  const name = isInProcess(store) ? nameFor('quota', key) : `quota ${sha256(JSON.stringify(key))}`;
  return { key: name, amount, max, windowMs, owner: session, holder };
}

export function addsOf(store: Store, spends: readonly QuotaSpend[]): readonly Store.Add[] {
  return spends.map((spend) => ({ op: 'add', ...slidingOf(store, spend) }));
}

/** @param places What the store has answered, one for each amount. */
export function reservationOf(adds: readonly Store.Add[], places: readonly unknown[]): Reservation {
  return {
    parts: adds.map(({ key, amount }, index): Store.Subtract => {
      return { op: 'subtract', key, amount, place: places[index] as string };
    }),
  };
}

/** Subtracts the amounts of a reservation, because its call never started. */
export function giveBackTo(store: Store, reservation: Reservation): MaybePromise<void> {
  reservation.id ??= randomUUID();
  return giveBackFrom(store, reservation.parts, reservation.id, 0);
}

/** Of a thousand amounts, the last one needs a step of its own. */
function giveBackFrom(
  store: Store,
  all: readonly Store.Subtract[],
  id: string,
  from: number,
): MaybePromise<void> {
  const parts = all.slice(from, from + mostAtOnce);
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
    giveBackFrom(store, all, id, from + mostAtOnce),
  );
}

/** The sums, one for each amount, in the same order. Changes nothing. */
export function look(
  store: Store,
  spends: readonly QuotaSpend[],
): MaybePromise<readonly Store.Use[] | undefined> {
  const sums = spends.map((spend): Store.Sum => ({ op: 'sum', ...slidingOf(store, spend) }));
  return after(store.apply(space, sums), ({ results }) => results);
}
