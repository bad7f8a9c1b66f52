/** The profiles of a registry, beyond what its public face tells: all of them, and taking one away. */
import type { HostToolRegistry, Profile } from '../index.ts';
import { stateOf } from '../internal.ts';

/** The table of profiles, through a session that ends at once: sessions know their registry's state. */
function stateOfRegistry(registry: HostToolRegistry<never>): ReturnType<typeof stateOf>['registry'] {
  const session = (registry as unknown as HostToolRegistry).createSession({ sessionId: 'profiles' });
  const state = stateOf(session).registry;
  void session.close();
  return state;
}

/** Profiles as they were given, by id. */
export function profilesOf(registry: HostToolRegistry<never>): ReadonlyMap<string, Profile> {
  return new Map([...stateOfRegistry(registry).profiles].map(([id, { given }]) => [id, given]));
}

/** Takes profiles away: new sessions cannot choose them; a session that has one keeps it as it was. */
export function removeProfiles(registry: HostToolRegistry<never>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const state = stateOfRegistry(registry);
  for (const id of ids) state.profiles.delete(id);
  state.changed('profile');
}
