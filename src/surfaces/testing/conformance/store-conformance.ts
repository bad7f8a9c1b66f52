/** The contract of a relay's store as data: rules that any test runner can execute on any store. */
import type { MaybePromise } from '../../../core.ts';
import type { RelayStore } from '../../relay/ports/store.ts';
import { type PortRule, portRules } from './port-rule.ts';
import { applyRules } from './store-conformance-apply.ts';
import { concurrencyRules } from './store-conformance-concurrency.ts';
import { counterRules } from './store-conformance-counters.ts';
import { documentRules } from './store-conformance-documents.ts';
import { dueRules } from './store-conformance-due.ts';
import { leaseRules } from './store-conformance-leases.ts';
import { logRules } from './store-conformance-logs.ts';
import { modelRules } from './store-conformance-model.ts';
import { nameRules } from './store-conformance-names.ts';
import { sessionRules } from './store-conformance-sessions.ts';

/**
 * Returns the rules that a store must satisfy, as data:
 * `for (const rule of storeConformance(make)) test(rule.name, rule.run)`. `makeStore` returns a
 * fresh, empty store for each rule, or one with a namespace of its own. If the store has a `close`,
 * it is called after the rule. Some rules wait for up to a second of real time.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'host-tools/relay';
 * import { storeConformance } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put your store in the place of `memoryStore()`.
 * for (const rule of storeConformance(() => memoryStore())) test(rule.name, rule.run);
 * ```
 */
export function storeConformance(makeStore: () => MaybePromise<RelayStore>): readonly PortRule[] {
  return [
    sessionRules,
    documentRules,
    logRules,
    leaseRules,
    counterRules,
    dueRules,
    concurrencyRules,
    nameRules,
    modelRules,
    applyRules,
  ].flatMap((bodies) => portRules(makeStore, bodies));
}
