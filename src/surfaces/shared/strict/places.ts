/** One place of a schema in a strict mode. Its keywords decide which part converts it. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { mergedParts } from '../merged-parts.ts';
import { convertArray } from './arrays.ts';
import { annotations, silent, withConstraints } from './constraints.ts';
import { refuse, type StrictConversion } from './conversion.ts';
import { toNullable, typesOf } from './nullable.ts';
import { convertObject } from './objects.ts';
import { refer } from './references.ts';
import { convertUnion } from './unions.ts';
import { convertValues } from './values.ts';

/** The deepest nesting of places, so that the conversion does not overflow the stack. */
const maxNested = 400;

/** Converts a place and everything below it. */
export function convertPlace(
  conversion: StrictConversion,
  schema: JsonValue | undefined,
  path: string,
): JsonObject {
  // After one refusal the result is never shown, so the rest is not converted.
  if (conversion.refusals.length > 0) return {};
  const steps = isJsonObject(schema) ? 1 + Object.keys(schema).length : 1;
  if (!conversion.spend(steps) || conversion.depth >= maxNested)
    return refuse(conversion, path, 'it is nested too deeply');
  conversion.depth++;
  const made = isJsonObject(schema)
    ? convertKeywords(conversion, schema, path)
    : refuse(conversion, path, schema === false ? 'no value is allowed here' : anyValue);
  conversion.depth--;
  return made;
}

const anyValue = 'any value is allowed here';

function convertKeywords(
  conversion: StrictConversion,
  schema: JsonObject,
  path: string,
): JsonObject {
  const words = wordsOf(schema);
  const keywords = Object.keys(schema).filter(
    (keyword) => !annotations.includes(keyword) && !silent.includes(keyword),
  );
  if (typeof schema.$ref === 'string') {
    if (keywords.length > 1 || schema.type !== undefined)
      return refuse(conversion, path, 'it combines a reference with other keywords');
    const reference: JsonObject = { $ref: refer(conversion, schema.$ref, schema, path) };
    return Object.keys(words).length === 0 ? reference : { ...words, anyOf: [reference] };
  }
  if (schema.allOf !== undefined) {
    const merged = mergedParts(schema, conversion.document, conversion.spend);
    return merged === undefined
      ? refuse(conversion, path, '`allOf` cannot be written in another way')
      : conversion.convert(merged, path);
  }
  if (schema.anyOf !== undefined || schema.oneOf !== undefined)
    return convertUnion(conversion, schema, keywords, words, path);
  if (schema.enum !== undefined || Object.hasOwn(schema, 'const'))
    return convertValues(conversion, schema, keywords, words, path);
  return convertTypes(conversion, schema, words, path);
}

function wordsOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    annotations.flatMap((keyword) =>
      schema[keyword] === undefined ? [] : [[keyword, schema[keyword] as JsonValue]],
    ),
  );
}

/**
 * Converts a schema that names its types. Each type becomes an alternative of its own, and null can
 * be added to any of them.
 */
function convertTypes(
  conversion: StrictConversion,
  schema: JsonObject,
  words: JsonObject,
  path: string,
): JsonObject {
  const types = typesOf(schema);
  const [type, second] = types.filter((one) => one !== 'null');
  if (type === undefined)
    return types.length > 0
      ? { ...words, type: 'null' }
      : refuse(conversion, path, `it has no type, so ${anyValue}`);
  if (second !== undefined)
    return { ...words, anyOf: types.map((one) => convertType(conversion, schema, one, {}, path)) };
  const one = convertType(conversion, schema, type, words, path);
  return types.includes('null') ? toNullable(one) : one;
}

function convertType(
  conversion: StrictConversion,
  schema: JsonObject,
  type: string,
  words: JsonObject,
  path: string,
): JsonObject {
  switch (type) {
    case 'object':
      return convertObject(conversion, schema, words, path);
    case 'array':
      return convertArray(conversion, schema, words, path);
    case 'string':
      return withConstraints(conversion, schema, { ...words, type }, 'string', path);
    case 'number':
    case 'integer':
      return withConstraints(conversion, schema, { ...words, type }, 'number', path);
    default:
      return withConstraints(conversion, schema, { ...words, type }, undefined, path);
  }
}
