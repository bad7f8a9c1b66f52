/**
 * Counts the messages that the host has read and has not confirmed yet. A sandbox that follows the
 * protocol waits for confirmations. One that does not must not be able to keep the host busy.
 */
import { confirmEvery, confirmSize, maxUnconfirmed, maxUnconfirmedSize } from './messages.ts';

/** The number of messages that the host has read, and their total size. */
export interface Confirmation {
  readonly count: number;
  readonly size: number;
}

export class Unconfirmed {
  #count = 0;
  #size = 0;

  /** Counts a message. Returns false if the sender should have waited before it. */
  add(text: string): boolean {
    this.#count++;
    this.#size += text.length;
    // A single message may have any size.
    return this.#count <= maxUnconfirmed && (this.#count === 1 || this.#size <= maxUnconfirmedSize);
  }

  /** Whether enough has arrived that the sender should get a confirmation. */
  get due(): boolean {
    return this.#count >= confirmEvery || this.#size > confirmSize;
  }

  /** Returns what has to be confirmed, and starts again at zero. */
  take(): Confirmation {
    const taken = { count: this.#count, size: this.#size };
    this.#count = 0;
    this.#size = 0;
    return taken;
  }
}
