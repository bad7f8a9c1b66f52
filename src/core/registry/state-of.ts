/** The state behind a registry. */

import { describe, MisuseError } from '../../values/errors/index.ts';
import { readState } from './registry.ts';
import type { RegistryState } from './registry-state.ts';

const real = new WeakMap<object, () => object>();

/** Notes an object that stands for a registry, which it makes when it is first used. */
export function standFor(object: object, registry: () => object): void {
  real.set(object, registry);
}

/** The state behind a registry of this copy of the package. @throws MisuseError */
export function registryStateOf(registry: unknown): RegistryState {
  const isObject = typeof registry === 'object' && registry !== null;
  const state = isObject ? readState(real.get(registry)?.() ?? registry) : undefined;
  if (state === undefined)
    throw new MisuseError(
      'invalid_option',
      `Expected a HostToolRegistry of this copy of host-tools, got ${describe(registry)}.`,
    );
  return state;
}
