/**
 * The coordinator's contract as data: rules that any test runner can execute on any coordinator.
 */

import assert from 'node:assert/strict';
import { readMembers } from '../../../values/options/index.ts';
import { hookDataRules } from './coordinator-conformance-hook-data.ts';
import { hookRules } from './coordinator-conformance-hooks.ts';
import { mountRules } from './coordinator-conformance-mounts.ts';
import {
  type ConformanceRule,
  type ConformanceTarget,
  type CoordinatorFeature,
  coordinatorFeatures,
  hostileNames,
  method,
  type RuleBody,
  rules,
} from './coordinator-conformance-rule.ts';

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

/** Conformance rules: contributors, capabilities, clean-up, cancellation. */
const boom = (): never => {
  throw new Error('boom');
};

const serviceRules: readonly RuleBody[] = [
  ...rules('contributors', {
    'contributions come in the order of registration': async (target) => {
      const register = method(target, 'registerContributor');
      register('observability.events', 'b', () => ['b:one']);
      register('observability.events', 'a', () => ['a:one', 'a:two']);
      assert.deepEqual(await method(target, 'collectContributions')('observability.events'), [
        ['b:one'],
        ['a:one', 'a:two'],
      ]);
    },
    'asynchronous contributors are awaited, in their place': async (target) => {
      const register = method(target, 'registerContributor');
      register('channel', 'slow', async () => {
        await Promise.resolve();
        return 'slow';
      });
      register('channel', 'fast', () => 'fast');
      assert.deepEqual(await method(target, 'collectContributions')('channel'), ['slow', 'fast']);
    },
    'null from a contributor is left out; false, zero and empty values are kept': async (
      target,
    ) => {
      const register = method(target, 'registerContributor');
      for (const value of [null, false, 0, '', []]) register('channel', String(value), () => value);
      assert.deepEqual(await method(target, 'collectContributions')('channel'), [false, 0, '', []]);
    },
    'a contributor that throws or rejects is skipped': async (target) => {
      const register = method(target, 'registerContributor');
      register('channel', 'throws', boom);
      register('channel', 'rejects', () => Promise.reject(new Error('boom')));
      register('channel', 'works', () => 1);
      assert.deepEqual(await method(target, 'collectContributions')('channel'), [1]);
    },
    'the same contributor name twice counts twice': async (target) => {
      const register = method(target, 'registerContributor');
      register('channel', 'same', () => 1);
      register('channel', 'same', () => 2);
      assert.deepEqual(await method(target, 'collectContributions')('channel'), [1, 2]);
    },
    'a channel without contributors is empty, whatever its name': async (target) => {
      for (const channel of ['unknown', ...hostileNames])
        assert.deepEqual(await method(target, 'collectContributions')(channel), []);
    },
    'contributors are asked anew each time': async (target) => {
      let asked = 0;
      method(target, 'registerContributor')('channel', 'counter', () => ++asked);
      await method(target, 'collectContributions')('channel');
      assert.deepEqual(await method(target, 'collectContributions')('channel'), [2]);
    },
  }),
  ...rules('capabilities', {
    'a capability that was never registered is null': async (target) => {
      for (const name of ['absent', 'toString', '__proto__'])
        assert.equal(method(target, 'getCapability')(name), null);
    },
    'a capability comes back as it was registered': async (target) => {
      for (const value of [{ enabled: true, list: [1, null, 'x'] }, 'text', '', 0, false, []]) {
        method(target, 'registerCapability')('value', value);
        assert.deepEqual(method(target, 'getCapability')('value'), value);
      }
    },
    'a function is a capability too': async (target) => {
      const spawn = (): string => 'spawned';
      method(target, 'registerCapability')('session.spawn', spawn);
      assert.equal(method(target, 'getCapability')('session.spawn'), spawn);
    },
    'an object with methods keeps them': async (target) => {
      const store = { get: (): string => 'kept' };
      method(target, 'registerCapability')('store', store);
      assert.equal((method(target, 'getCapability')('store') as typeof store).get(), 'kept');
    },
    'registering again replaces the value, also a function by data and back': async (target) => {
      const fn = (): number => 1;
      for (const value of ['one', fn, { two: 2 }, fn, 'three']) {
        method(target, 'registerCapability')('value', value);
        assert.deepEqual(method(target, 'getCapability')('value'), value);
      }
    },
  }),
  ...rules('cleanup', {
    'clean-ups run newest first, one after the other': async (target) => {
      const ran: string[] = [];
      const register = method(target, 'registerCleanup');
      register(() => void ran.push('first'));
      register(async () => {
        await Promise.resolve();
        ran.push('second');
      });
      register(() => void ran.push('third'));
      await method(target, 'cleanup')();
      assert.deepEqual(ran, ['third', 'second', 'first']);
    },
    'a clean-up runs once': async (target) => {
      let ran = 0;
      method(target, 'registerCleanup')(() => void ran++);
      await Promise.all([method(target, 'cleanup')(), method(target, 'cleanup')()]);
      await method(target, 'cleanup')();
      assert.equal(ran, 1);
    },
    'a clean-up that throws or rejects does not keep the others from running': async (target) => {
      let ran = 0;
      const register = method(target, 'registerCleanup');
      register(() => void ran++);
      register(boom);
      register(() => Promise.reject(new Error('boom')));
      register(() => void ran++);
      await method(target, 'cleanup')();
      assert.equal(ran, 2);
    },
    'a clean-up that is not a function is ignored': async (target) => {
      for (const value of [null, undefined, {}, 'text']) method(target, 'registerCleanup')(value);
      await method(target, 'cleanup')();
    },
    'a clean-up that is registered by another one runs too': async (target) => {
      let ran = false;
      const register = method(target, 'registerCleanup');
      register(() => {
        register(() => {
          ran = true;
        });
      });
      await method(target, 'cleanup')();
      await method(target, 'cleanup')();
      assert.equal(ran, true);
    },
  }),
  ...rules('cancellation', {
    'a fresh coordinator is not cancelled': async (target) => {
      assert.equal(
        (target.cancellation as { isCancelled?: unknown } | undefined)?.isCancelled,
        false,
      );
    },
  }),
];
