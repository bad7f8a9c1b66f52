/** What the part keeps for a registry, without its code. */

import type { RegistryState } from '../../core/registry/registry-state.ts';
import { Slot } from '../../core/slot.ts';
import type { Outputs } from './offload.ts';

export const outputsSlot = new Slot<Outputs>();

/** The outputs of a registry that has the part. */
export function outputsOf(registry: RegistryState): Outputs {
  return outputsSlot.of(registry) as Outputs;
}
