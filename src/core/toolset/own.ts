/**
 * Reads own members only, so that a polluted `Object.prototype` adds no field to a tool, a call or
 * an event.
 */

/** The object's own member; undefined if it has none. */
export function own<T extends object, K extends keyof T>(object: T, key: K): T[K] | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The object's own members, in an object without a prototype. */
export function ownMembers<T extends object>(object: T): T {
  return Object.assign(Object.create(null), object) as T;
}
