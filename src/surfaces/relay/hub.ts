/**
 * Wakes the listeners of sessions on this node. The store has one listener for each session that
 * this node watches.
 */
import type { Wake } from './ports/documents.ts';
import type { KeptStore } from './ports/kept-store.ts';

/**
 * Gets the wake-ups of a session. `undefined` means that wake-ups may have been lost, so the
 * listener must read everything again.
 */
export type WakeListener = (wake: Wake | undefined) => void;

/** Listens for wake-ups of sessions, and sends them. */
export interface Hub {
  /**
   * Calls the listener for each wake-up once the promise has resolved.
   * @param about the id of a call or request. The listener then needs only wake-ups that name this
   * id or no id, but it may get others too. @default it needs all wake-ups
   * @returns a function that stops the listener
   */
  watch(code: string, listener: WakeListener, about?: string): Promise<() => void>;
  /**
   * Sends a wake-up to all nodes. Never rejects: a lost wake-up does no harm, since nodes also read
   * the store at intervals.
   */
  wake(code: string, wake: Wake): void;
}

/** The listeners of a session. */
interface Channel {
  /** Listeners that need all wake-ups. */
  readonly general: Set<WakeListener>;
  /**
   * Listeners that need one subject, by the subject, so that concurrent calls do not wake each
   * other.
   */
  readonly special: Map<string, Set<WakeListener>>;
  readonly ready: Promise<() => void>;
}

/** @param report called with what listeners throw */
export function createHub(
  store: Pick<KeptStore, 'apply' | 'listen'>,
  report: (error: unknown) => void,
): Hub {
  const channels = new Map<string, Channel>();
  const open = (code: string): Channel => {
    const channel: Channel = {
      general: new Set(),
      special: new Map(),
      ready: store.listen({ session: code }, (message) =>
        tell(channel, message as Wake | undefined, report),
      ),
    };
    channels.set(code, channel);
    // The next `watch` subscribes again.
    channel.ready.catch(() => {
      if (channels.get(code) === channel) channels.delete(code);
    });
    return channel;
  };
  return {
    async watch(code, listener, about) {
      const channel = channels.get(code) ?? open(code);
      const { general, special } = channel;
      // A function of its own for each watch, so that one listener can be added twice.
      const own: WakeListener = (wake) => listener(wake);
      const subject = about === undefined ? undefined : firstWord(about, 0);
      const listeners = subject === undefined ? general : (special.get(subject) ?? new Set());
      if (subject !== undefined) special.set(subject, listeners);
      listeners.add(own);
      const stop = (): void => {
        listeners.delete(own);
        if (subject !== undefined && listeners.size === 0 && special.get(subject) === listeners)
          special.delete(subject);
        if (general.size + special.size > 0 || channels.get(code) !== channel) return;
        channels.delete(code);
        channel.ready.then((unsubscribe) => unsubscribe()).catch(report);
      };
      try {
        await channel.ready;
      } catch (error) {
        stop();
        throw error;
      }
      return stop;
    },
    wake(code, wake) {
      // The store has reported a failure already.
      store.apply({ session: code }, [{ op: 'publish', message: wake }]).catch(() => {});
    },
  };
}

function tell(
  { general, special }: Pick<Channel, 'general' | 'special'>,
  wake: Wake | undefined,
  report: (error: unknown) => void,
): void {
  notifyAll(general, wake, report);
  if (special.size === 0) return;
  const colon = wake === undefined ? -1 : wake.indexOf(':');
  if (wake === undefined || colon === -1)
    for (const listeners of [...special.values()]) notifyAll(listeners, wake, report);
  else notifyAll(special.get(firstWord(wake, colon + 1)) ?? noListeners, wake, report);
}

const noListeners: ReadonlySet<WakeListener> = new Set();

function notifyAll(
  listeners: ReadonlySet<WakeListener>,
  wake: Wake | undefined,
  report: (error: unknown) => void,
): void {
  for (const listener of [...listeners]) {
    // A listener may stop another one during the loop. A listener that throws must not affect the
    // others.
    try {
      if (listeners.has(listener)) listener(wake);
    } catch (error) {
      report(error);
    }
  }
}

/**
 * Gets the text up to the next space, or to the end. So an id that has spaces is found by its first
 * word.
 */
function firstWord(text: string, from: number): string {
  const end = text.indexOf(' ', from);
  return text.slice(from, end === -1 ? undefined : end);
}
