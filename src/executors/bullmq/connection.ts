/** Sends this package's own commands over the connections that BullMQ makes. */
import type { Writable } from 'node:stream';
import type { IRedisClient } from 'bullmq';
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';
import { type FleetScript, fleetScripts } from './scripts.ts';

/** Runs one of {@link fleetScripts} with its keys and arguments. */
export type RunScript = (
  script: FleetScript,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** Defines the scripts on a client, and returns the function that runs them. */
export function scriptsOn(client: IRedisClient): RunScript {
  for (const { name, keys, lua } of fleetScripts)
    client.defineCommand(name, { numberOfKeys: keys, lua });
  return (script, keys, args) => client.runCommand(script.name, [...keys, ...args]);
}

/**
 * Sends all commands of this turn of the event loop in one write. A command of this package is
 * often followed by one of BullMQ, and the write is the most expensive part of a command. This
 * works only with clients of ioredis, because other clients do not expose their stream.
 */
export function gatherWrites(client: IRedisClient): void {
  const { stream } = client as { readonly stream?: Partial<Writable> | null };
  if (typeof stream?.cork !== 'function' || typeof stream.uncork !== 'function') return;
  if (stream.writableCorked !== 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork?.());
}

/** Whether the client sends commands at once, instead of queueing them until it is connected. */
export function isLive({ status, isCluster }: IRedisClient): boolean {
  return status === 'ready' || (isCluster && status === 'connect');
}

// Loads the optional package `bullmq` synchronously, on first use.

/** The parts of `bullmq` that are used. */
export type Bullmq = Pick<
  typeof import('bullmq'),
  'Queue' | 'UnrecoverableError' | 'WaitingError' | 'Worker'
>;

/**
 * @param load loads a package
 * @throws MisuseError `missing_dependency` if it is not installed
 */
export function loadBullmq(load: (specifier: string) => unknown = requirePackage): Bullmq {
  try {
    return load('bullmq') as Bullmq;
  } catch (error) {
    throw packageFault('bullmq', 'carries the calls of a fleet', error);
  }
}
