/**
 * The sandboxes that have no call. Code that an earlier call has left behind may loop in one of
 * them. So each gets a `ping` soon after its call, and every few seconds after that. Until it has
 * answered, it gets no call. If it does not answer, it is killed.
 */
import type { Cell } from './cell.ts';

/** Milliseconds after a call in which a sandbox can get the next one without a `ping`. */
const restMs = 25;
/** Milliseconds until a sandbox that has answered gets the next `ping`. */
const againMs = 5_000;

interface Rest {
  /** Milliseconds without a call after which it is ended. Infinity if it is kept ready. */
  readonly endMs: number;
  /** The time when it is ended. Infinity until the first round that finds it here. */
  endAt: number;
  /** Whether a round has found it here. */
  rested: boolean;
  /** Whether it has a `ping` that it has not answered yet. */
  asked: boolean;
  /** Whether it has answered a `ping` since its last call. */
  answered: boolean;
}

export class IdleCells {
  readonly #rests = new Map<Cell, Rest>();
  readonly #well: (cell: Cell) => void;
  /** The number of sandboxes that have not answered their `ping` yet. */
  #owing = 0;
  #round: NodeJS.Timeout | undefined;
  #isSoon = false;
  #againAt = 0;

  /** @param well called when a sandbox has answered its `ping` */
  constructor(well: (cell: Cell) => void) {
    this.#well = well;
  }

  /** The number of sandboxes that can get a call now. */
  get size(): number {
    return this.#rests.size - this.#owing;
  }

  /** @param endMs milliseconds without a call after which it is ended. @default never */
  add(cell: Cell, endMs = Infinity): void {
    this.#rests.set(cell, {
      endMs,
      endAt: Infinity,
      rested: false,
      asked: false,
      answered: false,
    });
    if (!this.#isSoon) this.#plan(restMs);
  }

  /**
   * Removes and returns the sandbox that had a call last, because its memory and its thread are
   * likely to be warm.
   */
  take(): Cell | undefined {
    let last: Cell | undefined;
    for (const [cell, { asked }] of this.#rests) if (!asked && !cell.dead) last = cell;
    if (last !== undefined) this.remove(last);
    return last;
  }

  /** Returns whether the sandbox was here. */
  remove(cell: Cell): boolean {
    const rest = this.#rests.get(cell);
    if (rest === undefined) return false;
    if (rest.asked) this.#owing--;
    return this.#rests.delete(cell);
  }

  #plan(milliseconds: number): void {
    clearTimeout(this.#round);
    this.#isSoon = milliseconds <= restMs;
    this.#round = setTimeout(() => this.#look(), milliseconds);
    this.#round.unref();
  }

  #look(): void {
    const now = performance.now();
    const again = now >= this.#againAt;
    if (again) this.#againAt = now + againMs;
    let next = againMs;
    for (const [cell, rest] of this.#rests) {
      if (!rest.rested) {
        // Its time is counted from here, so that a sandbox that gets its next call at once costs no
        // look at the clock.
        rest.rested = true;
        rest.endAt = now + rest.endMs;
        next = Math.min(next, restMs);
      } else if (now >= rest.endAt) {
        rest.endAt = Infinity;
        cell.kill('sandbox_ended', 'had nothing to do');
      } else if (!rest.asked && (again || !rest.answered)) this.#ask(cell, rest);
      next = Math.min(next, Math.ceil(rest.endAt - now));
    }
    if (this.#rests.size > 0) this.#plan(next);
    else this.#isSoon = false;
  }

  #ask(cell: Cell, rest: Rest): void {
    rest.asked = true;
    this.#owing++;
    cell.ask(() => {
      if (!rest.asked || this.#rests.get(cell) !== rest) return;
      rest.asked = false;
      rest.answered = true;
      this.#owing--;
      this.#well(cell);
    });
  }
}
