/**
 * A registry that judges calls like another one and runs none of them. Of the host's functions it
 * calls only `attributes`, since rules read their answers, and its gates if they are wanted. The
 * two share nothing that changes.
 */

import type { RegistryOptions } from '../../api/registry.ts';
import type { Rule } from '../../api/rule.ts';
import { takeOverRules } from '../rules/rule-layers.ts';
import { unusedCopies } from '../rules/rule-use.ts';
import { inertDefinition } from '../tool/definition.ts';
import { ToolEntry } from '../tool/tool-entry.ts';
import { RegistryState } from './registry-state.ts';

/** How a copy differs from its registry. */
export interface JudgingCopyOptions {
  /** Replaces the rules of the registry itself. @default its rules */
  readonly rules: readonly Rule[] | undefined;
  /** Options of parts, such as a store of its own. */
  readonly options?: RegistryOptions<never>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /**
   * Keeps policies, `check` and `requiresApproval`, which also decide. @default false
   */
  readonly hostGates?: boolean;
}

/**
 * Copies a registry as it is now, without its handlers and what it has counted, and without its
 * policies unless they are wanted.
 * @throws MisuseError `invalid_rule`.
 */
export function judgingCopy(
  registry: RegistryState,
  { rules, options, now, hostGates = false }: JudgingCopyOptions,
): RegistryState {
  const {
    spine,
    settings: { default: fallback, policyTimeoutMs, logger },
  } = registry;
  const policies = hostGates ? registry.settings.policies : [];
  const copy = new RegistryState(
    { ...options, default: fallback, policies, policyTimeoutMs, logger, now },
    spine,
    registry.parts,
  );
  takeOverRules(copy.rules, registry.rules, rules);
  for (const takeOver of copy.ports.copies) takeOver(registry, copy);
  copyTools(registry, copy, hostGates);
  for (const [id, { given, resolved }] of registry.profiles)
    copy.profiles.set(id, {
      given,
      resolved: Object.freeze({ ...resolved, rules: unusedCopies(resolved.rules) }),
    });
  return copy;
}

/** Copies all tools, whether enabled or not. */
function copyTools(
  { catalogue: { names } }: RegistryState,
  copy: RegistryState,
  hostGates: boolean,
): void {
  for (const { definition, owner, enabled } of names.all()) {
    const inert = new ToolEntry(inertDefinition(definition, hostGates), owner, copy.waiting.graph);
    inert.enabled = enabled;
    copy.catalogue.names.add(inert);
  }
}
