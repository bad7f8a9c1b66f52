/** Which stores live in the memory of this process, where no other process sees what they keep. */

const stores = new WeakSet<object>();

/** Marks a store. */
export function inProcess<T extends object>(store: T): T {
  stores.add(store);
  return store;
}

/** Whether a store is one of this process. Stores of a host count as shared. */
export function isInProcess(store: object): boolean {
  return stores.has(store);
}
