/**
 * Tells the agents of this node whether an application is connected. All streams of a session share
 * one lookup of its lease.
 */
import type { Hub } from '../hub.ts';
import { keys } from '../ports/documents.ts';
import { documentsOf } from '../ports/kept-store.ts';
import type { RelaySettings } from '../settings.ts';

/** Tells whether applications are connected. */
export interface Presence {
  /**
   * Calls the listener once it is known whether an application is connected, and then at each
   * change.
   * @returns a function that stops the listener; idempotent
   */
  watch(code: string, listener: (connected: boolean) => void): Promise<() => void>;
}

/** The state of one watched session. */
interface Watched {
  readonly code: string;
  readonly listeners: Set<(connected: boolean) => void>;
  /** Undefined until the first lookup has succeeded. */
  connected: boolean | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** True while the lease is looked up. Lookups do not overlap. */
  looking: boolean;
  again: boolean;
  stop: (() => void) | undefined;
  /** Resolves once the wake-ups of the session are listened for. All listeners wait for it. */
  readonly ready: Promise<void>;
}

/** The parts of a presence. */
interface World {
  readonly settings: Pick<RelaySettings, 'store' | 'leaseMs' | 'heartbeatMs'>;
  readonly watched: Map<string, Watched>;
}

/** Makes the presence of a node. */
export function createPresence(settings: World['settings'], hub: Hub): Presence {
  const world: World = { settings, watched: new Map() };
  return {
    async watch(code, listener) {
      const one = world.watched.get(code) ?? begin(world, hub, code);
      // A function of its own for each watch, so that one listener can be added twice.
      const own = (connected: boolean): void => listener(connected);
      one.listeners.add(own);
      const stop = (): void => {
        one.listeners.delete(own);
        if (one.listeners.size === 0) end(world, one);
      };
      if (one.connected !== undefined) own(one.connected);
      try {
        await one.ready;
      } catch (error) {
        stop();
        throw error;
      }
      return stop;
    },
  };
}

function begin(world: World, hub: Hub, code: string): Watched {
  const one: Watched = {
    code,
    listeners: new Set(),
    connected: undefined,
    timer: undefined,
    looking: false,
    again: false,
    stop: undefined,
    ready: hub
      .watch(code, (wake) => {
        // Wake-ups may have been lost, or the lease has another holder or none.
        if (wake === 'lease' || wake === undefined) look(world, one);
      })
      .then((stop) => {
        if (world.watched.get(code) !== one) return stop();
        one.stop = stop;
        look(world, one);
      }),
  };
  world.watched.set(code, one);
  return one;
}

function end({ watched }: World, one: Watched): void {
  if (watched.get(one.code) === one) watched.delete(one.code);
  clearTimeout(one.timer);
  one.stop?.();
  one.stop = undefined;
}

/** Looks up the lease now, and again when it would expire. */
function look(world: World, one: Watched): void {
  one.again = true;
  if (one.looking) return;
  one.looking = true;
  const { leaseMs } = world.settings;
  void run(world, one)
    // While the store cannot be reached, the last known state counts.
    .catch(() => {
      one.again = false;
      return leaseMs;
    })
    .then((nextMs) => {
      one.looking = false;
      clearTimeout(one.timer);
      if (one.listeners.size === 0) return;
      if (one.again) return look(world, one);
      one.timer = setTimeout(() => look(world, one), nextMs);
      one.timer.unref?.();
    });
}

/** @returns the milliseconds until the next lookup */
async function run(
  { settings: { store, leaseMs, heartbeatMs } }: World,
  one: Watched,
): Promise<number> {
  let nextMs = heartbeatMs;
  while (one.again && one.listeners.size > 0) {
    one.again = false;
    const [holder] = await documentsOf(store, one.code, [keys.applicationLease]);
    // A lease that ends without a wake-up belongs to a node that has died, or to a poll.
    nextMs = holder === undefined ? heartbeatMs : Math.min(leaseMs, (holder.remainingMs ?? 0) + 1);
    const connected = holder !== undefined;
    if (connected === one.connected) continue;
    one.connected = connected;
    for (const listener of [...one.listeners]) listener(connected);
  }
  return nextMs;
}
