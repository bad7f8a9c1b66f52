/** The review of rules as a part of a registry. */

import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { flag, withDefault } from '../../values/options/index.ts';
import { reviewSlot } from './review-of.ts';
import { RuleReview } from './rule-review.ts';

/**
 * The part that finds rules and quotas that can never match, and adds the option `strictRules` of a
 * registry.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { ruleReview } from 'host-tools/rule-review';
 *
 * const registry = new HostToolRegistry({ parts: [ruleReview()], strictRules: true });
 * ```
 */
export function ruleReview(): Part {
  return part;
}

const part = definePart({
  name: 'ruleReview',
  options: { registry: { strictRules: withDefault(flag, false) } },
  install(ports, registry, { strictRules }) {
    const review = new RuleReview(registry, strictRules as boolean);
    reviewSlot.set(registry, review);
    ports.review = review;
  },
});
