/** Wraps the host's store and bus, so that their failures become errors of the relay. */

import { isRelayError, storeUnavailable } from '../relay-error.ts';
import type { Report } from '../report.ts';
import type { RelayBus } from './bus.ts';
import type { RelayStore } from './store.ts';

/**
 * Makes a store that rejects only with `store_unavailable`. It has no `close`, because its owner
 * closes the store.
 */
export function guardStore(store: RelayStore, report: Report): RelayStore {
  const guard =
    <A extends unknown[], R>(operation: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await operation.apply(store, args);
      } catch (error) {
        if (isRelayError(error)) throw error;
        report('store', error);
        throw storeUnavailable(error);
      }
    };
  return {
    carrier: store.carrier,
    apply: guard(store.apply) as RelayStore['apply'],
    create: guard(store.create),
    extend: guard(store.extend),
    drop: guard(store.drop),
    get: guard(store.get),
    set: guard(store.set),
    delete: guard(store.delete),
    append: guard(store.append),
    read: guard(store.read),
    acquire: guard(store.acquire),
    renew: guard(store.renew),
    release: guard(store.release),
    holder: guard(store.holder),
    count: guard(store.count),
    schedule: guard(store.schedule),
    unschedule: guard(store.unschedule),
    due: guard(store.due),
    ping: guard(store.ping),
  };
}

/**
 * Makes a bus whose `publish` never rejects and whose `subscribe` rejects only with
 * `store_unavailable`. It has no `close`, because its owner closes the bus.
 */
export function guardBus(bus: RelayBus, report: Report): RelayBus {
  return {
    carrier: bus.carrier,
    maxMessageChars: bus.maxMessageChars,
    async publish(channel, message) {
      try {
        await bus.publish(channel, message);
      } catch (error) {
        report('bus', error);
      }
    },
    async subscribe(channel, listener) {
      try {
        return await bus.subscribe(channel, listener);
      } catch (error) {
        report('bus', error);
        throw storeUnavailable(error);
      }
    },
  };
}
