/**
 * What loading needs of a registry beyond its public methods: reading all profiles, removing
 * profiles, and announcing several changes at once.
 */

import { registryStateOf } from '../../core/registry/state-of.ts';
import type { HostToolRegistry, Profile } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { behind } from './loaded-files.ts';

/** The profiles as given, by id. */
export function profilesOf(registry: HostToolRegistry<never>): ReadonlyMap<string, Profile> {
  return inspectRegistry(behind(registry)).profiles;
}

/** Removes profiles. New sessions cannot choose them; a session that has one keeps it unchanged. */
export function removeProfiles(registry: HostToolRegistry<never>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const state = registryStateOf(behind(registry));
  for (const id of ids) state.profiles.delete(id);
  state.changed('profile');
}

/**
 * Announces everything that `change` does to sessions and listeners at once, so that they never see
 * the registry half changed.
 */
export function together<T>(registry: HostToolRegistry<never>, change: () => T): T {
  return inspectRegistry(behind(registry)).change(change);
}
