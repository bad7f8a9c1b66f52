/** Strict dialects make every optional property nullable and required: a null in such a place means "not given", and is taken out again before the call. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** References followed from one place; a chain is never this long but in a circle. */
const mostReferences = 16;

/** The value without nulls that stand for "not given", and the places where they stood. What holds none stays the same object. */
export function withoutStrictNulls(input: JsonObject, root: JsonObject, dropped: (path: string) => void): JsonObject {
  return strip(input, [root], '') as JsonObject;

  function strip(value: JsonValue, schemas: readonly JsonObject[], path: string): JsonValue {
    if (typeof value !== 'object' || value === null || schemas.length === 0) return value;
    const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`);
    if (Array.isArray(value)) {
      const items = value.map((item: JsonValue, index) => strip(item, itemsOf(schemas, index), at(index)));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const all = schemas.flatMap((schema) => alternatives(schema, root));
    const before = value as JsonObject;
    const kept = new Map<string, JsonValue>();
    let changed = false;
    for (const [name, member] of Object.entries(before)) {
      const members = all.flatMap((schema) => own(schema.properties, name) ?? []);
      if (member === null && members.length > 0 && !requires(all, name) && !members.some((schema) => takesNull(schema, root))) {
        dropped(at(name));
        changed = true;
        continue;
      }
      const after = strip(member, members.filter(isJsonObject), at(name));
      changed ||= after !== member;
      kept.set(name, after);
    }
    return changed ? Object.fromEntries(kept) : value;
  }

  function itemsOf(schemas: readonly JsonObject[], index: number): JsonObject[] {
    return schemas
      .flatMap((schema) => alternatives(schema, root))
      .flatMap((schema) =>
        Array.isArray(schema.prefixItems) && index < schema.prefixItems.length ? [schema.prefixItems[index] as JsonValue] : [schema.items ?? null],
      )
      .filter(isJsonObject);
  }
}

/** A schema with what it refers to and is made of, so that a property is found wherever it is declared. */
export function alternatives(schema: JsonObject, root: JsonObject): JsonObject[] {
  const found = new Set<JsonObject>();
  const walk = (one: JsonValue | undefined, left: number): void => {
    if (!isJsonObject(one) || found.has(one) || left === 0) return;
    found.add(one);
    if (typeof one.$ref === 'string') walk(resolve(one.$ref, root), left - 1);
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
      const list = one[keyword];
      if (Array.isArray(list)) for (const item of list as readonly JsonValue[]) walk(item, left - 1);
    }
  };
  walk(schema, mostReferences);
  return [...found];
}

function requires(schemas: readonly JsonObject[], name: string): boolean {
  return schemas.some(({ required }) => Array.isArray(required) && required.includes(name));
}

/** Whether null is a value of its own there. A schema that says nothing takes anything. */
export function takesNull(schema: JsonValue, root: JsonObject): boolean {
  if (!isJsonObject(schema)) return schema !== false;
  let constrained = false;
  for (const one of alternatives(schema, root)) {
    const { type, enum: values, const: constant } = one;
    if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return true;
    if (Array.isArray(values) && values.includes(null)) return true;
    if (Object.hasOwn(one, 'const') && constant === null) return true;
    constrained ||= type !== undefined || values !== undefined || Object.hasOwn(one, 'const') || one.properties !== undefined;
  }
  return !constrained;
}

function own(object: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** What a local reference leads to: `#`, or a JSON pointer behind it. */
export function resolve(reference: string, root: JsonObject): JsonValue | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const segment of reference.slice(2).split('/')) {
    const key = decode(segment);
    if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(key)];
    else at = own(at, key);
  }
  return at;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return segment;
  }
}
