/**
 * The coordinator's contract as data: rules that any test runner can execute on any coordinator.
 */
import { readMembers } from '../../../values/options/index.ts';
import { hookDataRules } from './coordinator-conformance-hook-data.ts';
import { hookRules } from './coordinator-conformance-hooks.ts';
import { mountRules } from './coordinator-conformance-mounts.ts';
import {
  type ConformanceRule,
  type ConformanceTarget,
  type CoordinatorFeature,
  coordinatorFeatures,
  type RuleBody,
} from './coordinator-conformance-rule.ts';
import { serviceRules } from './coordinator-conformance-services.ts';

/** Options of {@link coordinatorConformance}. */
export interface CoordinatorConformanceOptions {
  /**
   * Set a feature that the coordinator lacks to `false`, which leaves out the rules about it.
   * @default the coordinator has every feature
   */
  readonly features?: Partial<Readonly<Record<CoordinatorFeature, boolean>>> | undefined;
}

/**
 * Returns the rules that a coordinator must satisfy, as data:
 * `for (const rule of coordinatorConformance(make)) test(rule.name, rule.run)`. `make` returns a
 * fresh, empty coordinator for each rule. If a declared feature is missing, its rules fail; no rule
 * is skipped automatically.
 * @throws MisuseError for an unknown feature.
 *
 * @example
 * ```ts
 * import { coordinatorConformance, TestCoordinator } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put your coordinator in the place of `TestCoordinator`.
 * const rules = coordinatorConformance(() => new TestCoordinator());
 * for (const { name, run } of rules) test(name, run);
 * ```
 */
export function coordinatorConformance(
  make: () => ConformanceTarget | Promise<ConformanceTarget>,
  options?: CoordinatorConformanceOptions,
): ConformanceRule[] {
  const where = 'coordinatorConformance';
  const { features: given } = readMembers(where, options, ['features']);
  const features = readMembers(where, given, Object.keys(coordinatorFeatures), { noun: 'feature' });
  const bodies: readonly RuleBody[] = [
    ...mountRules,
    ...serviceRules,
    ...hookRules,
    ...hookDataRules,
  ];
  return bodies
    .filter(({ feature }) => features[feature] !== false)
    .map(({ name, feature, check }) => ({
      name,
      feature,
      run: async () => check(await make()),
    }));
}
