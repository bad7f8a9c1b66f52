/** The JSON form of a parsed value, as rules read it. */
import { copyJson, isJsonObject, type JsonValue } from '../../values/json/index.ts';

const limits = { maxDepth: 200, maxValues: 200_000 };

/**
 * A copy as JSON. Sets, maps and large integers, which JSON does not have, become lists, objects
 * and texts, as rules read them. Undefined for a value that cannot be read.
 */
export function plainJson(value: unknown): JsonValue | undefined {
  const copy = copyJson(value, limits);
  if (copy.ok) return copy.value;
  try {
    const again = copyJson(plain(value, { left: limits.maxValues }, 0), limits);
    return again.ok ? again.value : undefined;
  } catch {
    return undefined;
  }
}

function plain(value: unknown, budget: { left: number }, depth: number): unknown {
  if (--budget.left < 0 || depth > limits.maxDepth) throw new RangeError('too large');
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const below = (inner: unknown): unknown => plain(inner, budget, depth + 1);
  if (Array.isArray(value)) return value.map(below);
  if (value instanceof Set) return [...value].map(below);
  const members =
    value instanceof Map ? [...value] : isPlain(value) ? Object.entries(value) : undefined;
  return members === undefined
    ? value
    : Object.fromEntries(members.map(([key, inner]) => [String(key), below(inner)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Whether two values have the same JSON, regardless of the order of their keys. */
export function isSameJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return (
      one.length === other.length &&
      one.every((item, index) => isSameJson(item as JsonValue, other[index] as JsonValue))
    );
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) =>
        Object.hasOwn(other, key) && isSameJson(one[key] as JsonValue, other[key] as JsonValue),
    )
  );
}
