/**
 * The sandboxes of one executor. Some are kept ready in addition to those that have a call. So a
 * call does not have to wait for a sandbox to start, even right after another one has died.
 */

import type { RunningCall } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import { Cell, type CellOptions } from './cell.ts';
import { lostFault, unavailableFault } from './fault.ts';
import { IdleCells } from './idle-cells.ts';

/** How many sandboxes there are, and how long they live. */
export interface PoolLimits {
  /** The most sandboxes, and so the most calls that run at once. Further calls wait. */
  readonly max: number;
  /** The number of sandboxes that are kept ready in addition to those that have a call. */
  readonly spare: number;
  /** Milliseconds after which any further sandbox without a call is ended. */
  readonly idleMs: number;
  /** The number of calls after which a sandbox is replaced. */
  readonly calls: number;
}

interface Waiter {
  readonly give: (cell: Cell) => void;
  readonly refuse: (error: unknown) => void;
}

export class Pool {
  readonly #limits: PoolLimits;
  readonly #options: CellOptions;
  readonly #runnerText: () => Promise<string>;
  readonly #cells = new Set<Cell>();
  readonly #starting = new Set<Cell>();
  readonly #idle = new IdleCells((cell) => {
    if (this.#waiters.size > 0 && this.#idle.remove(cell)) this.#offer(cell);
  });
  readonly #waiters = new Set<Waiter>();
  #runner: string | undefined;
  #loading: Promise<void> | undefined;
  #closed = false;

  constructor(limits: PoolLimits, options: CellOptions, runnerText: () => Promise<string>) {
    this.#limits = limits;
    this.#options = options;
    this.#runnerText = runnerText;
  }

  /** Returns a sandbox that is ready now, or undefined. */
  ready(): Cell | undefined {
    const ready = this.#idle.take();
    if (ready === undefined) return undefined;
    this.#closed = false;
    void this.#grow();
    return ready;
  }

  /**
   * Resolves to a sandbox once one is ready. Rejects if none can be started, and with the reason of
   * `stop` if that comes first.
   */
  take(stop: RunningCall): Promise<Cell> {
    const ready = this.ready();
    if (ready !== undefined) return Promise.resolve(ready);
    this.#closed = false;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        stop.unwatch(stopped);
        if (this.#waiters.size === 0) for (const cell of this.#starting) cell.awaited(false);
      };
      const stopped = (): void => {
        leave();
        reject(stop.reason);
      };
      const waiter: Waiter = {
        give: (cell) => {
          leave();
          resolve(cell);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      if (stop.stopped) return reject(stop.reason);
      stop.watch(stopped);
      this.#waiters.add(waiter);
      for (const cell of this.#starting) cell.awaited(true);
      void this.#grow();
    });
  }

  /** Takes back a sandbox whose call has ended. */
  release(cell: Cell): void {
    if (cell.dead) return;
    if (cell.calls >= this.#limits.calls) cell.kill('sandbox_ended', 'has run its calls');
    else this.#offer(cell);
  }

  /** Ends all sandboxes, also those that have a call. The next call starts new ones. */
  close(): void {
    this.#closed = true;
    const fault = lostFault({ reason: 'sandbox_ended', text: 'was closed' });
    for (const waiter of [...this.#waiters]) waiter.refuse(fault);
    for (const cell of this.#cells) {
      // They take a moment to end. A call that comes in that moment must get a new sandbox.
      this.#starting.delete(cell);
      this.#idle.remove(cell);
      cell.kill('sandbox_ended', 'was closed');
    }
  }

  #offer(cell: Cell): void {
    const [waiter] = this.#waiters;
    if (waiter !== undefined) {
      waiter.give(cell);
      void this.#grow();
      return;
    }
    const extra = this.#idle.size >= this.#limits.spare;
    this.#idle.add(cell, extra ? this.#limits.idleMs : undefined);
  }

  /** Starts as many sandboxes as are missing. */
  async #grow(): Promise<void> {
    if (this.#closed) return undefined;
    if (this.#runner === undefined) {
      this.#loading ??= this.#load();
      return this.#loading;
    }
    const { max, spare } = this.#limits;
    const wanted = (): number => this.#waiters.size + spare - this.#idle.size - this.#starting.size;
    while (wanted() > 0 && this.#cells.size < max) if (!this.#start(this.#runner)) return undefined;
    return undefined;
  }

  async #load(): Promise<void> {
    try {
      this.#runner = await this.#runnerText();
    } catch (error) {
      this.#loading = undefined;
      return this.#refuseAll(unavailable(error));
    }
    return this.#grow();
  }

  /** Returns whether a sandbox could be started. */
  #start(runner: string): boolean {
    let cell: Cell;
    try {
      cell = new Cell(runner, this.#options, {
        ready: (one) => {
          this.#starting.delete(one);
          this.#offer(one);
        },
        gone: (one, fault) => this.#gone(one, fault),
      });
    } catch (error) {
      this.#refuseAll(unavailable(error));
      return false;
    }
    this.#cells.add(cell);
    this.#starting.add(cell);
    cell.awaited(this.#waiters.size > 0);
    return true;
  }

  #gone(cell: Cell, fault: Error | undefined): void {
    this.#cells.delete(cell);
    const wasIdle = this.#idle.remove(cell);
    if (!this.#starting.delete(cell)) {
      // A sandbox that dies without a call is replaced only at the next call. Otherwise a module
      // whose sandboxes keep dying would have them started again and again.
      if (!wasIdle || this.#waiters.size > 0) void this.#grow();
      return;
    }
    // The sandbox died before it was ready. Each failed start ends the wait of one call, so that a
    // waiting call does not have sandboxes started again and again. Missing spare ones are started
    // at the next call.
    const [waiter] = this.#waiters;
    waiter?.refuse(fault);
    if (this.#waiters.size > this.#starting.size) void this.#grow();
  }

  #refuseAll(fault: Error): void {
    for (const waiter of [...this.#waiters]) waiter.refuse(fault);
  }
}

function unavailable(error: unknown): Error {
  const known = (error as { code?: unknown } | null)?.code === 'sandbox_unavailable';
  if (known) return error as Error;
  const message = `The tool's sandbox could not be started: ${messageOf(error)}`;
  return unavailableFault('sandbox_not_started', message, error);
}
