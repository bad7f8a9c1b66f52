/** Contribution channels: who adds what to a named list. */
import type { FaultListener } from './coordinator-faults.ts';

/** Contributors by channel. */
export interface Contributions {
  /** Names may repeat; each registration counts. */
  register(channel: string, name: string, callback: () => unknown): void;
  /**
   * What the channel's contributors give, in the order of registration. Null, undefined and failed
   * ones are left out; an unknown channel is empty. Never rejects.
   */
  collect(channel: string): Promise<unknown[]>;
  /** The channels that have contributors, with their names. */
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
