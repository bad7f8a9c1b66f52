/** The time that a program has. It stops while a person is asked. */

export class Clock {
  readonly #now: () => number;
  readonly #over: () => void;
  #leftMs: number;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;
  #begun = false;

  /** @param over Called when the time is up. */
  constructor(ms: number, now: () => number, over: () => void) {
    this.#leftMs = ms;
    this.#now = now;
    this.#over = over;
  }

  /** Milliseconds that are left. */
  get leftMs(): number {
    const spent = this.#since === undefined ? 0 : this.#now() - this.#since;
    return Math.max(0, this.#leftMs - spent);
  }

  begin(): void {
    this.#begun = true;
    this.#run();
  }

  /** Someone is asked, or is not any more. */
  asking(isAsking: boolean): void {
    this.#asked += isAsking ? 1 : -1;
    if (this.#asked > 0) this.#pause();
    else this.#run();
  }

  stop(): void {
    this.#pause();
    this.#begun = false;
  }

  #run(): void {
    if (!this.#begun || this.#asked > 0 || this.#since !== undefined) return;
    this.#since = this.#now();
    this.#timer = setTimeout(this.#over, this.#leftMs);
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#leftMs = this.leftMs;
    this.#since = undefined;
  }
}
