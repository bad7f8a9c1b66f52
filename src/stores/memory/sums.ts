/** The sums of a memory store, for which there is bounded room. */
import type { Store } from '../../api/store.ts';
import { Account } from './account.ts';
import type { Held, Space } from './space.ts';

/** How long a sum that does not slide is kept after its last amount, once nobody asks for it. */
const keepOwnedMs = 86_400_000;
const keepMs = 30 * 86_400_000;

/**
 * Most buckets that are checked to compute when the amounts of one step fit. A step may have a
 * thousand sums with two thousand buckets each, and must not block the process.
 */
const maxLooked = 100_000;

/** What an operation left behind, to undo it. */
export type Undo = () => void;

export class Sums {
  readonly #maxSums: number;
  readonly #held = new Set<Held>();
  /** How many sums each holder has opened. */
  readonly #holders = new Map<string, number>();
  #cursor = this.#held.values();
  /** How many sums this step may still check for room. */
  #mayCheck = 0;
  #mayLook = 0;
  /** Sums of which this step has taken something back. If it is refused, they have it again. */
  readonly #lowered = new Set<Account>();

  readonly #left: (space: Space) => void;

  /** @param left Told that a space has a sum less. */
  constructor(maxSums: number, left: (space: Space) => void) {
    this.#maxSums = maxSums;
    this.#left = left;
  }

  /** Begins a step. */
  begin(): void {
    this.#mayCheck = 1_000;
    this.#mayLook = maxLooked;
    this.#lowered.clear();
  }

  /**
   * Adds an amount.
   * @returns its place; undefined if it does not fit
   * @throws Error if there is no room for another sum
   */
  add(space: Space, add: Store.Add, time: number, undo: Undo[] | undefined): string | undefined {
    const { key, amount, max } = add;
    let account = space.sums.get(key)?.account;
    const at = account?.slide(time) ?? time;
    if (max !== undefined && (account?.total ?? 0n) + amount > max) return undefined;
    if (account === undefined) {
      const opened = this.#open(space, add, time);
      account = opened.account;
      undo?.push(() => this.#forget(opened));
    }
    account.join(add.owner);
    const { lastAt } = account;
    const newestAt = undo === undefined ? undefined : account.joinedAt(at);
    const bucket = account.add(amount, at);
    const changed = account;
    undo?.push(() => changed.undoAdd(bucket, amount, newestAt, lastAt));
    return String(bucket.id);
  }

  subtract(space: Space, { key, amount, place }: Store.Subtract, time: number): Undo | undefined {
    const account = space.sums.get(key)?.account;
    account?.slide(time);
    const bucket = account?.bucket(Number(place));
    if (account === undefined || bucket === undefined) return undefined;
    const back = amount < bucket.amount ? amount : bucket.amount;
    account.takeOff(bucket, back);
    this.#lowered.add(account);
    return () => account.takeOff(bucket, -back);
  }

  use({ sums }: Space, { key, amount, max }: Store.Sliding, time: number): Store.Use {
    const account = sums.get(key)?.account;
    const at = account?.slide(time) ?? time;
    const used = account?.total ?? 0n;
    if (max === undefined || used + amount <= max) return { used, retryAfterMs: 0 };
    const budget = { left: this.#mayLook };
    const retryAfterMs = account?.fitsIn(amount, max, at, budget);
    this.#mayLook = budget.left;
    // The amounts may be of a later time than now, if the clock went back.
    return { used, retryAfterMs: retryAfterMs && retryAfterMs + Math.ceil(at - time) };
  }

  #open(space: Space, { key, windowMs, holder, owner }: Store.Add, time: number): Held {
    // More are dropped than opened, in small steps, so that no call waits for a large clean-up.
    this.#tidy(8, time);
    if (!this.#hasRoom(holder)) {
      this.#tidy(this.#mayCheck, time);
      this.#mayCheck = 0;
      if (!this.#hasRoom(holder)) throw this.#full();
    }
    const account = new Account(windowMs, holder);
    const held: Held = { account, space, key, owned: owner !== undefined };
    space.sums.set(key, held);
    this.#held.add(held);
    this.#count(holder, 1);
    return held;
  }

  #forget(held: Held): void {
    // It may have been forgotten already, and another one may have its key.
    if (!this.#held.delete(held)) return;
    held.space.sums.delete(held.key);
    this.#count(held.account.holder, -1);
    this.#left(held.space);
  }

  /** Whether there is room, of which a holder may take as much as it leaves to the others. */
  #hasRoom(holder: string | undefined): boolean {
    const own = holder === undefined ? 0 : (this.#holders.get(holder) ?? 0);
    return own + 1 <= this.#maxSums - this.#held.size;
  }

  #full(): Error {
    const isFull = this.#held.size >= this.#maxSums;
    return new Error(
      `memoryStore: expected at most ${this.#maxSums} sums at the same time, ` +
        (isFull ? '' : 'and of one holder no more than are left for the others, ') +
        'got a step that needs another one. Raise `maxSums`, or use another store.',
    );
  }

  #count(holder: string | undefined, by: 1 | -1): void {
    if (holder === undefined) return;
    const count = (this.#holders.get(holder) ?? 0) + by;
    if (count > 0) this.#holders.set(holder, count);
    else this.#holders.delete(holder);
  }

  /** Checks some sums, continuing where the last check stopped, and drops those that are over. */
  #tidy(most: number, time: number): void {
    for (let left = Math.min(most, this.#held.size); left > 0; left--) {
      let step = this.#cursor.next();
      if (step.done === true) {
        this.#cursor = this.#held.values();
        step = this.#cursor.next();
        if (step.done === true) return;
      }
      const { account, owned } = step.value;
      if (this.#lowered.has(account)) continue;
      if (account.isOver(time, owned ? keepOwnedMs : keepMs)) this.#forget(step.value);
    }
  }
}
