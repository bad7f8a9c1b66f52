/**
 * The sandboxes of one executor. Some are kept ready beside those that have a call, so that a call
 * need not wait for one to start, not even right after another has died.
 */
import { messageOf } from '../../errors/index.ts';
import type { Stop } from '../../surface-port.ts';
import { Cell, type CellOptions } from './cell.ts';
import { lostFault, unavailableFault } from './fault.ts';
import { IdleCells } from './idle-cells.ts';

/** How many sandboxes there are, and how long they live. */
export interface PoolLimits {
  /** The most sandboxes, and so the most calls at once. Others wait. */
  readonly max: number;
  /** How many are kept ready beside those that have a call. */
  readonly spare: number;
  /** How long others are kept that have no call. */
  readonly idleMs: number;
  /** How many calls a sandbox runs before another takes its place. */
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

  /** Gives a sandbox that is ready now, if there is one. */
  ready(): Cell | undefined {
    const ready = this.#idle.take();
    if (ready === undefined) return undefined;
    this.#closed = false;
    void this.#grow();
    return ready;
  }

  /** Gives a sandbox. Rejects with the reason of the stop, or if no sandbox can be started. */
  take(stop: Stop): Promise<Cell> {
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
      // Ending them takes a moment. A call that comes in it gets a new one.
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

  /** Starts what is missing. */
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

  /** @returns whether it could be started */
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
      // One that dies without a call is replaced at the next call only, so that a module whose
      // sandboxes keep dying does not start them for ever.
      if (!wasIdle || this.#waiters.size > 0) void this.#grow();
      return;
    }
    // It could not be used at all. Each failed start ends one wait, so that calls do not start
    // sandboxes for ever, and spare ones wait for the next call.
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
