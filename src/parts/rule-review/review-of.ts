/** The review of a registry, without its code. */

import type { RegistryState } from '../../core/registry/registry-state.ts';
import { Slot } from '../../core/slot.ts';
import type { RuleReview } from './rule-review.ts';

export const reviewSlot = new Slot<RuleReview>();

/** The review of a registry that has the part. */
export function reviewOf(registry: RegistryState): RuleReview {
  return reviewSlot.of(registry) as RuleReview;
}
