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

/**
 * Denies the call as `policy_error` with its own reason. Any other exception of a policy gives
 * `policy_threw`. It is logged like any exception, so the message may contain everything that the
 * host needs to know. The model sees only the reason.
 *
 * @example
 * ```ts
 * import type { Policy } from 'host-tools';
 * import { PolicyFault } from 'host-tools/extend';
 *
 * declare function askEngine(tool: string): Promise<'allow' | 'deny'>;
 * const policy: Policy = {
 *   id: 'engine',
 *   async check({ tool }) {
 *     const effect = await askEngine(tool.name).catch((cause: unknown) => {
 *       throw new PolicyFault('engine_unreachable', 'The engine does not answer.', { cause });
 *     });
 *     return effect === 'allow' ? undefined : { effect: 'deny', reason: 'engine' };
 *   },
 * };
 * ```
 */
export class PolicyFault extends Error {
  /** The name of the class. */
  override readonly name = 'PolicyFault';
  // Private, so that no error of a host can choose a reason by accident.
  readonly #reason: string;

  /** @param reason Matches `^[a-z][a-z0-9_]*$`. */
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.#reason = reason;
  }

  /** The reason of the thrown value; undefined for anything but a fault of this class. */
  static reasonOf(thrown: unknown): string | undefined {
    return typeof thrown === 'object' && thrown !== null && #reason in thrown
      ? thrown.#reason
      : undefined;
  }
}
