/** Facts: a flat map of runtime truths with dotted keys, which open and close tools. */
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';

/** Facts with changes merged over them by key; null deletes. */
export function mergeFacts(facts: JsonObject, changes: JsonObject): JsonObject {
  const merged = new Map(Object.entries(facts));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.freeze(Object.fromEntries(merged));
}

/**
 * What turns the facts in `known` into those in `told`, as changes to merge. A key that neither
 * `told` nor `before` has is left alone: somebody else's fact; one that `before` had and `told` has
 * not was deleted.
 */
export function factChanges(known: JsonObject, told: JsonObject, before: JsonObject): JsonObject {
  const changes = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(told))
    if (
      !Object.hasOwn(known, key) ||
      canonicalJson(known[key] as JsonValue) !== canonicalJson(value)
    )
      changes.set(key, value);
  for (const key of Object.keys(before))
    if (!Object.hasOwn(told, key) && Object.hasOwn(known, key)) changes.set(key, null);
  return Object.fromEntries(changes);
}
