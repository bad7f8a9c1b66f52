/**
 * Input schemas in the Gemini API's own subset of OpenAPI, for `parameters`. Older models and
 * gateways take nothing else.
 */
import type { JsonObject, JsonValue } from '../../core.ts';
import { escapePointer, isJsonObject } from '../../values/json/index.ts';
import { followReference } from '../../values/schema/local-reference.ts';
import type { ConvertedSchema, SchemaLoss } from '../shared/listing.ts';
import { isWord, mergedParts } from '../shared/merged-parts.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { typesOf } from '../shared/strict/constraints.ts';
import { convertKeywords, typesOfValues, valuesOf } from './api-keywords.ts';

/** The formats that the API takes for each type. */
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** The types that can represent "anything", best first. */
const shownForAnything = [
  ['string', 'a text'],
  ['number', 'a number'],
  ['object', 'an object'],
  ['boolean', 'a boolean'],
] as const;

/** A reference inside a referenced schema doubles the schema, so the result needs a limit. */
const maxSchemas = 5_000;

/** One conversion: the whole schema, the losses so far, and how many more schemas it may create. */
interface Conversion {
  readonly schema: JsonObject;
  readonly losses: SchemaLoss[];
  left: number;
}

/** A schema that is being converted, and the referenced schemas that contain it. */
interface At {
  readonly path: string;
  readonly within: readonly JsonValue[];
}

/**
 * Returns the schema with upper-case types, `nullable`, texts for enumerations and no references. A
 * reference is replaced by the schema that it names; one that would never end is replaced by an
 * object of any kind.
 */
export function toGeminiApiSchema(schema: JsonObject): ConvertedSchema {
  const root = toObjectRoot(schema);
  const conversion: Conversion = { schema, losses: [...root.losses], left: maxSchemas };
  return {
    schema: convert(conversion, root.schema, { path: '', within: [] }),
    losses: conversion.losses,
  };
}

function lose({ losses }: Conversion, path: string, message: string): void {
  losses.push({ path, message });
}

function convert(conversion: Conversion, value: JsonValue | undefined, at: At): JsonObject {
  const { path } = at;
  conversion.left -= 1;
  if (conversion.left === 0)
    lose(
      conversion,
      path,
      'The schema is too large once its references are replaced. From here on only texts are ' +
        'shown.',
    );
  if (conversion.left <= 0) return { type: 'STRING' };
  if (!isJsonObject(value)) return anything(conversion, path, undefined);
  if (typeof value.$ref === 'string') return follow(conversion, value, at);
  if (value.allOf !== undefined) {
    const merged = mergedParts(value, conversion.schema);
    if (merged !== undefined) return convert(conversion, merged, at);
    lose(conversion, `${path}/allOf`, '`allOf` was removed. Calls are still checked against it.');
  }
  const made = convertKeywords(value, path, (where, message) => lose(conversion, where, message));
  return convertShape(conversion, value, made, at);
}

/** The schema with its type, its types or its alternatives. */
function convertShape(
  conversion: Conversion,
  value: JsonObject,
  made: JsonObject,
  at: At,
): JsonObject {
  const types = [...new Set([...typesOf(value), ...typesOfValues(value)])];
  const nullable = types.includes('null') || value.nullable === true ? { nullable: true } : {};
  const union = (['anyOf', 'oneOf'] as const).find((keyword) => Array.isArray(value[keyword]));
  if (union !== undefined)
    return { ...made, ...nullable, ...convertUnion(conversion, value, union, at) };
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (type === undefined)
    return types.length > 0
      ? { ...made, type: 'NULL' }
      : { ...made, ...anything(conversion, at.path, value.not) };
  if (others.length === 0)
    return { ...made, ...nullable, ...convertType(conversion, value, type, at) };
  return {
    ...made,
    ...nullable,
    anyOf: [type, ...others].map((each) =>
      convertType(conversion, { ...value, type: each }, each, at),
    ),
  };
}

