/** The parts of a rule of the coordinator's conformance suite. */
import assert from 'node:assert/strict';
import type { Coordinator, HookHandler, HookResult, HooksPort } from '../../../core.ts';

/** The features that a coordinator may have or lack. */
export const coordinatorFeatures = {
  mounts: 'mount, unmount and get',
  contributors: 'registerContributor and collectContributions',
  capabilities: 'registerCapability and getCapability',
  cleanup: 'registerCleanup and cleanup',
  hooks: 'hooks.register, which returns a function to unregister, and hooks.emit',
  hookData: 'the result of an emission that continues contains the data as the handlers left it',
  hookDetails: 'approval options and the placement of an injection survive in the result',
  hookDefaults: 'hooks.setDefaultFields',
  hookTimestamps: 'handlers see a timestamp',
  hookCollect: 'hooks.emitAndCollect',
  asyncHooks: 'handlers that answer with a promise are awaited',
  cancellation: 'a cancellation token',
} as const satisfies Record<string, string>;

/** The name of a feature whose rules can be left out of a suite. */
export type CoordinatorFeature = keyof typeof coordinatorFeatures;

/**
 * A coordinator under test: the port and those further parts of a runtime's coordinator that it
 * declares as features.
 */
export interface ConformanceTarget extends Coordinator {
  /** Returns the values of a channel's contributors. Belongs to the feature `contributors`. */
  collectContributions?(channel: string): unknown;
  /** Returns the value published under a name, or null. Belongs to the feature `capabilities`. */
  getCapability?(name: string): unknown;
  /** Runs the registered clean-ups. Belongs to the feature `cleanup`. */
  cleanup?(): unknown;
}

/** One rule, for any test runner: `test(rule.name, rule.run)`. */
export interface ConformanceRule {
  /** The rule as a sentence. */
  readonly name: string;
  /** The feature that the rule is about. */
  readonly feature: CoordinatorFeature;
  /**
   * Makes a new coordinator and checks the rule on it. Resolves if the rule holds; otherwise it
   * rejects with an `AssertionError` that says what was expected.
   */
  run(): Promise<void>;
}

/** A rule that is not yet bound to a function that makes coordinators. */
export interface RuleBody {
  readonly name: string;
  readonly feature: CoordinatorFeature;
  readonly check: (target: ConformanceTarget) => Promise<void>;
}

/** Makes a group of rules about one feature. */
export function rules(
  feature: CoordinatorFeature,
  bodies: Readonly<Record<string, RuleBody['check']>>,
): RuleBody[] {
  return Object.entries(bodies).map(([name, check]) => ({ name, feature, check }));
}

/** Returns the target's method, bound. Fails if the method of a declared feature is missing. */
export function method(target: object, name: string): (...args: readonly unknown[]) => unknown {
  const found: unknown = (target as Record<string, unknown>)[name];
  assert.equal(
    typeof found,
    'function',
    `Expected the coordinator to have ${name}(), as its declared features say`,
  );
  return (...args) => Reflect.apply(found as (...all: readonly unknown[]) => unknown, target, args);
}

/** The target's hooks, with `emit`. */
export function hooksOf(target: ConformanceTarget): HooksPort & Required<Pick<HooksPort, 'emit'>> {
  const hooks = target.hooks as (HooksPort & Required<Pick<HooksPort, 'emit'>>) | undefined;
  assert.ok(
    typeof hooks === 'object' && hooks !== null,
    'Expected the coordinator to have hooks, as its declared features say',
  );
  return hooks;
}

/** The event that the rules about hooks emit. */
export const event = 'tool:pre';
/** Makes a handler that always returns this result. */
export const answer = (result: HookResult): HookHandler => {
  return () => result;
};

/** Registers handlers at priority 0 and emits. */
export async function emitThrough(
  target: ConformanceTarget,
  handlers: readonly HookHandler[],
  data: Record<string, unknown> = {},
): Promise<HookResult> {
  const hooks = hooksOf(target);
  for (const [index, handler] of handlers.entries())
    hooks.register(event, handler, 0, `handler-${index}`);
  return hooks.emit(event, data);
}

/** Checks that the call throws or rejects with exactly this message. */
export async function refuses(call: () => unknown, message: string): Promise<void> {
  let outcome: { readonly error: unknown } | undefined;
  try {
    await call();
  } catch (error) {
    outcome = { error };
  }
  assert.ok(outcome !== undefined, `Expected a refusal: ${message}`);
  assert.equal((outcome.error as Error | undefined)?.message, message);
}

/** Names that a carelessly written dictionary loses or finds on its prototype. */
export const hostileNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'a.b:c-d_e',
  'naïve \u{1F9F0}',
  'x'.repeat(1_000),
] as const;
