/** Objects in a strict mode: closed, and with every property required if the rules demand it. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { escapePointer, isJsonObject } from '../../../values/json/index.ts';
import { toNullable, withConstraints } from './constraints.ts';
import { lose, refuse, type StrictConversion } from './conversion.ts';

const handled = [
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'unevaluatedProperties',
];

export function convertObject(
  conversion: StrictConversion,
  schema: JsonObject,
  words: JsonObject,
  path: string,
): JsonObject {
  const { allRequired } = conversion.rules;
  const declared = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const openness = opennessOf(schema, declared.length === 0);
  if (openness !== undefined) return refuse(conversion, path, openness);
  if (allowsAnyName(schema))
    lose(
      conversion,
      `${path}/additionalProperties`,
      'Closed: no properties but those that are named can be given.',
    );
  const required = new Set<JsonValue>(
    Array.isArray(schema.required) ? (schema.required as readonly JsonValue[]) : [],
  );
  const properties = declared.map(([name, property]): [string, JsonObject] => {
    const at = `${path}/properties/${escapePointer(name)}`;
    const made = conversion.convert(property, at);
    const always = required.delete(name) || !allRequired;
    return [name, always ? made : optionalAsNull(conversion, property, made, at)];
  });
  if (required.size > 0)
    return refuse(
      conversion,
      path,
      `\`${String([...required][0])}\` is required and has no schema`,
    );
  const made: JsonObject = {
    ...words,
    type: 'object',
    properties: Object.fromEntries(properties),
    required: allRequired ? declared.map(([name]) => name) : (schema.required ?? []),
    additionalProperties: false,
  };
  return withConstraints(conversion, schema, made, undefined, path, handled);
}

/**
 * Whether properties of any name are allowed. Strict modes close such an object, which is a loss.
 */
function allowsAnyName({ additionalProperties: additional }: JsonObject): boolean {
  return additional === true || (isJsonObject(additional) && Object.keys(additional).length === 0);
}

/** Why an object cannot be closed; undefined if it can. */
function opennessOf(schema: JsonObject, empty: boolean): string | undefined {
  const { additionalProperties: additional, patternProperties, properties } = schema;
  const anyName = allowsAnyName(schema);
  if (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0)
    return 'names of properties are open (`patternProperties`)';
  if (additional !== undefined && additional !== false && !anyName)
    return 'names of properties are open (`additionalProperties`)';
  return empty && additional !== false && (anyName || properties === undefined)
    ? 'any properties are allowed here'
    : undefined;
}

/** An optional property takes null for "left out", unless null is one of its own values. */
function optionalAsNull(
  conversion: StrictConversion,
  property: JsonValue,
  made: JsonObject,
  path: string,
): JsonObject {
  if (!conversion.takesNull(property)) {
    conversion.nullable = true;
    return toNullable(made);
  }
  if (
    Array.isArray(made.type)
      ? !made.type.includes('null')
      : typeof made.type === 'string' && made.type !== 'null'
  )
    return refuse(conversion, path, 'it is optional, and can neither be left out nor be null');
  lose(
    conversion,
    path,
    'It is always given: null is one of its values, so null cannot mean that it is left out.',
  );
  return made;
}
