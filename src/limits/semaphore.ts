/**
 * Slots (capacity n) and resource locks (capacity 1): one primitive, fair between sessions, open to
 * a holder's own child calls, and refusing waits that could never end.
 */
import { FairQueue, type Place } from './fair-queue.ts';
import { SmallSet } from './small-set.ts';

/** Who holds or waits. The caller's own record of a call implements it. */
export interface Holder {
  /**
   * The call that this one was made from. A child passes freely where one of its ancestors holds.
   */
  readonly parent: Holder | undefined;
  /** The unit of fairness: the session. */
  readonly owner: object;
  /**
   * Kept by {@link Semaphore}; starts as `undefined`. A holder waits for one semaphore at a time.
   */
  waitingFor: Semaphore | undefined;
}

/** A place in the queue. */
export interface Ticket {
  /**
   * Leaves the queue, or gives back what was granted but not yet told; `granted` does not run after
   * it. Without effect once `granted` has run.
   */
  cancel(): void;
}

/**
 * What semaphores that one call may hold together share, so that a cycle of waits between them can
 * be seen: for each call, which of its descendants wait.
 */
export interface WaitGraph {
  readonly waitingBelow: Map<Holder, Set<Holder>>;
}

/** A {@link WaitGraph}: one for all semaphores of a registry. */
export function createWaitGraph(): WaitGraph {
  return { waitingBelow: new Map() };
}

export interface SemaphoreOptions {
  /**
   * Shared by all semaphores that a call and its child calls may meet. @default one of its own,
   * which sees no cycle through other semaphores
   */
  readonly waits?: WaitGraph | undefined;
  /** Runs when the last unit has come back and nobody waits. */
  readonly onIdle?: (() => void) | undefined;
}

interface Waiter extends Ticket {
  readonly holder: Holder;
  readonly granted: () => void;
  /** Brings the microtask that tells it. */
  wake: () => void;
  state: 'waiting' | 'granted' | 'done';
}

const nothingYet = (): void => {};
const nothing: ReadonlySet<Semaphore> = new Set();

/**
 * A counting semaphore. Free capacity costs one entry of a set; the rest exists only while somebody
 * waits.
 */
export class Semaphore {
  #capacity: number;
  readonly #waits: WaitGraph;
  readonly #onIdle: (() => void) | undefined;
  /** Each took a unit. */
  readonly #held = new SmallSet<Holder>();
  /** Descendants that passed through a unit that another took, and who holds that unit. */
  #riders: Map<Holder, Holder> | undefined;
  #queue: FairQueue<Waiter> | undefined;

  /** @param capacity Units; `Infinity` for no limit. */
  constructor(capacity: number, options?: SemaphoreOptions) {
    this.#capacity = capacity;
    this.#waits = options?.waits ?? createWaitGraph();
    this.#onIdle = options?.onIdle;
  }

  /** Units taken, never more than the capacity was when they were taken. */
  get held(): number {
    return this.#held.size;
  }

