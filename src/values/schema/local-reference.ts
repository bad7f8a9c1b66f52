/**
 * Follows references for code that shows or walks schemas: by the rules of the validator, but
 * without throwing.
 */
import { escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { dialectOf } from './dialect.ts';
import { indexReferences, type References, resolveReference } from './references.ts';

/**
 * The indexed references of each schema. Schemas are frozen, and their references are read many
 * times. Null for a schema that cannot be indexed.
 */
const indexed = new WeakMap<JsonObject, References | null>();
const pointers = new WeakMap<JsonObject, ReadonlyMap<JsonValue, string>>();

/**
 * Follows a reference: `#`, a pointer, an `$anchor` or an `$id` of the same document. Undefined if
 * it leads outside or nowhere.
 * @param holder The schema that has the reference. The `$id` that encloses it is the base of the
 * reference.
 */
export function followReference(
  reference: string,
  holder: JsonObject,
  root: JsonObject,
): JsonValue | undefined {
  const references = referencesOf(root);
  if (references === undefined) return undefined;
  const { owner, resources } = references;
  const home = owner.get(root);
  // The place of a copied part is unknown. It matters only if parts have an `$id` of their own.
  const alone = [...resources.values()].every((resource) => resource.root === root);
  const from = owner.get(holder) ?? (alone ? home : undefined);
  if (from === undefined) return undefined;
  try {
    return resolveReference(reference, from, references, '').schema;
  } catch {
    return undefined;
  }
}

function referencesOf(root: JsonObject): References | undefined {
  const known = indexed.get(root);
  if (known !== undefined) return known ?? undefined;
  let made: References | null = null;
  try {
    made = indexReferences(root, dialectOf(root));
  } catch {
    // The references of a schema of an unknown dialect cannot be followed.
  }
  indexed.set(root, made);
  return made ?? undefined;
}

/** The JSON pointer of a part of a document. Undefined if the part is not in it. */
export function pointerOf(part: JsonValue, root: JsonObject): string | undefined {
  const known = pointers.get(root) ?? pointersOf(root);
  pointers.set(root, known);
  return known.get(part);
}

function pointersOf(root: JsonObject): ReadonlyMap<JsonValue, string> {
  const found = new Map<JsonValue, string>([[root, '']]);
  // Iterating a Map also reaches the entries that are added meanwhile.
  for (const [part, pointer] of found) {
    const entries = Array.isArray(part)
      ? (part as readonly JsonValue[]).entries()
      : isJsonObject(part)
        ? Object.entries(part)
        : [];
    for (const [key, child] of entries)
      if (typeof child === 'object' && child !== null && !found.has(child))
        found.set(child, `${pointer}/${escapePointer(String(key))}`);
  }
  return found;
}

// Whether a JSON Schema declares a member, so that a value of it is read and not dropped.

/**
 * Whether `properties`, `items` and `prefixItems` lead from a schema to the end of a path. `*` and
 * an index mean elements. Members that references, combinations or `additionalProperties` allow do
 * not count, because these do not show that the value at hand was read.
 */
export function declaresPath(schema: JsonObject, path: readonly string[]): boolean {
  let level: readonly JsonObject[] = [schema];
  for (const name of path) {
    const next = level.flatMap((one) => below(one, name));
    if (next.length === 0) return false;
    level = next.filter(isJsonObject);
  }
  return true;
}

function below(schema: JsonObject, name: string): JsonValue[] {
  const { properties, items, prefixItems } = schema;
  if (isJsonObject(properties))
    return Object.hasOwn(properties, name) ? [properties[name] as JsonValue] : [];
  const places: readonly (JsonValue | undefined)[] = Array.isArray(prefixItems) ? prefixItems : [];
  const at = /^(?:0|[1-9]\d{0,9})$/.test(name) ? Number(name) : -1;
  if (name !== '*' && at < 0) return [];
  const elements = name === '*' ? [...places, items] : [at < places.length ? places[at] : items];
  return elements.filter((element) => element !== undefined);
}
