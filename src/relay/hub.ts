/**
 * Wakes of sessions on this node: one subscription of the bus for each session that anybody here
 * looks at.
 */
import type { RelayBus } from './ports/bus.ts';
import type { Wake } from './ports/documents.ts';

/** Listens to sessions and wakes them. */
export interface Hub {
  /**
   * From when it resolves, the listener is told of each wake; undefined: look at everything.
   * @returns stops listening
   */
  watch(code: string, listener: (wake: Wake | undefined) => void): Promise<() => void>;
  /**
   * Tells all nodes. Never rejects: a wake that is lost is made good by whoever looks at the store
   * now and then.
   */
  wake(code: string, wake: Wake): void;
}

interface Channel {
  readonly listeners: Set<(wake: Wake | undefined) => void>;
  readonly ready: Promise<() => void>;
}

/** @param report is told of failures of the bus, and of listeners that throw */
export function createHub(bus: RelayBus, report: (error: unknown) => void): Hub {
  const channels = new Map<string, Channel>();
  const open = (code: string): Channel => {
    const listeners = new Set<(wake: Wake | undefined) => void>();
    const tell = (message: string | undefined): void => {
      for (const listener of [...listeners]) {
        // One that another has stopped meanwhile is told nothing more; one that throws is no matter
        // of the others.
        try {
          if (listeners.has(listener)) listener(message as Wake | undefined);
        } catch (error) {
          report(error);
        }
      }
    };
    const channel: Channel = { listeners, ready: bus.subscribe(code, tell) };
    channels.set(code, channel);
    // Tried again by whoever comes next.
    channel.ready.catch(() => {
      if (channels.get(code) === channel) channels.delete(code);
    });
    return channel;
  };
  return {
    async watch(code, listener) {
      const channel = channels.get(code) ?? open(code);
      // Of its own, also where one function listens twice.
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