function convertType(conversion: Conversion, value: JsonObject, type: string, at: At): JsonObject {
  const { path, within } = at;
  const made: Record<string, JsonValue> = { type: type.toUpperCase() };
  if (typeof value.format === 'string') {
    if (formats[type]?.includes(value.format)) made.format = value.format;
    else
      lose(
        conversion,
        `${path}/format`,
        `\`format\` ${JSON.stringify(value.format)} was removed, because the API does not take ` +
          'it. Calls are still checked against it.',
      );
  }
  const values = valuesOf(value)?.filter((each) => each !== null);
  if (values !== undefined && type === 'string')
    made.enum = values.filter((each) => typeof each === 'string');
  else if (values !== undefined)
    lose(
      conversion,
      `${path}/enum`,
      'The API can only enumerate texts, so the values ' +
        `${JSON.stringify(values).slice(0, 200)} are not shown. Calls are still checked ` +
        'against them.',
    );
  if (type === 'array') {
    const items = { path: `${path}/items`, within };
    made.items = Array.isArray(value.items)
      ? anything(conversion, items.path, undefined)
      : convert(conversion, value.items, items);
  }
  return type === 'object' ? { ...made, ...convertProperties(conversion, value, at) } : made;
}

function convertProperties(
  conversion: Conversion,
  value: JsonObject,
  { path, within }: At,
): JsonObject {
  const { properties, required } = value;
  if (!isJsonObject(properties)) return {};
  const names = Array.isArray(required)
    ? (required as readonly JsonValue[]).filter((name) => Object.hasOwn(properties, String(name)))
    : [];
  return {
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [
        name,
        convert(conversion, each, { path: `${path}/properties/${escapePointer(name)}`, within }),
      ]),
    ),
    ...(names.length > 0 ? { required: names } : {}),
  };
}

function convertUnion(
  conversion: Conversion,
  value: JsonObject,
  keyword: 'anyOf' | 'oneOf',
  { path, within }: At,
): JsonObject {
  const list = value[keyword] as readonly JsonValue[];
  if (keyword === 'oneOf')
    lose(
      conversion,
      `${path}/oneOf`,
      '`oneOf` is shown as `anyOf`. Calls are still checked for exactly one alternative.',
    );
  const branches = list
    .map((branch, index) => ({ branch, at: { path: `${path}/${keyword}/${index}`, within } }))
    .filter(({ branch }) => !(isJsonObject(branch) && branch.type === 'null'));
  const nullable = branches.length < list.length ? { nullable: true } : {};
  const [first] = branches;
  if (first !== undefined && branches.length === 1)
    return { ...convert(conversion, first.branch, first.at), ...nullable };
  return { ...nullable, anyOf: branches.map(({ branch, at }) => convert(conversion, branch, at)) };
}

function follow(conversion: Conversion, value: JsonObject, { path, within }: At): JsonObject {
  const { schema } = conversion;
  const { $ref, ...beside } = value;
  const reference = String($ref);
  const target = followReference(reference, value, schema);
  const words = Object.fromEntries(
    Object.entries(beside).filter(([keyword]) => keyword === 'title' || keyword === 'description'),
  );
  if (target === undefined || target === schema || within.includes(target)) {
    lose(
      conversion,
      path,
      `\`${reference}\` would never end, so any object is shown in its place. Calls are still ` +
        'checked against it.',
    );
    return { ...words, type: 'OBJECT' };
  }
  return { ...convert(conversion, target, { path, within: [...within, target] }), ...words };
}

/** The API requires a type. It is a string, unless the schema does not accept strings. */
function anything(
  conversion: Conversion,
  path: string,
  refused: JsonValue | undefined,
): JsonObject {
  const out =
    isJsonObject(refused) &&
    Object.keys(refused).every((keyword) => keyword === 'type' || isWord(keyword))
      ? typesOf(refused)
      : [];
  const [type = 'string', what] = shownForAnything.find(([one]) => !out.includes(one)) ?? [];
  lose(
    conversion,
    path,
    `The tool takes anything here${out.length === 0 ? '' : ` but ${out.join(' and ')}`}, which ` +
      `the API's schemas cannot say. ${what === undefined ? 'A text' : capital(what)} is shown.`,
  );
  return { type: type.toUpperCase() };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
