/** What holds of the four features, whatever store they are in. */
import type { MaybePromise } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import type { PortRule } from '../../../src/surfaces/testing/conformance/port-rule.ts';
import { approvalRules } from './approval-rules.ts';
import { keyRules } from './key-rules.ts';
import { outputRules } from './output-rules.ts';
import { quotaRules } from './quota-rules.ts';

/** @param make Returns a fresh store. */
export function featureRules(make: () => MaybePromise<Store>): readonly PortRule[] {
  const all = {
    approvals: approvalRules(make),
    quotas: quotaRules(make),
    'idempotency keys': keyRules(make),
    outputs: outputRules(make),
  };
  return Object.entries(all).flatMap(([feature, rules]) =>
    rules.map(({ name, run }) => ({ name: `${feature}: ${name}`, run })),
  );
}
