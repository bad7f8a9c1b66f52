/** The optional process-wide registry, and the state behind any registry. */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { HostToolRegistry, readState } from './registry.ts';
import type { RegistryState } from './registry-state.ts';

let shared: HostToolRegistry | undefined;

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
      shared ??= new HostToolRegistry();
      const value: unknown = Reflect.get(shared, key, shared);
      return typeof value === 'function' ? value.bind(shared) : value;
    },
  },
);

/** The state behind a registry of this copy of the package, for surfaces. @throws MisuseError */
export function registryStateOf(registry: unknown): RegistryState {
  if (registry === hostToolRegistry) shared ??= new HostToolRegistry();
  const target = registry === hostToolRegistry ? shared : registry;
  const state = typeof target === 'object' && target !== null ? readState(target) : undefined;
  if (state === undefined)
    throw new MisuseError(
      'invalid_option',
      `Expected a HostToolRegistry of this copy of host-tools, got ${describe(registry)}.`,
    );
  return state;
}
