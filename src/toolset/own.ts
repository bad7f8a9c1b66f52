/**
 * Reading what an object itself has: what a careless merge put on `Object.prototype` is no field of
 * a tool, a call or an event.
 */

/** The object's own member; undefined where it has none. */
export function own<T extends object, K extends keyof T>(object: T, key: K): T[K] | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The object's own members, in an object that inherits nothing. */
export function ownMembers<T extends object>(object: T): T {
  return Object.assign(Object.create(null), object) as T;
}