  /** Holders in the queue. */
  get waiting(): number {
    return this.#queue === undefined ? 0 : this.#queue.size;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Raising it wakes waiters; lowering it takes nothing away from those who hold. */
  set capacity(capacity: number) {
    this.#capacity = capacity;
    this.#grant();
  }

  /**
   * Takes a unit, or a place in the queue. A holder that has one, or whose ancestor has, passes
   * without taking another.
   * @param granted Runs once when the holder has its unit, in a microtask, in the async context of
   * this `acquire`: never inside `acquire` or `release`. Not called when `acquire` answers `true`.
   * Should it throw, the unit is given back.
   * @returns `true`: it holds now. A ticket: it waits. `'deadlock'`: it would wait for ever, since
   * everybody who could give a unit back waits, through child calls, for what this holder or its
   * ancestors hold; nothing was taken.
   */
  acquire(holder: Holder, granted: () => void): true | Ticket | 'deadlock' {
    const free = this.#held.size < this.#capacity;
    // Only a descendant can ride on what another one took.
    if (free && holder.parent === undefined) {
      this.#held.add(holder);
      return true;
    }
    if (this.#rides(holder)) return true;
    if (free) {
      this.#held.add(holder);
      return true;
    }
    this.#startWait(holder);
    if (this.#closesCycle(holder)) {
      this.#endWait(holder);
      return 'deadlock';
    }
    return this.#enqueue(holder, granted);
  }

  /**
   * Gives the holder's unit back, to the next in turn if somebody waits. Without effect on who
   * holds none. While a descendant still runs on the unit, it passes on to that descendant.
   */
  release(holder: Holder): void {
    if (this.#riders !== undefined && this.#leaveShared(holder, this.#riders)) return;
    if (!this.#held.delete(holder)) return;
    if (this.waiting > 0) this.#grant();
    else if (this.#onIdle !== undefined && this.#held.size === 0) this.#onIdle();
  }

  #rides(holder: Holder): boolean {
    for (let call: Holder | undefined = holder; call !== undefined; call = call.parent) {
      const taker = this.#held.has(call) ? call : this.#riders?.get(call);
      if (taker === undefined) continue;
      if (call !== holder) {
        this.#riders ??= new Map();
        this.#riders.set(holder, taker);
      }
      return true;
    }
    return false;
  }

  /** True when the unit stays taken: a rider left, or riders stay behind. */
  #leaveShared(holder: Holder, riders: Map<Holder, Holder>): boolean {
    if (riders.delete(holder)) {
      if (riders.size === 0) this.#riders = undefined;
      return true;
    }
    let heir: Holder | undefined;
    for (const [rider, taker] of riders) {
      if (taker !== holder) continue;
      if (heir === undefined) {
        heir = rider;
        riders.delete(rider);
      } else {
        riders.set(rider, heir);
      }
    }
    if (heir === undefined) return false;
    this.#held.delete(holder);
    this.#held.add(heir);
    if (riders.size === 0) this.#riders = undefined;
    return true;
  }

  #enqueue(holder: Holder, granted: () => void): Ticket {
    const waiter: Waiter = {
      holder,
      granted,
      wake: nothingYet,
      state: 'waiting',
      cancel: () => this.#cancel(waiter, place),
    };
    // Made here and not at the grant, so that `granted` runs in the async context of who waits, not
    // of who happened to release.
    const woken = new Promise<void>((resolve) => {
      waiter.wake = resolve;
    });
    void woken.then(() => this.#tell(waiter));
    this.#queue ??= new FairQueue();
    const place = this.#queue.add(waiter, holder.owner);
    return waiter;
  }

  #cancel(waiter: Waiter, place: Place<Waiter>): void {
    const { state } = waiter;
    waiter.state = 'done';
    if (state === 'granted') this.release(waiter.holder);
    if (state !== 'waiting') return;
    this.#queue?.remove(place);
    this.#endWait(waiter.holder);
    if (this.#onIdle !== undefined && this.waiting === 0 && this.#held.size === 0) this.#onIdle();
  }

  #grant(): void {
    while (this.#held.size < this.#capacity) {
      const waiter = this.#queue?.shift();
      if (waiter === undefined) return;
      this.#endWait(waiter.holder);
      // The unit is the waiter's from here on, so nobody who comes before the microtask can take
      // it.
      this.#held.add(waiter.holder);
      waiter.state = 'granted';
      waiter.wake();
    }
  }

  #tell(waiter: Waiter): void {
    if (waiter.state !== 'granted') return;
    waiter.state = 'done';
    // Released before it was told: it wants nothing any more.
    if (!this.#held.has(waiter.holder)) return;
    try {
      waiter.granted();
    } catch {
      this.release(waiter.holder);
    }
  }

  #startWait(holder: Holder): void {
    holder.waitingFor = this;
    const { waitingBelow } = this.#waits;
    for (let call = holder.parent; call !== undefined; call = call.parent) {
      const below = waitingBelow.get(call);
      if (below === undefined) waitingBelow.set(call, new Set([holder]));
      else below.add(holder);
    }
  }

  #endWait(holder: Holder): void {
    holder.waitingFor = undefined;
    const { waitingBelow } = this.#waits;
    for (let call = holder.parent; call !== undefined; call = call.parent) {
      const below = waitingBelow.get(call);
      if (below?.delete(holder) && below.size === 0) waitingBelow.delete(call);
    }
  }

  /**
   * Whether this very wait, already noted, is what makes it endless; one who merely queues up
   * behind others' trouble waits like them.
   */
  #closesCycle(holder: Holder): boolean {
    if (!this.#stuck()) return false;
    this.#endWait(holder);
    const stuckWithout = this.#stuck();
    this.#startWait(holder);
    return !stuckWithout;
  }

  /**
   * Whether no unit of this semaphore can ever come back. A holder can finish when it and each of
   * its descendants that waits, waits for a semaphore that moves; a semaphore moves when enough of
   * its holders can finish. Starting from nothing, what moves is gathered until nothing is added:
   * the rest is stuck.
   */
  #stuck(): boolean {
    // Nearly always somebody holds it who waits for nothing.
    if (this.#moves(nothing)) return false;
    const moving = new Set<Semaphore>();
    const reached = new Set<Semaphore>([this]);
    for (const semaphore of reached) {
      for (const holder of semaphore.#held.values()) {
        if (holder.waitingFor !== undefined) reached.add(holder.waitingFor);
        for (const descendant of this.#waits.waitingBelow.get(holder) ?? [])
          if (descendant.waitingFor !== undefined) reached.add(descendant.waitingFor);
      }
    }
    for (let before = -1; before < moving.size; ) {
      before = moving.size;
      for (const semaphore of reached)
        if (!moving.has(semaphore) && semaphore.#moves(moving)) moving.add(semaphore);
    }
    return !moving.has(this);
  }

  #moves(moving: ReadonlySet<Semaphore>): boolean {
    // More than one must finish where the capacity was lowered below what is held; a capacity of 0
    // waits for the host to raise it, not for a call.
    let needed = Math.min(this.#held.size - this.#capacity + 1, this.#held.size);
    if (needed <= 0) return true;
    for (const holder of this.#held.values()) {
      if (!this.#canFinish(holder, moving)) continue;
      needed -= 1;
      if (needed === 0) return true;
    }
    return false;
  }

  #canFinish(holder: Holder, moving: ReadonlySet<Semaphore>): boolean {
    if (holder.waitingFor !== undefined && !moving.has(holder.waitingFor)) return false;
    const below = this.#waits.waitingBelow.get(holder);
    if (below !== undefined)
      for (const { waitingFor } of below)
        if (waitingFor !== undefined && !moving.has(waitingFor)) return false;
    return true;
  }
}
