/** A store that answers later, as one in a database does. */
import { setImmediate as later } from 'node:timers/promises';
import type { Store } from '../../../src/extend.ts';

/** Another store, whose steps take place a moment after they were asked for, in any order. */
export function laterStore(inner: Store): Store {
  let asked = 0;
  return {
    ...inner,
    apply: async (space, operations) => {
      for (let turns = asked++ % 3; turns >= 0; turns--) await later();
      return await inner.apply(space, operations);
    },
  };
}
