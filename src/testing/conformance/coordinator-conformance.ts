/**
 * The coordinator's contract as data: rules that any test runner can execute on any coordinator.
 */
import { readMembers } from '../../options.ts';
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

/** What {@link coordinatorConformance} may be told. */
export interface CoordinatorConformanceOptions {
  /**
   * What the coordinator does not offer is declared here as `false`; rules about it are then left
   * out. @default every feature is offered
   */
  readonly features?: Partial<Readonly<Record<CoordinatorFeature, boolean>>> | undefined;
}

/**
 * The rules a coordinator must keep, as data:
 * `for (const rule of coordinatorConformance(make)) test(rule.name, rule.run)`. `make` gives a
 * fresh, empty coordinator for each rule. A declared feature that is missing fails its rules;
 * nothing is skipped on its own.
 * @throws MisuseError for an unknown feature.
 *
 * @example
 * ```ts
 * import { coordinatorConformance, TestCoordinator } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put your coordinator in the place of `TestCoordinator`.
 * for (const rule of coordinatorConformance(() => new TestCoordinator())) test(rule.name, rule.run);
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
