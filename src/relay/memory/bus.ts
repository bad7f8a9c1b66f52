/** The bus within this process. */
import { ignoreRejection } from '../../maybe-promise.ts';
import type { RelayBus } from '../ports/bus.ts';

interface Subscription {
  readonly listener: (message: string | undefined) => void;
  stopped: boolean;
}

interface Sent {
  readonly message: string;
  /** Who listened when it was sent. */
  readonly to: readonly Subscription[];
}

function tell({ stopped, listener }: Subscription, message: string): void {
  if (stopped) return;
  try {
    // A listener that is an async function may reject as well.
    ignoreRejection(listener(message));
  } catch {
    // Nobody else is to suffer from it, and there is nobody to tell.
  }
}

/**
 * Wakes within this process. A message arrives in a microtask: after what the sender does at once,
 * so that a listener never runs in the middle of a sender's work and all listeners see one order
 * even where one of them sends, and before any input or timer, so that it costs next to nothing.
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
  // Lists are replaced, never changed: a message that is under way goes to those who listened when
  // it was sent.
  const channels = new Map<string, readonly Subscription[]>();
  let queue: Sent[] = [];
  const deliver = (): void => {
    // What listeners send meanwhile comes last.
    for (const { message, to } of queue) for (const subscription of to) tell(subscription, message);
    queue = [];
  };
  return {
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
