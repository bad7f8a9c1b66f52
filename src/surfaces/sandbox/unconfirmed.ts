/**
 * Counts the messages that a host has read and has not confirmed. Honest senders wait for the host.
 * One that does not wait must not keep the host busy.
 */
import { confirmEvery, confirmSize, maxUnconfirmed, maxUnconfirmedSize } from './messages.ts';

/** How many messages the host has read, and their size together. */
export interface Confirmation {
  readonly count: number;
  readonly size: number;
}

export class Unconfirmed {
  #count = 0;
  #size = 0;

  /** @returns whether the sender may have sent this message too */
  add(text: string): boolean {
    this.#count++;
    this.#size += text.length;
    // One message may be of any size.
    return this.#count <= maxUnconfirmed && (this.#count === 1 || this.#size <= maxUnconfirmedSize);
  }

  /** Whether so much has come that the sender should get a confirmation. */
  get due(): boolean {
    return this.#count >= confirmEvery || this.#size > confirmSize;
  }

  /** Gives what is to be confirmed, and counts from zero. */
  take(): Confirmation {
    const taken = { count: this.#count, size: this.#size };
    this.#count = 0;
    this.#size = 0;
    return taken;
  }
}
