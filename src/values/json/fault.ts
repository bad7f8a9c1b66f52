/** Finds out why a value cannot be copied as JSON, and where, once a copy has failed. */

/**
 * The reason why a value is not JSON. The copy throws it, the boundary catches it, and it is never
 * shown raw.
 */
export interface JsonFault {
  readonly fault: 'not_json' | 'too_deep' | 'too_large';
  /** JSON pointer of the offending value; of one that is very deep, only the beginning. */
  readonly path: string;
  readonly message: string;
}

/** Thrown by the copy, which adds the path as it unwinds. */
export class Fault {
  path: string[] = [];
  readonly fault: JsonFault['fault'];
  readonly message: string;
  constructor(fault: JsonFault['fault'], message: string) {
    this.fault = fault;
    this.message = message;
  }
}

/** Distinguishes a cycle from a value that is merely too deep. */
export function tooDeep(value: object, maxDepth: number): Fault {
  const onPath = new Set<object>();
  let left = 10_000;
  const cycles = (item: unknown, depth: number): boolean => {
    if (typeof item !== 'object' || item === null || depth > maxDepth || --left < 0) return false;
    if (onPath.has(item)) return true;
    onPath.add(item);
    for (const member of Object.values(item)) if (cycles(member, depth + 1)) return true;
    onPath.delete(item);
    return false;
  };
  let isCycle = false;
  try {
    isCycle = cycles(value, 0);
  } catch {
    // A value that cannot be walked again is simply too deep.
  }
  return isCycle
    ? new Fault('not_json', 'a cycle is not JSON')
    : new Fault('too_deep', `nested deeper than ${maxDepth} levels`);
}

/** The first member whose getter throws; undefined if none does. */
export function throwingMember(value: object): string | undefined {
  try {
    for (const key of Object.keys(value)) {
      try {
        void (value as Record<string, unknown>)[key];
      } catch {
        return key;
      }
    }
  } catch {
    // The value's keys cannot be read.
  }
  return undefined;
}

const exotic = [Map, Set, WeakMap, WeakSet, Promise, RegExp, ArrayBuffer, Error] as const;
/** Refuses objects whose contents JSON would lose, such as maps and sets. */
export function refuseExotic(value: object): void {
  if (ArrayBuffer.isView(value))
    throw new Fault('not_json', 'binary data is not JSON; give base64 text');
  for (const type of exotic)
    if (value instanceof type) throw new Fault('not_json', `a ${type.name} is not JSON`);
}
