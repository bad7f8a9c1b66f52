/** A connection of BullMQ, and the commands of ours that it takes. */
import type { Writable } from 'node:stream';
import type { IRedisClient } from 'bullmq';
import { type FleetScript, fleetScripts } from './scripts.ts';

/** Runs one of {@link fleetScripts}: first its keys, then its arguments. */
export type RunScript = (
  script: FleetScript,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** Defines the scripts on a client. */
export function scriptsOn(client: IRedisClient): RunScript {
  for (const { name, keys, lua } of fleetScripts)
    client.defineCommand(name, { numberOfKeys: keys, lua });
  return (script, keys, args) => client.runCommand(script.name, [...keys, ...args]);
}

/**
 * Lets what is sent until the end of this turn leave in one piece: a command of ours may be followed
 * by one of BullMQ, and a write takes longer than anything else about a command. Only clients of
 * ioredis show their stream. Others write as they like.
 */
export function gatherWrites(client: IRedisClient): void {
  const { stream } = client as { readonly stream?: Partial<Writable> | null };
  if (typeof stream?.cork !== 'function' || typeof stream.uncork !== 'function') return;
  if (stream.writableCorked !== 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork?.());
}

/** Whether commands go out at once. */
export function isLive({ status, isCluster }: IRedisClient): boolean {
  return status === 'ready' || (isCluster && status === 'connect');
}
