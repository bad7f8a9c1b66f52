/**
 * Where the references of a schema lead, for whoever shows or walks schemas: by the rules of the
 * validator, and without throwing.
 */
import { escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { dialectOf } from './json-schema-dialect.ts';
import { indexReferences, type References, resolveReference } from './json-schema-references.ts';

/**
 * Schemas are frozen, and their references are read many times. Null for one that has none to speak
 * of.
 */
const indexed = new WeakMap<JsonObject, References | null>();
const pointers = new WeakMap<JsonObject, ReadonlyMap<JsonValue, string>>();

/**
 * What a reference means: `#`, a pointer, an `$anchor` or an `$id` of the same document. Undefined
 * where it leads outside or nowhere.
 * @param holder The schema that the reference stands in: an `$id` around it decides where it
 * starts.
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
  // A copy of a part has lost its place, which counts where parts have an `$id` of their own.
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
    // A schema of nobody's dialect has no references that could be followed.
  }
  indexed.set(root, made);
  return made ?? undefined;
}

/** JSON pointer of a part of a document; undefined for what is not in it. */
export function pointerOf(part: JsonValue, root: JsonObject): string | undefined {
  const known = pointers.get(root) ?? pointersOf(root);
  pointers.set(root, known);
  return known.get(part);
}

function pointersOf(root: JsonObject): ReadonlyMap<JsonValue, string> {
  const found = new Map<JsonValue, string>([[root, '']]);
  // A Map that grows while it is walked is walked to its end.
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
