/** What makes a part, and which parts a registry has. */

import { describe, MisuseError } from '../../values/errors/index.ts';
import { type Part, type PartOf, PartSet, type PartSpec } from '../part.ts';
import type { Ports } from './ports.ts';
import type { RegistryState } from './registry-state.ts';

/** What makes a part. */
export interface RegistryPart extends PartSpec {
  /**
   * Fills its ports in a new registry.
   * @param options Those of the registry, checked by the table.
   * @throws MisuseError for an option that is wrong inside.
   */
  install?(ports: Ports, registry: RegistryState, options: Readonly<Record<string, unknown>>): void;
}

const specs = new WeakMap<object, RegistryPart>();

/** Makes the function's value for hosts. */
export function definePart(spec: RegistryPart): Part {
  const part: Part = Object.freeze({ name: spec.name });
  // Own members only: an `options` on `Object.prototype` is none of the part's.
  specs.set(part, { __proto__: null, ...spec } as RegistryPart);
  return part;
}

/** The parts of a registry. Registries with the same parts share it. */
export class RegistryParts extends PartSet<RegistryPart> {
  /** @throws MisuseError `invalid_option`, for what is no part, or is given twice. */
  constructor(parts: readonly Part[], partOf?: PartOf) {
    super(parts.map(specOf), partOf);
  }
}

/** @throws MisuseError `invalid_option`, for what is no part. */
export function specOf(part: unknown): RegistryPart {
  const spec = typeof part === 'object' && part !== null ? specs.get(part) : undefined;
  if (spec === undefined)
    throw new MisuseError(
      'invalid_option',
      'HostToolRegistry: expected `parts` to be parts of this copy of host-tools, each made by ' +
        `the function of its subpath, got ${describe(part)}.`,
    );
  return spec;
}
