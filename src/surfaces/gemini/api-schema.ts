/**
 * Input schemas in the Gemini API's own subset, for `parameters`: what older models and gateways
 * take.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { escapePointer, isJsonObject } from '../../json.ts';
import { followReference } from '../../schema/local-reference.ts';
import type { ConvertedSchema, SchemaLoss } from '../shared/listing.ts';
import { isWord, mergedParts } from '../shared/merged-parts.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { typesOf } from '../shared/strict/nullable.ts';

/** Keywords that go as they are, and those whose whole numbers the API writes as text. */
const plain = [
  'title',
  'description',
  'minimum',
  'maximum',
  'pattern',
  'default',
  'propertyOrdering',
];
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];
const handled = [
  'type',
  'properties',
  'required',
  'items',
  'anyOf',
  'oneOf',
  'enum',
  'const',
  'format',
  '$defs',
  'definitions',
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  'nullable',
];
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

const shownForAnything = [
  ['string', 'a text'],
  ['number', 'a number'],
  ['object', 'an object'],
  ['boolean', 'a boolean'],
] as const;

/** References within references double what they stand for. */
const mostSchemas = 5_000;

/**
 * The schema with upper-case types, `nullable`, texts for enumerations and no references: each is
 * replaced by what it means, and where it would go on for ever by an object of any kind.
 */
