/** A store and a bus that count what is asked of them, and that can be taken away. */

import { memoryBus } from '../../../src/surfaces/relay/memory/bus.ts';
import { memoryStore } from '../../../src/surfaces/relay/memory/store.ts';
import type { RelayBus } from '../../../src/surfaces/relay/ports/bus.ts';
import type { RelayStore } from '../../../src/surfaces/relay/ports/store.ts';
import type { StoreOp } from '../../../src/surfaces/relay/ports/store-ops.ts';

export interface WatchedStore {
  readonly store: RelayStore;
  /** Every operation rejects while it is true; those under way when it changes have happened. */
  away: boolean;
  /** Operations so far: `<name> <session>`. */
  readonly operations: string[];
  /**
   * Runs before the next operation of the name, once, and holds it up. An `apply` is an operation
   * of its own name and of each of its operations.
   */
  holdUp(name: keyof RelayStore, run: () => unknown): void;
  /** Runs after the next operation of the name, before what it gives is known. */
  holdBack(name: keyof RelayStore, run: () => unknown): void;
}

export function watchedStore(inner: RelayStore = memoryStore()): WatchedStore {
  const operations: string[] = [];
  const before = new Map<string, () => unknown>();
  const after = new Map<string, () => unknown>();
  const watched = { away: false };
  const namesOf = (name: string, args: readonly unknown[]): readonly string[] =>
    name === 'apply' ? [name, ...(args[1] as readonly StoreOp[]).map(({ op }) => op)] : [name];
  const hold = async (holds: Map<string, () => unknown>, names: readonly string[]) => {
    const name = names.find((one) => holds.has(one)) ?? '';
    const run = holds.get(name);
    holds.delete(name);
    await run?.();
  };
  const store = Object.fromEntries(
    Object.entries(inner).map(([name, operation]) => [
      name,
      async (...args: unknown[]) => {
        operations.push(`${name} ${String(args[0])}`);
        const names = namesOf(name, args);
        await hold(before, names);
        if (watched.away) throw new Error('The store is away.');
        const given: unknown = await (operation as (...given: unknown[]) => unknown)(...args);
        await hold(after, names);
        return given;
      },
    ]),
  ) as unknown as RelayStore;
  return Object.assign(watched, {
    store,
    operations,
    holdUp: (name: string, run: () => unknown) => void before.set(name, run),
    holdBack: (name: string, run: () => unknown) => void after.set(name, run),
  });
}

export interface WatchedBus {
  readonly bus: RelayBus;
  /** Loses every message while it is true. */
  deaf: boolean;
  /** Subscriptions that were not given up. */
  readonly listening: number;
  /** Says that messages may have been lost. */
  lost(): void;
}

export function watchedBus(): WatchedBus {
  const inner = memoryBus();
  const listeners = new Set<(message: string | undefined) => void>();
  const watched = {
    deaf: false,
    get listening() {
      return listeners.size;
    },
    lost() {
      for (const listener of [...listeners]) listener(undefined);
    },
    bus: {
      async publish(channel, message) {
        if (!watched.deaf) await inner.publish(channel, message);
      },
      async subscribe(channel, listener) {
        const stop = await inner.subscribe(channel, listener);
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
          stop();
        };
      },
    } satisfies RelayBus,
  };
  return watched;
}
