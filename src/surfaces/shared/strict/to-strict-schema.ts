/** Strict mode: the subset of JSON Schema to which a provider can restrict its model. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { ConvertedSchema } from '../listing.ts';
import { toObjectRoot } from '../object-root.ts';
import { maxWork, openConversion } from './conversion.ts';
import { convertPlace } from './places.ts';
import type { StrictLimits, StrictRules } from './rules.ts';

/**
 * The schema in a strict mode. Every object is closed. If the rules demand that every property is
 * required, optional properties accept null instead. References are kept, and other keywords are
 * removed, with a loss for each place. If the subset cannot express what the tool accepts, the
 * result is the plain schema and `strict` is false.
 */
export function toStrictSchema(schema: JsonObject, rules: StrictRules): ConvertedSchema {
  const root = toObjectRoot(schema);
  if (root.losses.length > 0)
    return loose(root, rules, 'the root of its input is made of alternatives');
  const conversion = openConversion(schema, rules, convertPlace);
  const { definitions, losses, refusals } = conversion;
  const converted = conversion.convert(root.schema, '');
  if (!conversion.spend(0))
    return loose(
      root,
      rules,
      `it has more than ${maxWork} places, keywords and values, counted wherever they are ` +
        'repeated',
    );
  const [refusal] = refusals;
  if (refusal !== undefined) return loose(root, rules, refusal.message, refusal.path);
  const made: JsonObject =
    definitions.size === 0 ? converted : { ...converted, $defs: Object.fromEntries(definitions) };
  const large = beyondLimits(made, rules.limits);
  if (large !== undefined) return loose(root, rules, large);
  return { schema: made, losses, nullable: conversion.nullable, strict: true };
}

/**
 * Returns the plain schema. Calls are still validated; only the model is not restricted to the
 * schema.
 */
function loose(
  root: ConvertedSchema,
  { mode }: StrictRules,
  why: string,
  path = '',
): ConvertedSchema {
  const message = `Shown without ${mode}, which cannot say it: ${why}.`;
  return { ...root, losses: [...root.losses, { path, message }], strict: false };
}

// The size of a strict schema. A provider refuses a request in which one schema is too large.

/** Of an enumeration with more values than this, a provider counts the characters. */
const longEnum = 250;

/**
 * Describes what is too large; undefined for a schema within the limits. Only for schemas that
 * {@link toStrictSchema} made.
 */
function beyondLimits(schema: JsonObject, limits: StrictLimits): string | undefined {
  const size = { depth: 0, properties: 0, enumValues: 0, characters: 0, longEnumCharacters: 0 };
  measure(schema, 0);
  for (const [what, of] of [
    ['depth', 'levels of objects and arrays'],
    ['properties', 'properties'],
    ['enumValues', 'enumerated values'],
    ['characters', 'characters in names and enumerated texts'],
    ['longEnumCharacters', 'characters in one enumeration'],
  ] as const)
    if (size[what] > limits[what])
      return `it has ${size[what]} ${of}, of which ${limits[what]} are allowed`;
  return undefined;

  function measure(schema: JsonValue | undefined, depth: number): void {
    if (!isJsonObject(schema)) return;
    // Own members only: an `items` on `Object.prototype` would contain itself without end.
    const value: JsonObject = Object.assign(Object.create(null), schema);
    const deeper = value.properties === undefined && value.items === undefined ? depth : depth + 1;
    size.depth = Math.max(size.depth, deeper);
    if (isJsonObject(value.properties)) {
      for (const [name, property] of Object.entries(value.properties)) {
        size.properties++;
        size.characters += name.length;
        measure(property, deeper);
      }
    }
    measure(value.items, deeper);
    if (Array.isArray(value.anyOf))
      for (const one of value.anyOf as readonly JsonValue[]) measure(one, depth);
    if (isJsonObject(value.$defs)) {
      for (const [name, definition] of Object.entries(value.$defs)) {
        size.characters += name.length;
        measure(definition, 0);
      }
    }
    countValues(value);
  }

  function countValues({ enum: values, const: constant }: JsonObject): void {
    const list: readonly JsonValue[] = Array.isArray(values)
      ? values
      : constant === undefined
        ? []
        : [constant];
    const characters = list.reduce<number>(
      (sum, one) => sum + (typeof one === 'string' ? one.length : 0),
      0,
    );
    size.enumValues += list.length;
    size.characters += characters;
    if (list.length > longEnum)
      size.longEnumCharacters = Math.max(size.longEnumCharacters, characters);
  }
}
