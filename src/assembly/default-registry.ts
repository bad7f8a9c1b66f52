/** The optional process-wide registry. */

import { standFor } from '../core/registry/state-of.ts';
import { HostToolRegistry } from './full-registry.ts';

let shared: HostToolRegistry | undefined;

function theShared(): HostToolRegistry {
  shared ??= new HostToolRegistry();
  return shared;
}

/**
 * One registry for the whole process, for scripts that need no other: an instance of the class
 * {@link HostToolRegistry}, made on first use. It has no options: to set some, make a registry
 * yourself with `new HostToolRegistry(options)`. It is the only state of the module.
 *
 * @example
 * ```ts
 * import { hostToolRegistry } from 'host-tools';
 *
 * hostToolRegistry.register(add);
 * const session = hostToolRegistry.createSession({ sessionId: 's1' });
 * ```
 */
export const hostToolRegistry: HostToolRegistry = new Proxy(
  Object.create(HostToolRegistry.prototype) as HostToolRegistry,
  {
    get(_target, key) {
      const registry = theShared();
      const value: unknown = Reflect.get(registry, key, registry);
      return typeof value === 'function' ? value.bind(registry) : value;
    },
  },
);
standFor(hostToolRegistry, theShared);
