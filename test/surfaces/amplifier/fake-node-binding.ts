/**
 * Node bindings of each age, as the tests meet them, and guards that turn what a real binding would
 * die of into failures.
 */
import {
  createTestNodeBinding,
  type TestNodeBinding,
  type TestNodeBindingOptions,
} from '../../../src/surfaces/testing/coordinator/coordinator-node-binding.ts';

/** The ages of the binding. */
export const bindingKinds = {
  'a binding that reads answers at once': {},
  'a binding that awaits answers': { awaitsHandlers: true },
  'a binding whose hooks are another registry at every read': { detachedHooks: true },
} as const satisfies Record<string, TestNodeBindingOptions>;

/**
 * A binding on which `mount`, `unmount`, `get` and the rest that it lacks throw when they are so
 * much as looked at.
 */
export function fakeNodeBinding(options: TestNodeBindingOptions = {}): TestNodeBinding {
  const binding = createTestNodeBinding(options);
  const absent: ReadonlySet<unknown> = new Set([
    'mount',
    'unmount',
    'get',
    'registerContributor',
    'collectContributions',
    'registerCleanup',
    'sessionId',
  ]);
  return new Proxy(binding, {
    get(target, key, receiver) {
      if (absent.has(key)) throw new Error(`The binding has no ${String(key)}`);
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
}
