/** `enum` and `const` in a strict mode: plain values with their types. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { dropKeyword } from './constraints.ts';
import { refuse, type StrictConversion } from './conversion.ts';
import { typesOf } from './nullable.ts';

/**
 * @param keywords The keywords of the schema, without annotations and those that move elsewhere.
 */
export function convertValues(
  conversion: StrictConversion,
  schema: JsonObject,
  keywords: readonly string[],
  words: JsonObject,
  path: string,
): JsonObject {
  const constant = Object.hasOwn(schema, 'const') ? (schema.const as JsonValue) : undefined;
  const listed = Array.isArray(schema.enum) ? (schema.enum as readonly JsonValue[]) : undefined;
  if (!conversion.spend(listed?.length ?? 1))
    return refuse(conversion, path, 'it has too many values');
  const types = typesOf(schema);
  const values = (listed ?? [constant as JsonValue]).filter(
    (one) => (constant === undefined || one === constant) && hasType(one, types),
  );
  if (values.length === 0 || values.some((one) => typeof one === 'object' && one !== null))
    return refuse(conversion, path, 'its values are not plain texts, numbers, booleans and null');
  const kinds = [...new Set(values.map((one) => (one === null ? 'null' : typeof one)))];
  const type: JsonValue = kinds.length === 1 ? (kinds[0] as string) : kinds;
  for (const keyword of keywords)
    if (keyword !== 'enum' && keyword !== 'const') dropKeyword(conversion, schema, keyword, path);
  return { ...words, type, enum: values };
}

function hasType(value: JsonValue, types: readonly string[]): boolean {
  if (types.length === 0) return true;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return (
    types.includes(type) ||
    (type === 'number' && types.includes('integer') && Number.isInteger(value))
  );
}
