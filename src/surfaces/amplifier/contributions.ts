/** Contribution channels. Each is a named list of functions that contribute values. */
import type { FaultListener } from './coordinator-faults.ts';

/** Contributors by channel. */
export interface Contributions {
  /** Adds a contributor. Several may have the same name, and each of them is called. */
  register(channel: string, name: string, callback: () => unknown): void;
  /**
   * Returns the values of the channel's contributors, in the order of registration. Null, undefined
   * and failures are left out. An unknown channel is empty. Never rejects.
   */
  collect(channel: string): Promise<unknown[]>;
  /** The channels that have contributors, with the names of those. */
  channels(): Map<string, string[]>;
}

export function createContributions(onFault: FaultListener): Contributions {
  const byChannel = new Map<
    string,
    { readonly name: string; readonly callback: () => unknown }[]
  >();
  return {
    register(channel, name, callback) {
      const list = byChannel.get(channel);
      if (list === undefined) byChannel.set(channel, [{ name, callback }]);
      else list.push({ name, callback });
    },
    async collect(channel) {
      const collected: unknown[] = [];
      for (const { name, callback } of [...(byChannel.get(channel) ?? [])]) {
        try {
          const given: unknown = await callback();
          if (given !== null && given !== undefined) collected.push(given);
        } catch (error) {
          onFault({ where: 'contributor', name, error });
        }
      }
      return collected;
    },
    channels: () =>
      new Map([...byChannel].map(([channel, list]) => [channel, list.map(({ name }) => name)])),
  };
}
