/** Objects whose content is not in their own members, so that a copy as JSON loses it. */

/** Whether the objects of a prototype have content elsewhere: in getters, or what they iterate. */
const known = new WeakMap<object, boolean>();
/** A longer chain of prototypes is not read. */
const longestChain = 16;

/**
 * Whether a copy of the object's own members loses its content. For an object of a class that has
 * no `toJSON` and is not refused.
 */
export function losesData(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null || isRoot(prototype)) return false;
  if (Object.keys(value).length === 0) return true;
  let answer = known.get(prototype);
  if (answer === undefined) {
    answer = hasMore(prototype);
    known.set(prototype, answer);
  }
  return answer;
}

function hasMore(first: object): boolean {
  let prototype: object | null = first;
  for (let at = 0; at < longestChain && prototype !== null && !isRoot(prototype); at++) {
    if (Object.hasOwn(prototype, Symbol.iterator) || Object.hasOwn(prototype, Symbol.asyncIterator))
      return true;
    const members = Object.getOwnPropertyDescriptors(prototype);
    if (Object.values(members).some(({ get }) => get !== undefined)) return true;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return false;
}

/** `Object.prototype`, also that of another realm. It alone has no prototype and this method. */
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty');
}

/** The name of an object's class; "object" if it has none. Reading it must not throw. */
export function className(value: object): string {
  try {
    const { constructor: made } = value;
    const name: unknown = typeof made === 'function' ? made.name : undefined;
    return typeof name === 'string' && name !== '' && name !== 'Object'
      ? name.slice(0, 100)
      : 'object';
  } catch {
    return 'object';
  }
}

/** The name of the class of data that a sandbox has lost, on the output that it sent. */
export const lostInSandbox: unique symbol = Symbol.for('host-tools.lost-data');
