/** Messages within one process. */
import { ignoreRejection } from '../../values/maybe-promise.ts';

type Listener = (message: string | undefined) => void;

interface Subscription {
  readonly listener: Listener;
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

/** Carries messages to the listeners of a channel. */
export interface Messages {
  publish(channel: string, message: string): void;
  /** @returns stops listening; idempotent */
  listen(channel: string, listener: Listener): () => void;
}

/**
 * A message arrives in a microtask. By then the sender's synchronous work is done, so a listener
 * never interrupts it, and all listeners see the same order even if one of them sends. No input or
 * timer comes in between, so a message costs almost no time.
 */
export function createMessages(): Messages {
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
    publish(channel, message) {
      const to = channels.get(channel);
      if (to === undefined) return;
      if (queue.length === 0) queueMicrotask(deliver);
      queue.push({ message, to });
    },
    listen(channel, listener) {
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
