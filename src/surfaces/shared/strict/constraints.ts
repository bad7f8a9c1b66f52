/**
 * Keywords that constrain a value. They are kept if the mode accepts them, and otherwise described
 * in words.
 */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { escapePointer } from '../../../values/json/index.ts';
import { lose, type StrictConversion } from './conversion.ts';
import type { StrictRules } from './rules.ts';

/** Keywords for a reader, which constrain no value. */
export const annotations: readonly string[] = ['title', 'description'];
/**
 * Keywords that are left out without a loss. They name the dialect, or hold definitions that move
 * to the root.
 */
export const silent: readonly string[] = [
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'type',
];
/** Longest constraint, in characters, that is added to the description. */
const longestNote = 200;

/**
 * Adds the constraints that the mode takes, and removes the others. Short ones that were removed
 * are added to the description.
 * @param handled Keywords that the caller has converted.
 */
export function withConstraints(
  conversion: StrictConversion,
  schema: JsonObject,
  made: JsonObject,
  kind: keyof StrictRules['keywords'] | undefined,
  path: string,
  handled: readonly string[] = [],
): JsonObject {
  const { rules } = conversion;
  const kept: Record<string, JsonValue> = {};
  const notes: string[] = [];
  const types = typesOf(schema);
  const several = types.filter((one) => one !== 'null').length > 1;
  for (const [keyword, constraint] of Object.entries(schema)) {
    if (annotations.includes(keyword) || silent.includes(keyword) || handled.includes(keyword))
      continue;
    if (
      kind !== undefined &&
      rules.keywords[kind].includes(keyword) &&
      takes(rules, keyword, constraint)
    )
      kept[keyword] = constraint;
    // Each of several types ignores the others' keywords; only the first reports the loss.
    else if (!several || types[0] === made.type) {
      dropKeyword(conversion, schema, keyword, path);
      if (typeof constraint !== 'object' && String(constraint).length <= longestNote)
        notes.push(`${keyword}: ${String(constraint)}`);
    }
  }
  if (notes.length === 0) return { ...made, ...kept };
  const described = typeof made.description === 'string' ? `${made.description} ` : '';
  return { ...made, ...kept, description: `${described}(${notes.join(', ')})` };
}

function takes(rules: StrictRules, keyword: string, constraint: JsonValue): boolean {
  if (keyword === 'format') return rules.formats.includes(String(constraint));
  if (keyword === 'pattern') return isLinearPattern(String(constraint));
  return (
    typeof constraint === 'number' && (keyword !== 'minItems' || constraint <= rules.maxMinItems)
  );
}

/** Notes that a keyword was removed. */
export function dropKeyword(
  conversion: StrictConversion,
  schema: JsonObject,
  keyword: string,
  path: string,
): void {
  const value =
    keyword === 'format' || keyword === 'pattern' ? ` ${JSON.stringify(schema[keyword])}` : '';
  lose(
    conversion,
    `${path}/${escapePointer(keyword)}`,
    `\`${keyword}\`${value} was removed: ${conversion.rules.mode} does not take it. Calls are ` +
      'still checked against it.',
  );
}

/** A pattern without lookaround, back references and word boundaries. */
function isLinearPattern(pattern: string): boolean {
  return !/\(\?(?:[=!]|<[=!])|\\[1-9bBk]/.test(pattern);
}

// The types of a value, and null among them.

/**
 * The types that a schema names, each once; without them, the type that its keywords imply. Empty
 * if there are none of either.
 */
export function typesOf({ type, properties }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type))
    return [...new Set((type as readonly JsonValue[]).filter((one) => typeof one === 'string'))];
  return properties === undefined ? [] : ['object'];
}

/** Returns a schema that also accepts null. */
export function toNullable(schema: JsonObject): JsonObject {
  const { title, description, ...rest } = schema;
  if (Array.isArray(rest.anyOf))
    return (rest.anyOf as readonly JsonValue[]).some(isNull)
      ? schema
      : { ...schema, anyOf: [...(rest.anyOf as readonly JsonValue[]), { type: 'null' }] };
  const types: readonly JsonValue[] =
    typeof rest.type === 'string' ? [rest.type] : Array.isArray(rest.type) ? rest.type : [];
  if (types.includes('null')) return schema;
  if (types.length > 0 && !types.includes('object')) {
    const values = Array.isArray(rest.enum)
      ? { enum: [...(rest.enum as readonly JsonValue[]), null] }
      : {};
    return { ...schema, type: [...types, 'null'], ...values };
  }
  // The title and description stay outside, where they describe the property and not one of its
  // alternatives.
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [rest, { type: 'null' }],
  };
}

function isNull(schema: JsonValue): boolean {
  return (schema as JsonObject).type === 'null';
}
