/** Reads the options of a registry. */

import type { Gate } from '../../api/gate.ts';
import type { Policy } from '../../api/policy.ts';
import type { Logger, RegistryOptions } from '../../api/registry.ts';
import type { Rule } from '../../api/rule.ts';
import {
  anything,
  duration,
  fn,
  type OptionValues,
  oneOf,
  type TableOf,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import type { PartSet } from '../part.ts';
import { checkPolicies } from '../rules/policies.ts';

const where = 'HostToolRegistry';
const none: readonly never[] = Object.freeze([]);
/** What a registry takes without parts. */
export const registryTable = {
  rules: withDefault(anything<readonly Rule[]>(), none),
  policies: withDefault(anything<readonly Policy<unknown>[]>(), none),
  gates: anything<readonly Gate<unknown>[]>(),
  default: withDefault(oneOf('allow', 'ask', 'deny'), 'allow'),
  defaultTimeoutMs: withDefault(duration, 120_000),
  policyTimeoutMs: withDefault(duration, 5_000),
  graceMs: withDefault(duration, 30_000),
  locks: withDefault(oneOf('session', 'registry'), 'session'),
  now: fn<() => number>(),
  newId: fn<() => string>(),
  logger: withMethods<Logger>(['warn', 'error']),
} satisfies Partial<TableOf<RegistryOptions>>;

type ReadRegistryOptions = OptionValues<typeof registryTable>;

/** @throws MisuseError `invalid_option`, which names the option. */
export function readRegistryOptions(
  options: RegistryOptions<never>,
  parts: PartSet,
): ReadRegistryOptions {
  const given = parts.readOptions('registry', where, options, registryTable);
  return {
    ...given,
    policies: checkPolicies(given.policies, where),
  };
}
