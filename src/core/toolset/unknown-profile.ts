/** The error for a profile that does not exist, in sessions and in workflows. */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { didYouMean, nearestNames } from '../../values/text/names.ts';

/**
 * @param expected who expected what, as the beginning of the message
 * @param known the ids that exist, in the order in which the message lists them
 * @param remedy what to do if there are none
 */
export function unknownProfile(
  expected: string,
  profile: unknown,
  known: readonly string[],
  remedy = 'call `defineProfile`, or load the file that has it',
): MisuseError {
  const got = describe(profile);
  if (known.length === 0)
    return new MisuseError(
      'unknown_profile',
      `${expected} to name a profile, got ${got}. None is defined yet: ${remedy}.`,
    );
  const near = typeof profile === 'string' ? didYouMean(nearestNames(profile, known)) : '';
  const listed = known.map((id) => `\`${id}\``).join(', ');
  return new MisuseError(
    'unknown_profile',
    `${expected} to be one of ${listed}, got ${got}.${near}`,
  );
}
