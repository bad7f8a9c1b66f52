/** Rules of one feature, which are bound to a store later. */
import type { MaybePromise } from '../../../src/core.ts';
import type { PortRule } from '../../../src/surfaces/testing/conformance/port-rule.ts';

/** Rules by name, not yet bound to a function that makes the port. */
export type PortRuleBodies<T> = Readonly<Record<string, (made: T) => Promise<void>>>;

/** A port that may have a `close`, which is called after each rule. */
export interface Closable {
  close?(): MaybePromise<void>;
}

/** Binds rules to a function that makes the port. */
export function portRules<T extends object>(
  make: () => MaybePromise<T>,
  bodies: PortRuleBodies<T>,
): PortRule[] {
  return Object.entries(bodies).map(([name, check]) => ({
    name,
    run: async () => {
      const made = await make();
      try {
        await check(made);
      } finally {
        await (made as Closable).close?.();
      }
    },
  }));
}
