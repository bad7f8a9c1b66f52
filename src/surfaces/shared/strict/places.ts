/** One place of a schema in a strict mode. Its keywords decide which part converts it. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { canonicalJson, isJsonObject } from '../../../values/json/index.ts';
import { followReference, pointerOf } from '../../../values/schema/local-reference.ts';
import { mergedParts } from '../merged-parts.ts';
import {
  annotations,
  dropKeyword,
  silent,
  toNullable,
  typesOf,
  withConstraints,
} from './constraints.ts';
import { lose, refuse, type StrictConversion } from './conversion.ts';
import { convertObject } from './objects.ts';
import { convertUnion } from './unions.ts';

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

// `enum` and `const` in a strict mode: plain values with their types.

/**
 * @param keywords The keywords of the schema, without annotations and those that move elsewhere.
 */
function convertValues(
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

/** Arrays in a strict mode: all items have one schema. */
const handled = ['items', 'prefixItems', 'unevaluatedItems'];

function convertArray(
  conversion: StrictConversion,
  schema: JsonObject,
  words: JsonObject,
  path: string,
): JsonObject {
  const { prefixItems, items, maxItems } = schema;
  if (Array.isArray(items)) return refuse(conversion, path, '`items` lists the places of a tuple');
  const isTuple = Array.isArray(prefixItems);
  const taken = isTuple
    ? anyPlace(conversion, prefixItems, items, path)
    : conversion.convert(items, `${path}/items`);
  const bounded: JsonObject =
    isTuple && items === false && maxItems === undefined
      ? { ...schema, maxItems: prefixItems.length }
      : schema;
  const made = { ...words, type: 'array', items: taken };
  return withConstraints(conversion, bounded, made, 'array', path, handled);
}

/** A schema that accepts the item at any place of a tuple. */
function anyPlace(
  conversion: StrictConversion,
  prefixItems: readonly JsonValue[],
  items: JsonValue | undefined,
  path: string,
): JsonObject {
  lose(conversion, `${path}/prefixItems`, 'Each place takes what any of them takes.');
  const places = prefixItems.map((place, index) =>
    conversion.convert(place, `${path}/prefixItems/${index}`),
  );
  if (isJsonObject(items)) places.push(conversion.convert(items, `${path}/items`));
  const distinct = [...new Map(places.map((place) => [canonicalJson(place), place])).values()];
  return distinct.length === 1 ? (distinct[0] as JsonObject) : { anyOf: distinct };
}

// References in a strict mode: their targets become definitions at the root.

/** Returns the reference to use instead: `#`, or a name in `$defs`. */
function refer(
  conversion: StrictConversion,
  reference: string,
  holder: JsonObject,
  path: string,
): string {
  const { definitions, document, names, open, rules } = conversion;
  const target = followReference(reference, holder, document);
  if (!isJsonObject(target)) {
    refuse(conversion, path, `\`${reference}\` leads to no schema in this one`);
    return reference;
  }
  if (!rules.recursion && open.has(target)) {
    refuse(conversion, path, 'the schema refers to itself');
    return reference;
  }
  if (target === document) return '#';
  const known = names.get(target);
  if (known !== undefined) return `#/$defs/${known}`;
  const name = freeName(reference, definitions);
  // Named before it is converted, so that it can refer to itself, and in the order of first use.
  names.set(target, name);
  definitions.set(name, {});
  open.add(target);
  definitions.set(name, conversion.convert(target, pointerOf(target, document) ?? path));
  open.delete(target);
  return `#/$defs/${name}`;
}

function freeName(reference: string, taken: ReadonlyMap<string, unknown>): string {
  const base =
    (reference.split(/[/#]/).at(-1) ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'definition';
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  return name;
}
