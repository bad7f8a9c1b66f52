/** The profiles of a registry, beyond what its public face tells: all of them, and taking one away. */
import type { HostToolRegistry, Profile } from '../index.ts';
import { registryStateOf } from '../internal.ts';

/** Profiles as they were given, by id. */
export function profilesOf(registry: HostToolRegistry<never>): ReadonlyMap<string, Profile> {
  return new Map([...registryStateOf(registry).profiles].map(([id, { given }]) => [id, given]));
}

/** Takes profiles away: new sessions cannot choose them; a session that has one keeps it as it was. */
export function removeProfiles(registry: HostToolRegistry<never>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const state = registryStateOf(registry);
  for (const id of ids) state.profiles.delete(id);
  state.changed('profile');
}
