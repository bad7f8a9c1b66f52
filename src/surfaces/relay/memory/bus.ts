/** The bus within one process. */
import { ignoreRejection } from '../../../values/maybe-promise.ts';
import type { RelayBus } from '../ports/bus.ts';

interface Subscription {
  readonly listener: (message: string | undefined) => void;
  stopped: boolean;
}

interface Sent {
  readonly message: string;
  /** The listeners at the time when it was sent. */
  readonly to: readonly Subscription[];
}

function tell({ stopped, listener }: Subscription, message: string): void {
  if (stopped) return;
  try {
    // A listener that is an async function may reject as well.
    ignoreRejection(listener(message));
  } catch {
    // It must not affect other listeners, and there is no logger to report it to.
  }
}

/**
 * Carries wake-ups within this process. A message arrives in a microtask. By then the sender's
 * synchronous work is done, so a listener never interrupts it, and all listeners see the same order
 * even if one of them sends. No input or timer comes in between, so a message costs almost no time.
 *
 * @example
 * ```ts
 * import { createRelay, memoryBus, memoryStore } from 'host-tools/relay';
 *
 * // Two nodes in one process, for a test.
 * const [store, bus] = [memoryStore(), memoryBus()];
 * const nodes = [createRelay({ store, bus }), createRelay({ store, bus })];
 * ```
 */
export function memoryBus(): RelayBus {
  // Lists are replaced, never changed, so that a message goes to the listeners at the time when it
  // was sent.
  const channels = new Map<string, readonly Subscription[]>();
  let queue: Sent[] = [];
  const deliver = (): void => {
    // Messages that listeners send during the loop are appended to the queue.
    for (const { message, to } of queue) for (const subscription of to) tell(subscription, message);
    queue = [];
  };
  return {
    // In one process, a message with a document costs more than reading the document.
    maxMessageChars: 0,
    async publish(channel, message) {
      const to = channels.get(channel);
      if (to === undefined) return;
      if (queue.length === 0) queueMicrotask(deliver);
      queue.push({ message, to });
    },
    async subscribe(channel, listener) {
      const subscription: Subscription = { listener, stopped: false };
      channels.set(channel, [...(channels.get(channel) ?? []), subscription]);
      return () => {
        if (subscription.stopped) return;
        subscription.stopped = true;
        const left = (channels.get(channel) ?? []).filter((other) => other !== subscription);
        if (left.length === 0) channels.delete(channel);
        else channels.set(channel, left);
      };
    },
  };
}
