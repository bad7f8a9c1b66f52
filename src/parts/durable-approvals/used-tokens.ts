/**
 * The tokens that were answered in this process. Even a store that returns a record twice cannot
 * make a call run twice here.
 */

/** Remembers ids until they expire. */
export class UsedTokens {
  readonly #expiries = new Map<string, number>();
  #sweepAt = 1_024;

  /** False if the id was used before. @param expiresAt @param now Epoch milliseconds. */
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
