/** Finds the places at which two inputs differ. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { escapePointer } from '../../../values/json/index.ts';

/**
 * Returns JSON pointers to the places at which one value differs from another: first expected keys,
 * in their order, then additional ones. `""` is the whole value.
 */
export function differences(expected: JsonValue, actual: JsonValue): string[] {
  const found: string[] = [];
  compare(expected, actual, '', found);
  return found;
}

function compare(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  at: string,
  found: string[],
): void {
  if (expected === actual) return;
  if (
    !isContainer(expected) ||
    !isContainer(actual) ||
    Array.isArray(expected) !== Array.isArray(actual)
  ) {
    found.push(at);
    return;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)]))
    compare(member(expected, key), member(actual, key), `${at}/${escapePointer(key)}`, found);
}

function isContainer(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

function member(value: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
