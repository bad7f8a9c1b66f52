/** Checks the policies that a host passes to a registry or a session. */

import type { Policy } from '../../api/policy.ts';
import { array, checkOption, checkSpelling, kind, reading } from '../../values/options/index.ts';

/** @throws MisuseError for a policy without an id or a function `check`. */
export function checkPolicies(
  policies: readonly Policy<unknown>[],
  caller: string,
): readonly Policy<unknown>[] {
  return reading(caller, 'policies', () => {
    checkOption(caller, 'policies', policies, array<Policy<unknown>>());
    const copy = Object.freeze([...policies]);
    for (const [index, policy] of copy.entries()) {
      const name = `policies[${index}]`;
      if (typeof policy === 'object' && policy !== null)
        checkSpelling(`${caller}: \`${name}\``, policy, ['id', 'check']);
      checkOption(caller, name, policy, policyKind);
    }
    return copy;
  });
}

const policyKind = kind<Policy<unknown>>('an object with `id` and `check`', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { id, check } = value as Partial<Policy>;
  return typeof id === 'string' && id !== '' && typeof check === 'function';
});
