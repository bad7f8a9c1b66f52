/** Which profiles a profile extends, and the check that none extends itself through others. */

import type { Profile } from '../../api/profile.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import type { ResolvedProfile } from './profile.ts';

/** A profile as the host gave it, and with everything it extends merged in. */
export interface KnownProfile {
  readonly given: Profile;
  readonly resolved: ResolvedProfile;
}

/** The ids that a checked profile extends. */
export function parentsOf(profile: Profile): readonly string[] {
  const parents = Object.hasOwn(profile, 'extends') ? (profile.extends ?? []) : [];
  return typeof parents === 'string' ? [parents] : parents;
}

/**
 * Refuses a redefinition that would make a profile extend itself.
 * @throws MisuseError `invalid_option`, which names the parent that descends from the profile
 */
export function checkLineage(profile: Profile, known: ReadonlyMap<string, KnownProfile>): void {
  const seen = new Set<string>();
  const descends = (id: string): boolean => {
    if (id === profile.id) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    const given = known.get(id)?.given;
    return given !== undefined && parentsOf(given).some(descends);
  };
  const heir = parentsOf(profile).find(descends);
  if (heir !== undefined)
    throw new MisuseError(
      'invalid_option',
      `profile \`${profile.id}\`: expected \`extends\` to name no profile that extends it, ` +
        `got ${describe(heir)}.`,
    );
}
