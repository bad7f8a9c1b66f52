/**
 * Wake-ups of sessions on this node. The bus has one subscription for each session that this node
 * watches.
 */
import type { RelayBus } from './ports/bus.ts';
import type { Wake } from './ports/documents.ts';

/** Listens to sessions and wakes them. */
export interface Hub {
  /**
   * Calls the listener for each wake-up once the promise has resolved. With undefined, the listener
   * has to read everything again.
   * @returns a function that stops the listener
   */
  watch(code: string, listener: (wake: Wake | undefined) => void): Promise<() => void>;
  /**
   * Sends a wake-up to all nodes. Never rejects: a lost wake-up does no harm, since nodes also read
   * the store at intervals.
   */
  wake(code: string, wake: Wake): void;
}

interface Channel {
  readonly listeners: Set<(wake: Wake | undefined) => void>;
  readonly ready: Promise<() => void>;
}

/** @param report called with failures of the bus and with what listeners throw */
export function createHub(bus: RelayBus, report: (error: unknown) => void): Hub {
  const channels = new Map<string, Channel>();
  const open = (code: string): Channel => {
    const listeners = new Set<(wake: Wake | undefined) => void>();
    const tell = (message: string | undefined): void => {
      for (const listener of [...listeners]) {
        // A listener may stop another one during the loop. A listener that throws must not affect
        // the others.
        try {
          if (listeners.has(listener)) listener(message as Wake | undefined);
        } catch (error) {
          report(error);
        }
      }
    };
    const channel: Channel = { listeners, ready: bus.subscribe(code, tell) };
    channels.set(code, channel);
    // The next `watch` subscribes again.
    channel.ready.catch(() => {
      if (channels.get(code) === channel) channels.delete(code);
    });
    return channel;
  };
  return {
    async watch(code, listener) {
      const channel = channels.get(code) ?? open(code);
      // A function of its own for each watch, so that one listener can be added twice.
      const own = (wake: Wake | undefined): void => listener(wake);
      channel.listeners.add(own);
      const stop = (): void => {
        channel.listeners.delete(own);
        if (channel.listeners.size > 0 || channels.get(code) !== channel) return;
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
      bus.publish(code, wake).catch(report);
    },
  };
}
