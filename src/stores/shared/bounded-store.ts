/** A store that does not answer in time has failed, or who asked would wait for it without end. */

import type { Store } from '../../api/store.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';

/** What is used of a store. */
export type BoundedStore = Pick<Store, 'apply'>;

/** @param ms Milliseconds for each step. */
export function bounded(store: Store, ms: number): BoundedStore {
  return {
    apply: (space, operations) =>
      withDeadline(
        Promise.resolve().then(() => store.apply(space, operations)),
        ms,
      ),
  };
}
