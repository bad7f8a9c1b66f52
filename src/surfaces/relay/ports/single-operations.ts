/** The methods of a store that are single operations of its `apply`. */
import type { RelayStore } from './store.ts';

/** The methods that {@link singleOperations} makes. */
export type SingleOperations = Pick<
  RelayStore,
  'get' | 'set' | 'delete' | 'append' | 'read' | 'renew'
>;

/**
 * Makes the methods of a {@link RelayStore} that do one operation of `apply`, for a store that
 * implements `apply`.
 *
 * @example
 * ```ts
 * import { memoryStore, type RelayStore, singleOperations } from 'host-tools/relay';
 *
 * // Your store implements `apply` itself. This example uses that of the memory store.
 * const inner = memoryStore();
 * const apply: RelayStore['apply'] = (session, ops) => inner.apply(session, ops);
 * const store: RelayStore = { ...inner, apply, ...singleOperations(apply) };
 * ```
 */
export function singleOperations(apply: RelayStore['apply']): SingleOperations {
  return {
    async get(session, keys) {
      const { results } = await apply(session, [{ op: 'get', keys }]);
      return results?.[0] ?? keys.map(() => undefined);
    },
    set: async (session, key, value, version) =>
      (await apply(session, [{ op: 'set', key, value, version }])).results?.[0],
    delete: async (session, key, version) =>
      (await apply(session, [{ op: 'delete', key, version }])).results?.[0] ?? false,
    append: async (session, log, value, keep) =>
      (await apply(session, [{ op: 'append', log, value, keep }])).results?.[0],
    async read(session, log, after, limit) {
      const { results } = await apply(session, [{ op: 'read', log, after, limit }]);
      return results?.[0] ?? { entries: [], first: 0, last: 0 };
    },
    renew: async (session, lease, epoch, ttlMs) =>
      (await apply(session, [{ op: 'renew', lease, epoch, ttlMs }])).results !== undefined,
  };
}
