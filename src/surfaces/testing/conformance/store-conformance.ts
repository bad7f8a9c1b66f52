/** The contract of a store as data: rules that any test runner can execute on any driver. */
import type { MaybePromise } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import type { PortRule } from './port-rule.ts';
import { dataRules, type TwoStores } from './store-rules.ts';
import { stepRules } from './store-sums.ts';

/**
 * Returns the rules that a driver of `Store` must satisfy, as data:
 * `for (const rule of storeConformance(make)) test(rule.name, rule.run)`. `make` returns a store
 * over a fresh, empty database for each rule; or two over the same one, as in two processes, which
 * also shows that they do not get in each other's way. Each is closed after the rule. Some rules
 * wait for up to a second of real time.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'host-tools';
 * import { storeConformance } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put your store in the place of `memoryStore()`.
 * for (const rule of storeConformance(() => memoryStore())) test(rule.name, rule.run);
 * ```
 */
export function storeConformance(
  make: () => MaybePromise<Store | readonly [Store, Store]>,
): readonly PortRule[] {
  return Object.entries({ ...dataRules, ...stepRules }).map(([name, check]) => ({
    name,
    run: async () => {
      const made = await make();
      const [store, other] = 'apply' in made ? [made, made] : made;
      const stores: TwoStores = { store, other };
      try {
        await check(stores);
      } finally {
        await Promise.all([store.close(), other === store ? undefined : other.close()]);
      }
    },
  }));
}
