/** A connection of BullMQ, and the commands of ours that it takes. */
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

/** Whether commands go out at once. */
export function isLive({ status, isCluster }: IRedisClient): boolean {
  return status === 'ready' || (isCluster && status === 'connect');
}
