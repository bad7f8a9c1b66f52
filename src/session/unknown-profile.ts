/** The error for a profile that the registry does not have. */
import { describe, MisuseError } from '../errors/index.ts';
import type { RegistryState } from '../state/registry-state.ts';

/** @param expected who expected what, as the beginning of the message */
export function unknownProfile(
  expected: string,
  profile: unknown,
  { profiles }: Pick<RegistryState, 'profiles'>,
): MisuseError {
  const got = describe(profile);
  const known = [...profiles.keys()].map((id) => `\`${id}\``).join(', ');
  return new MisuseError(
    'unknown_profile',
    known === ''
      ? `${expected} to name a profile, got ${got}. None is defined yet: call \`defineProfile\`, ` +
          'or load the file that has it.'
      : `${expected} to be one of ${known}, got ${got}.`,
  );
}
