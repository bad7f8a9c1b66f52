import { describe, expect, test } from 'vitest';
import { fromNodeBinding } from '../../../../src/surfaces/amplifier/node-binding.ts';
import { coordinatorConformance } from '../../../../src/surfaces/testing/conformance/coordinator-conformance.ts';
import {
  type ConformanceTarget,
  coordinatorFeatures,
} from '../../../../src/surfaces/testing/conformance/coordinator-conformance-rule.ts';
import { TestCoordinator } from '../../../../src/surfaces/testing/coordinator/coordinator.ts';
import { bindingKinds, fakeNodeBinding } from '../../amplifier/fake-node-binding.ts';

for (const mode of ['sync', 'async'] as const)
  describe(`TestCoordinator, mode ${mode}`, () => {
    for (const rule of coordinatorConformance(() => new TestCoordinator({ mode })))
      test(rule.name, rule.run);
  });

for (const [kind, options] of Object.entries(bindingKinds))
  describe(`fromNodeBinding over ${kind}`, () => {
    const awaits = kind === 'a binding that awaits answers';
    const features = { hookDetails: false, hookCollect: false, asyncHooks: awaits };
    const make = (): ConformanceTarget =>
      fromNodeBinding(fakeNodeBinding(options), { asyncHandlers: awaits ? 'pass' : 'deny' });
    for (const rule of coordinatorConformance(make, { features })) test(rule.name, rule.run);
  });

describe('the suite itself', () => {
  test('every rule has a name of its own and a feature', () => {
    const rules = coordinatorConformance(() => new TestCoordinator());
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    expect(new Set(rules.map(({ feature }) => feature))).toEqual(
      new Set(Object.keys(coordinatorFeatures)),
    );
  });

  test('a feature declared as absent leaves out its rules and no others', () => {
    const all = coordinatorConformance(() => new TestCoordinator());
    const fewer = coordinatorConformance(() => new TestCoordinator(), {
      features: { asyncHooks: false, hooks: true },
    });
    expect(fewer.map(({ name }) => name)).toEqual(
      all.filter(({ feature }) => feature !== 'asyncHooks').map(({ name }) => name),
    );
  });

  test('an unknown feature is refused', () => {
    expect(() =>
      coordinatorConformance(() => new TestCoordinator(), {
        features: { telepathy: true } as object,
      }),
    ).toThrow('unknown feature `telepathy`');
  });

  test('a declared feature that is missing fails its rules; none is skipped', async () => {
    const bare = (): ConformanceTarget => {
      const full = new TestCoordinator();
      return {
        mount: full.mount.bind(full),
        unmount: full.unmount.bind(full),
        get: full.get.bind(full),
      };
    };
    for (const rule of coordinatorConformance(bare)) {
      if (rule.feature === 'mounts') await rule.run();
      else await expect(rule.run(), rule.name).rejects.toThrow();
    }
  });

  describe('detects a faulty coordinator', () => {
    const faulty: Record<string, [make: () => ConformanceTarget, broken: string[]]> = {
      'that refuses a taken name': [
        () => {
          const full = new TestCoordinator();
          return target(full, {
            mount(point, module, name) {
              const key = name ?? (module as { name?: string } | null)?.name;
              if (key !== undefined && point === 'tools' && full.get('tools', key) !== null)
                throw new Error('taken');
              return full.mount(point, module, name);
            },
          });
        },
        ['mounting under a taken name replaces, silently'],
      ],
      'whose get("tools") is a snapshot': [
        () => {
          const full = new TestCoordinator();
          return target(full, {
            get(point, name) {
              const held = full.get(point, name);
              return held instanceof Map ? new Map(held as Map<string, unknown>) : held;
            },
          });
        },
        ['the result of an earlier get("tools") follows later mounts and unmounts'],
      ],
      'whose get("tools") is a list': [
        () => {
          const full = new TestCoordinator();
          return target(full, {
            get(point, name) {
              const held = full.get(point, name);
              return held instanceof Map ? [...(held as Map<string, unknown>).values()] : held;
            },
          });
        },
        [
          'a fresh coordinator has its six mount points, all empty',
          'a mounted tool is found by its name, as the same object',
          'mounting under a taken name replaces, silently',
          'the result of an earlier get("tools") follows later mounts and unmounts',
          'any string is a tool name, also names that objects inherit',
          'an unmounted tool is gone, the others stay',
          'unmounting what is not mounted changes nothing',
          'a module without a name needs one, at tools and at providers',
          'unmounting from tools and providers needs a name',
        ],
      ],
      'that cleans up in the order of registration': [
        () => {
          const full = new TestCoordinator();
          const fns: (() => unknown)[] = [];
          return target(full, {
            registerCleanup: (fn) => fns.push(fn),
            cleanup: async () => {
              for (const fn of fns) await fn();
            },
          });
        },
        [
          'clean-ups run newest first, one after the other',
          'a clean-up runs once',
          'a clean-up that throws or rejects does not keep the others from running',
          'a clean-up that is not a function is ignored',
        ],
      ],
      'whose unregister goes by name': [
        () => {
          const full = new TestCoordinator();
          const undo = new Map<string, (() => void)[]>();
          return target(full, {
            hooks: {
              ...full.hooks,
              register(
                ...[event, handler, priority, name = '']: Parameters<typeof full.hooks.register>
              ) {
                undo.set(name, [
                  ...(undo.get(name) ?? []),
                  full.hooks.register(event, handler, priority, name),
                ]);
                return () => {
                  for (const fn of undo.get(name) ?? []) fn();
                };
              },
            },
          });
        },
        ['unregistering takes away that registration only, even where a name repeats'],
      ],
    };
    for (const [fault, [make, broken]] of Object.entries(faulty))
      test(fault, async () => {
        const failed: string[] = [];
        for (const rule of coordinatorConformance(make))
          await rule.run().catch(() => failed.push(rule.name));
        expect(failed).toEqual(broken);
      });
  });
});

function target(full: TestCoordinator, changes: Partial<ConformanceTarget>): ConformanceTarget {
  return {
    mount: full.mount.bind(full),
    unmount: full.unmount.bind(full),
    get: full.get.bind(full),
    registerContributor: full.registerContributor.bind(full),
    collectContributions: full.collectContributions.bind(full),
    registerCapability: full.registerCapability.bind(full),
    getCapability: full.getCapability.bind(full),
    registerCleanup: full.registerCleanup.bind(full),
    cleanup: full.cleanup.bind(full),
    hooks: full.hooks,
    cancellation: full.cancellation,
    ...changes,
  };
}
