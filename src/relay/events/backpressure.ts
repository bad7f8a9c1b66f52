/** How much may wait for a client that reads slowly, and the wait for room. */

/**
 * Most bytes that wait for a client beyond what its connection has taken. One larger event passes
 * where nothing waits.
 */
export const bufferBytes = 1_048_576;

/** Bytes below which there is room for who has much to send. */
export const roomyBytes = bufferBytes / 2;

/**
 * Milliseconds after which nobody waits for room any longer: what comes next is sent, and a client
 * that does not read is dropped.
 */
const patienceMs = 5_000;

/** Why a stream was dropped. */
export const tooSlow = 'The client reads too slowly: more than 1 MB was waiting for it.';

/** A wait that ends by `release`, or by patience. */
export interface Backpressure {
  wait(): Promise<void>;
  release(): void;
}

export function createBackpressure(): Backpressure {
  let waiting: Promise<void> | undefined;
  let release = (): void => {};
  return {
    wait() {
      waiting ??= new Promise((resolve) => {
        const timer = setTimeout(() => release(), patienceMs);
        release = () => {
          clearTimeout(timer);
          waiting = undefined;
          release = () => {};
          resolve();
        };
      });
      return waiting;
    },
    release: () => release(),
  };
}
