/** Whether a value that fits a JSON Schema may have a member at a path. */
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../json/index.ts';
import { followReference } from '../schema/local-reference.ts';

/**
 * How many names of a path, from its beginning, a value that fits the schema may have. Less than
 * the whole path shows that the next name is not declared. `*` stands for any element or member,
 * and a name also enters the elements of an array that the path does not mention. An object whose
 * schema lists its `properties` is assumed to have no others, unless the schema allows or describes
 * others. Anything that the schema does not mention may be there.
 */
export function mayHold(schema: JsonObject, path: readonly string[]): number {
  let level = withBranches([schema], schema);
  for (const [at, name] of path.entries()) {
    const next: JsonValue[] = [];
    for (const one of level) next.push(...below(one, name));
    // A boolean schema says nothing about what is below it.
    if (next.some((one) => one === true)) return path.length;
    level = withBranches(next, schema);
    if (level.length === 0) return at;
  }
  return path.length;
}

const branchKeywords = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas'];
const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'];

/** The schemas with all that apply to the same value, each once. */
export function withBranches(schemas: readonly JsonValue[], root: JsonObject): JsonObject[] {
  const found = new Set<JsonObject>();
  const pending = schemas.filter(isJsonObject);
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (found.has(one)) continue;
    found.add(one);
    for (const keyword of branchKeywords) {
      const value = ownMember(one, keyword);
      const branches = Array.isArray(value)
        ? (value as readonly JsonValue[])
        : keyword === 'dependentSchemas' && isJsonObject(value)
          ? Object.values(value)
          : [value];
      pending.push(...branches.filter(isJsonObject));
    }
    for (const keyword of referenceKeywords) {
      const reference = ownMember(one, keyword);
      const target =
        typeof reference === 'string' ? followReference(reference, one, root) : undefined;
      if (isJsonObject(target)) pending.push(target);
    }
  }
  return [...found];
}

/** What a schema says about the members of this name; `true` if it allows anything. */
function below(schema: JsonObject, name: string): JsonValue[] {
  const asMember = membersOf(schema, name);
  const asElement = elementsOf(schema);
  // A schema that describes neither members nor elements says nothing about them.
  if (asMember === undefined && asElement === undefined) return isClosedKind(schema) ? [] : [true];
  const elements = asElement ?? [];
  if (name === '*' || /^(?:0|[1-9]\d{0,9})$/.test(name)) return [...(asMember ?? []), ...elements];
  // The path need not mention the array.
  const inside = elements.flatMap((element) =>
    isJsonObject(element) ? (membersOf(element, name) ?? [true]) : [true],
  );
  return [...(asMember ?? []), ...inside];
}

/** Whether the schema describes a scalar, or combines others that describe what is below. */
function isClosedKind(schema: JsonObject): boolean {
  const type = ownMember(schema, 'type');
  if (typeof type === 'string') return type !== 'object' && type !== 'array';
  return [...branchKeywords, ...referenceKeywords, 'enum', 'const'].some((keyword) =>
    Object.hasOwn(schema, keyword),
  );
}

/** Undefined if the schema does not describe members. */
function membersOf(schema: JsonObject, name: string): JsonValue[] | undefined {
  const properties = ownMember(schema, 'properties');
  const others = ['patternProperties', 'additionalProperties', 'unevaluatedProperties'].map(
    (keyword) => ownMember(schema, keyword),
  );
  const allowsOthers = others.some((one) => one !== undefined && one !== false);
  if (!isJsonObject(properties)) {
    if (others.every((one) => one === undefined)) return undefined;
    return allowsOthers ? [true] : [];
  }
  if (name === '*') return [...Object.values(properties), ...(allowsOthers ? [true] : [])];
  if (Object.hasOwn(properties, name)) return [properties[name] as JsonValue];
  return allowsOthers ? [true] : [];
}

/** Undefined if the schema does not describe elements. */
function elementsOf(schema: JsonObject): JsonValue[] | undefined {
  const parts = ['prefixItems', 'items', 'additionalItems'].flatMap((keyword) => {
    const value = ownMember(schema, keyword);
    return Array.isArray(value) ? (value as JsonValue[]) : value === undefined ? [] : [value];
  });
  return parts.length === 0 ? undefined : parts.filter((one) => one !== false);
}
