/**
 * Which tokens were answered in this process: a store that gives a record twice makes no call run
 * twice here.
 */

/** Remembers ids until they expire, and no longer. */
export class UsedTokens {
  readonly #expiries = new Map<string, number>();
  #sweepAt = 1_024;

  /** False when the id was used before. @param expiresAt @param now Epoch milliseconds. */
  use(id: string, expiresAt: number, now: number): boolean {
    if (this.#expiries.has(id)) return false;
    this.#expiries.set(id, expiresAt);
    if (this.#expiries.size >= this.#sweepAt) {
      for (const [other, expiry] of this.#expiries) if (expiry <= now) this.#expiries.delete(other);
      this.#sweepAt = Math.max(1_024, this.#expiries.size * 2);
    }
    return true;
  }
}