export function toGeminiApiSchema(schema: JsonObject): ConvertedSchema {
  const root = toObjectRoot(schema);
  const losses: SchemaLoss[] = [...root.losses];
  const lose = (path: string, message: string): void => void losses.push({ path, message });
  let left = mostSchemas;
  return { schema: convert(root.schema, '', []), losses };

  function convert(
    value: JsonValue | undefined,
    path: string,
    within: readonly JsonValue[],
  ): JsonObject {
    if (--left === 0)
      lose(
        path,
        'From here on texts are shown: with its references replaced the schema is too large.',
      );
    if (left <= 0) return { type: 'STRING' };
    if (!isJsonObject(value)) return anything(path, undefined);
    if (typeof value.$ref === 'string') return follow(value, path, within);
    if (value.allOf !== undefined) {
      const merged = mergedParts(value, schema);
      if (merged !== undefined) return convert(merged, path, within);
      lose(`${path}/allOf`, '`allOf` was removed. Calls are still checked against it.');
    }
    const made: Record<string, JsonValue> = {};
    for (const [keyword, inner] of Object.entries(value)) {
      if (plain.includes(keyword)) made[keyword] = inner;
      else if (counts.includes(keyword)) made[keyword] = String(inner);
      else if (keyword === 'additionalProperties' && inner === false) continue;
      else if (!handled.includes(keyword) && keyword !== 'allOf')
        lose(
          `${path}/${escapePointer(keyword)}`,
          `\`${keyword}\` was removed: the API's schemas have no such keyword. Calls are ` +
            'still checked against it.',
        );
    }
    const types = [...new Set([...typesOf(value), ...typesOfValues(value)])];
    const nullable = types.includes('null') || value.nullable === true ? { nullable: true } : {};
    const [type, ...others] = types.filter((each) => each !== 'null');
    const union = Array.isArray(value.anyOf)
      ? 'anyOf'
      : Array.isArray(value.oneOf)
        ? 'oneOf'
        : undefined;
    if (union !== undefined)
      return {
        ...made,
        ...nullable,
        ...convertUnion(value[union] as readonly JsonValue[], `${path}/${union}`, within),
      };
    if (type === undefined)
      return types.length > 0
        ? { ...made, type: 'NULL' }
        : { ...made, ...anything(path, value.not) };
    if (others.length > 0)
      return {
        ...made,
        ...nullable,
        anyOf: [type, ...others].map((each) =>
          convertType({ ...value, type: each }, each, path, within),
        ),
      };
    return { ...made, ...nullable, ...convertType(value, type, path, within) };
  }

  function convertType(
    value: JsonObject,
    type: string,
    path: string,
    within: readonly JsonValue[],
  ): JsonObject {
    const made: Record<string, JsonValue> = { type: type.toUpperCase() };
    if (typeof value.format === 'string') {
      if (formats[type]?.includes(value.format)) made.format = value.format;
      else
        lose(
          `${path}/format`,
          `\`format\` ${JSON.stringify(value.format)} was removed: the API does not take it. ` +
            'Calls are still checked against it.',
        );
    }
    const values = valuesOf(value)?.filter((each) => each !== null);
    if (values !== undefined) {
      if (type === 'string') made.enum = values.filter((each) => typeof each === 'string');
      else
        lose(
          `${path}/enum`,
          'Only texts can be enumerated; that it is one of ' +
            `${JSON.stringify(values).slice(0, 200)} is not said. Calls are still checked ` +
            'against it.',
        );
    }
    if (type === 'array')
      made.items = Array.isArray(value.items)
        ? anything(`${path}/items`, undefined)
        : convert(value.items, `${path}/items`, within);
    if (type === 'object' && isJsonObject(value.properties)) {
      made.properties = Object.fromEntries(
        Object.entries(value.properties).map(([name, each]) => [
          name,
          convert(each, `${path}/properties/${escapePointer(name)}`, within),
        ]),
      );
      const required = Array.isArray(value.required)
        ? (value.required as readonly JsonValue[]).filter((name) =>
            Object.hasOwn(value.properties as JsonObject, String(name)),
          )
        : [];
      if (required.length > 0) made.required = required;
    }
    return made;
  }

  function convertUnion(
    list: readonly JsonValue[],
    path: string,
    within: readonly JsonValue[],
  ): JsonObject {
    if (path.endsWith('/oneOf'))
      lose(path, 'Replaced by `anyOf`, which does not say that exactly one alternative holds.');
    const branches = list
      .map((branch, index) => ({ branch, at: `${path}/${index}` }))
      .filter(({ branch }) => !(isJsonObject(branch) && branch.type === 'null'));
    const nullable = branches.length < list.length ? { nullable: true } : {};
    const [first] = branches;
    if (first !== undefined && branches.length === 1)
      return { ...convert(first.branch, first.at, within), ...nullable };
    return { ...nullable, anyOf: branches.map(({ branch, at }) => convert(branch, at, within)) };
  }

  function follow(value: JsonObject, path: string, within: readonly JsonValue[]): JsonObject {
    const { $ref, ...beside } = value;
    const reference = String($ref);
    const target = followReference(reference, value, schema);
    const words = Object.fromEntries(
      Object.entries(beside).filter(
        ([keyword]) => keyword === 'title' || keyword === 'description',
      ),
    );
    if (target === undefined || target === schema || within.includes(target)) {
      lose(
        path,
        `\`${reference}\` was cut off here, where it goes on for ever: any object is shown. ` +
          'Calls are still checked against it.',
      );
      return { ...words, type: 'OBJECT' };
    }
    return { ...convert(target, path, [...within, target]), ...words };
  }

  /** One type has to be shown: a text, unless that is what the schema refuses. */
  function anything(path: string, refused: JsonValue | undefined): JsonObject {
    const out =
      isJsonObject(refused) &&
      Object.keys(refused).every((keyword) => keyword === 'type' || isWord(keyword))
        ? typesOf(refused)
        : [];
    const [type = 'string', what] = shownForAnything.find(([one]) => !out.includes(one)) ?? [];
    lose(
      path,
      `Anything is taken here${out.length === 0 ? '' : ` but ${out.join(' and ')}`}, which ` +
        `the API's schemas cannot say: ${what ?? 'a text'} is shown.`,
    );
    return { type: type.toUpperCase() };
  }
}

function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum as readonly JsonValue[];
  return Object.hasOwn(schema, 'const') ? [schema.const as JsonValue] : undefined;
}

/** Where no type is given, its values tell it. */
function typesOfValues(schema: JsonObject): readonly string[] {
  if (schema.type !== undefined) return [];
  return (valuesOf(schema) ?? []).map((value) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value,
  );
}
