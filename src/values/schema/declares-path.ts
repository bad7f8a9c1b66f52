/** Whether a JSON Schema declares a member, so that a value of it is read and not dropped. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';

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
