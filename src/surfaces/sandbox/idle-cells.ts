/**
 * The sandboxes that have no call. Code that a call has left behind may loop in one of them, so
 * they are asked for a sign of life soon after their call, and every few seconds after that. One
 * that has not answered yet gets no call, and one that does not answer is ended.
 */
import type { Cell } from './cell.ts';

/** Within this time after its last call, a sandbox gets the next one without being asked. */
const restMs = 25;
/** How long until a sandbox that has answered is asked again. */
const againMs = 5_000;

interface Rest {
  /** After how long it is ended. Infinity for spare ones. */
  readonly endMs: number;
  /** When that is, once it has rested. */
  endAt: number;
  /** It has been here since the last round. */
  rested: boolean;
  /** It was asked and has not answered yet. */
  asked: boolean;
  /** It has answered since its last call. */
  answered: boolean;
}

export class IdleCells {
  readonly #rests = new Map<Cell, Rest>();
  readonly #well: (cell: Cell) => void;
  #owing = 0;
  #round: NodeJS.Timeout | undefined;
  #isSoon = false;
  #againAt = 0;

  /** @param well Called when one has answered. */
  constructor(well: (cell: Cell) => void) {
    this.#well = well;
  }

  /** How many can be taken. */
  get size(): number {
    return this.#rests.size - this.#owing;
  }

  /** @param endMs After how long it is ended, if it is not to be kept. */
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

  /** Takes the one that had a call last, since its memory and its thread are likely to be warm. */
  take(): Cell | undefined {
    let last: Cell | undefined;
    for (const [cell, { asked }] of this.#rests) if (!asked && !cell.dead) last = cell;
    if (last !== undefined) this.remove(last);
    return last;
  }

  /** @returns whether it was here */
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
        // Its time begins here, so that sandboxes that get the next call at once read no clock.
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
