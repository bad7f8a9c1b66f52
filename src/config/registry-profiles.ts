/**
 * What loading needs of a registry beyond its public face: all profiles, taking one away, and
 * telling of several changes at once.
 */
import type { HostToolRegistry, Profile } from '../index.ts';
import { registryStateOf } from '../surface-port.ts';
import { behind } from './loaded-files.ts';

/** Profiles as they were given, by id. */
export function profilesOf(registry: HostToolRegistry<never>): ReadonlyMap<string, Profile> {
  return new Map(
    [...registryStateOf(behind(registry)).profiles].map(([id, { given }]) => [id, given]),
  );
}

/**
 * Takes profiles away: new sessions cannot choose them; a session that has one keeps it as it was.
 */
export function removeProfiles(registry: HostToolRegistry<never>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const state = registryStateOf(behind(registry));
  for (const id of ids) state.profiles.delete(id);
  state.changed('profile');
}

/**
 * Sessions and listeners are told of all that `change` does in one go, and never see the registry
 * half changed.
 */
export function together<T>(registry: HostToolRegistry<never>, change: () => T): T {
  return registryStateOf(behind(registry)).together(change);
}
