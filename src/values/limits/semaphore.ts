/**
 * Slots (capacity n) and resource locks (capacity 1). A semaphore is fair between sessions, lets a
 * holder's child calls pass, and refuses waits that could never end.
 */
import { FairQueue, type Place } from './fair-queue.ts';
import { SmallSet } from './small-set.ts';
import {
  closesCycle,
  createWaitGraph,
  endWait,
  type Holder,
  startWait,
  type Waitable,
  type WaitGraph,
} from './wait-graph.ts';

/** A place in the queue. */
export interface Ticket {
  /**
   * Leaves the queue, or gives back a unit that was granted but not yet reported. `granted` does
   * not run afterwards. Has no effect once `granted` has run.
   */
  cancel(): void;
}

export interface SemaphoreOptions {
  /**
   * Shared by all semaphores that a call and its child calls may use.
   * @default a graph of its own, which sees no cycle through other semaphores
   */
  readonly waits?: WaitGraph | undefined;
  /** Runs when the last unit has come back and no holder waits. */
  readonly onIdle?: (() => void) | undefined;
}

interface Waiter extends Ticket {
  readonly holder: Holder;
  readonly granted: () => void;
  /** Schedules the microtask that runs `granted`. */
  wake: () => void;
  state: 'waiting' | 'granted' | 'done';
}

const nothingYet = (): void => {};

/**
 * A counting semaphore. While capacity is free it costs one entry of a set per holder; everything
 * else exists only while some holder waits.
 */
export class Semaphore implements Waitable {
  #capacity: number;
  readonly #waits: WaitGraph;
  readonly #onIdle: (() => void) | undefined;
  /** The holders that took a unit. */
  readonly #held = new SmallSet<Holder>();
  /** Descendants that use an ancestor's unit, each with the holder of that unit. */
  #riders: Map<Holder, Holder> | undefined;
  #queue: FairQueue<Waiter> | undefined;

  /** @param capacity Units; `Infinity` for no limit. */
  constructor(capacity: number, options?: SemaphoreOptions) {
    this.#capacity = capacity;
    this.#waits = options?.waits ?? createWaitGraph();
    this.#onIdle = options?.onIdle;
  }

  /** Units taken; at most the capacity at the time when they were taken. */
  get held(): number {
    return this.#held.size;
  }

  /** The holders that took a unit. */
  holders(): Iterable<Holder> {
    return this.#held.values();
  }

  /** Whether a holder that has no unit would get one at once. */
  get isFree(): boolean {
    return this.#held.size < this.#capacity;
  }

  /** Holders in the queue. */
  get waiting(): number {
    return this.#queue === undefined ? 0 : this.#queue.size;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Raising it wakes waiters. Lowering it takes no unit away. */
  set capacity(capacity: number) {
    this.#capacity = capacity;
    this.#grant();
  }

  /**
   * Takes a unit, or a place in the queue. A holder that has a unit already, or whose ancestor has
   * one, does not take another.
   * @param granted Runs once when the holder has its unit: in a microtask and in the async context
   * of this `acquire`, never inside `acquire` or `release`. Does not run if `acquire` returns
   * `true`. If it throws, the unit is given back.
   * @returns `true` if it holds a unit now. A ticket if it waits. `'deadlock'` if it would wait for
   * ever, because every holder that could give a unit back waits, through child calls, for what
   * this holder or its ancestors hold; then nothing was taken.
   */
  acquire(holder: Holder, granted: () => void): true | Ticket | 'deadlock' {
    const free = this.#held.size < this.#capacity;
    // Only a descendant can use a unit that another holder took.
    if (free && holder.parent === undefined) {
      this.#held.add(holder);
      return true;
    }
    if (this.#rides(holder)) return true;
    if (free) {
      this.#held.add(holder);
      return true;
    }
    startWait(this.#waits, holder, this);
    if (closesCycle(this.#waits, holder, this)) {
      endWait(this.#waits, holder);
      return 'deadlock';
    }
    return this.#enqueue(holder, granted);
  }

  /**
   * Gives the holder's unit back, to the next waiter in turn if there is one. Has no effect on a
   * holder without a unit. A unit that a descendant still uses passes on to that descendant.
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

  /** True if the unit stays taken, because the holder only used it or others still use it. */
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
    // Created here and not in `#grant`, so that `granted` runs in the async context of the waiter,
    // and not in that of the call that releases.
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
    endWait(this.#waits, waiter.holder);
    if (this.#onIdle !== undefined && this.waiting === 0 && this.#held.size === 0) this.#onIdle();
  }

  #grant(): void {
    while (this.#held.size < this.#capacity) {
      const waiter = this.#queue?.shift();
      if (waiter === undefined) return;
      endWait(this.#waits, waiter.holder);
      // Taken now, so that no other call can take the unit before the microtask runs.
      this.#held.add(waiter.holder);
      waiter.state = 'granted';
      waiter.wake();
    }
  }

  #tell(waiter: Waiter): void {
    if (waiter.state !== 'granted') return;
    waiter.state = 'done';
    // The holder released its unit before it was notified.
    if (!this.#held.has(waiter.holder)) return;
    try {
      waiter.granted();
    } catch {
      this.release(waiter.holder);
    }
  }
}
