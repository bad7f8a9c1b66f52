/** Facts: a flat map with dotted keys of what is true at run time. Tools may require facts. */
import { canonicalJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';

/** Merges changes into facts by key. A null deletes the key. */
export function mergeFacts(facts: JsonObject, changes: JsonObject): JsonObject {
  const merged = new Map(Object.entries(facts));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.freeze(Object.fromEntries(merged));
}

/**
 * The changes that turn the facts in `known` into those in `reported`. A key in neither `reported`
 * nor `before` belongs to someone else and is left alone; one that `before` has and `reported`
 * lacks was deleted.
 */
export function factChanges(
  known: JsonObject,
  reported: JsonObject,
  before: JsonObject,
): JsonObject {
  const changes = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(reported))
    if (
      !Object.hasOwn(known, key) ||
      canonicalJson(known[key] as JsonValue) !== canonicalJson(value)
    )
      changes.set(key, value);
  for (const key of Object.keys(before))
    if (!Object.hasOwn(reported, key) && Object.hasOwn(known, key)) changes.set(key, null);
  return Object.fromEntries(changes);
}
