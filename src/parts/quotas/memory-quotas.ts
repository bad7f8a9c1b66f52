/** What quotas have counted, in the memory of this process. */

import type { QuotaAnswer, QuotaSpend, QuotaStore, QuotaUse } from '../../api/quotas.ts';
import { Account, type Bucket } from '../../stores/memory/account.ts';
import { inProcess } from '../../values/limits/in-process.ts';
import {
  fn,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';

/** Options of {@link memoryQuotas}. */
export interface MemoryQuotasOptions {
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * The most sums that are kept at the same time. A quota has one for each session, principal or
   * value that it counts for. A call that needs another one is refused as `quota_unavailable`. One
   * principal may have as many as are left for all others: half of them if it is alone, a third
   * each if there are two, so that room is left for whoever comes next. From 1. A sum takes about
   * half a kilobyte, and up to 200 KB once it has more than a thousand reservations in its window.
   * @default 1_000_000
   */
  readonly maxKeys?: number | undefined;
}

const memoryTable = {
  now: fn<() => number>(),
  maxKeys: withDefault(wholeNumber(1), 1_000_000),
} satisfies TableOf<MemoryQuotasOptions>;

/** How long the sum of a session is kept after its last call, once the session itself is gone. */
const keepSessionMs = 86_400_000;

/**
 * Most buckets that are checked to compute when the amounts of one call fit. A call may spend under
 * a thousand keys with two thousand buckets each, and must not block the process.
 */
const maxLooked = 100_000;

/** The added amounts, until they are given back. */
class Reservation {
  parts: readonly { readonly account: Account; readonly bucket: Bucket; readonly amount: bigint }[];

  constructor(parts: Reservation['parts']) {
    this.parts = parts;
  }
}

/**
 * A store for quotas in the memory of this process, and the default of a registry. It answers at
 * once. Give the same one to several registries to let them spend together. Calls of other
 * processes are not counted. The sum of a session is kept as long as the session, and for a day
 * after its last call, so that a session that is created again with the same id continues with it.
 *
 * Sums are exact. In a window with more than 1 024 reservations, a refusal may last a 1 024th of
 * the window too long; it never ends too early.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, memoryQuotas } from 'host-tools';
 *
 * const quotaStore = memoryQuotas();
 * const [chat, mail] = [
 *   new HostToolRegistry({ quotaStore }),
 *   new HostToolRegistry({ quotaStore }), // its calls count together with those of `chat`
 * ];
 * ```
 */
// Longer than 60 lines, since its short functions share the accounts.
export function memoryQuotas(options: MemoryQuotasOptions = {}): QuotaStore {
  const { now, maxKeys } = readOptions('memoryQuotas', options, memoryTable);
  const clock = now === undefined ? () => Date.now() : () => timeOf(now);
  const accounts = new Map<string, Account>();
  /** How many accounts each holder has opened. */
  const held = new Map<string, number>();
  let cursor = accounts.entries();
  const count = (holder: string | undefined, by: 1 | -1): void => {
    if (holder === undefined) return;
    const now = (held.get(holder) ?? 0) + by;
    if (now > 0) held.set(holder, now);
    else held.delete(holder);
  };

  /**
   * Checks some sums, continuing where the last check stopped, and drops those that no longer
   * count.
   */
  const tidy = (most: number, time: number): void => {
    for (let index = Math.min(most, accounts.size); index > 0; index--) {
      let step = cursor.next();
      if (step.done === true) {
        cursor = accounts.entries();
        step = cursor.next();
        if (step.done === true) return;
      }
      const [key, account] = step.value;
      if (!account.isOver(time, keepSessionMs)) continue;
      accounts.delete(key);
      count(account.holder, -1);
    }
  };
  const missingOf = (spends: readonly QuotaSpend[]): number => {
    let missing = 0;
    for (const { key } of spends) if (!accounts.has(key)) missing++;
    return missing;
  };
  /** Whether there is room, of which a holder may take as much as it leaves to the others. */
  const hasRoom = (spends: readonly QuotaSpend[]): boolean => {
    const wanted = missingOf(spends);
    const holder = spends[0]?.holder;
    const own = holder === undefined ? 0 : (held.get(holder) ?? 0);
    return own + wanted <= maxKeys - accounts.size;
  };
  const makeRoom = (spends: readonly QuotaSpend[], time: number): void => {
    const wanted = missingOf(spends);
    if (wanted === 0) return;
    // More are dropped than added, in small steps, so that no call waits for a large clean-up.
    tidy(8 * wanted, time);
    if (hasRoom(spends)) return;
    tidy(1_000, time);
    if (hasRoom(spends)) return;
    const isFull = accounts.size + missingOf(spends) > maxKeys;
    throw new Error(
      `memoryQuotas: expected at most ${maxKeys} sums at the same time, ` +
        (isFull ? '' : 'and of one principal no more than are left for the others, ') +
        'got a call that needs another one. Raise `maxKeys`, or keep the quotas in Redis.',
    );
  };
  const useOf = (
    { key, amount, max }: QuotaSpend,
    time: number,
    budget: { left: number },
  ): QuotaUse => {
    const account = accounts.get(key);
    account?.slide(time);
    const used = account?.total ?? 0n;
    if (max === undefined || used + amount <= max) return { used, retryAfterMs: 0 };
    return { used, retryAfterMs: account?.fitsIn(amount, max, time, budget) };
  };
  const usesOf = (spends: readonly QuotaSpend[], time: number): readonly QuotaUse[] => {
    const budget = { left: maxLooked };
    return spends.map((spend) => useOf(spend, time, budget));
  };
  const fits = ({ key, amount, max }: QuotaSpend, time: number): boolean => {
    const account = accounts.get(key);
    account?.slide(time);
    return max === undefined || (account?.total ?? 0n) + amount <= max;
  };
  const add = ({ key, amount, windowMs, session, holder }: QuotaSpend, time: number) => {
    let account = accounts.get(key);
    if (account === undefined) {
      account = new Account(windowMs, holder);
      accounts.set(key, account);
      count(holder, 1);
    }
    account.join(session);
    return { account, bucket: account.add(amount, account.slide(time)), amount };
  };

  return inProcess({
    reserve(spends): QuotaAnswer {
      const time = clock();
      for (const spend of spends) if (!fits(spend, time)) return { refused: usesOf(spends, time) };
      makeRoom(spends, time);
      return { reservation: new Reservation(spends.map((spend) => add(spend, time))) };
    },
    giveBack(reservation) {
      if (!(reservation instanceof Reservation)) return;
      const { parts } = reservation;
      reservation.parts = [];
      for (const { account, bucket, amount } of parts) account.takeOff(bucket, amount);
    },
    look(spends) {
      const time = clock();
      return usesOf(spends, time);
    },
  });
}

function timeOf(now: () => number): number {
  try {
    const time: unknown = now();
    if (typeof time === 'number' && Number.isFinite(time)) return time;
  } catch {
    // Continues to the machine's clock below.
  }
  return Date.now();
}
