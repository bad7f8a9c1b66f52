/**
 * Output schemas as clients are shown them. A client refuses the result of a call that has run if
 * its own check of the schema differs from the gate. So only keywords are shown that no client
 * reads more narrowly.
 */
import type { JsonObject, JsonValue } from '../../core.ts';
import { define, isJsonObject } from '../../values/json/index.ts';
import { type Dialect, dialectOf, isLoneReference } from '../../values/schema/dialect.ts';
import { followReference, pointerOf } from '../../values/schema/local-reference.ts';
import { isConverted } from '../../values/schema/to-json-schema.ts';

/** Keywords that no client reads in another way. */
const plain = new Set([
  ...['title', 'description', '$comment', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType', 'type', 'const'],
]);
/**
 * Keywords that mean what the gate checks only if the gate itself goes by the schema. A library may
 * count characters otherwise, or change a value after it has checked it.
 */
const limits = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);

/** One conversion. */
interface Shown {
  readonly document: JsonObject;
  readonly dialect: Dialect;
  /** Another library checks the outputs, and has converted its schema. */
  readonly isConverted: boolean;
  /** Where the document itself is in the result. */
  readonly root: string;
  readonly names: Map<JsonObject, string>;
  readonly definitions: Map<string, JsonObject>;
}

/**
 * The output schema for a protocol that requires an object. The schema of any other output is
 * wrapped, as the output is. Any output that passes the gate fits the result, whichever draft a
 * client reads it as: it has no `$schema`, no `$id`, and references only to `$defs` and the root.
 */
export function shownOutputSchema(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const isObject = schema.type === 'object' || isOfObjects(schema);
  const shown: Shown = {
    document: schema,
    dialect: dialectOf(schema),
    isConverted: isConverted(schema),
    root: isObject ? '#' : '#/properties/result',
    names: new Map(),
    definitions: new Map(),
  };
  const converted = convert(shown, schema);
  const made: JsonObject = isObject
    ? { ...converted, type: 'object' }
    : { type: 'object', properties: { result: converted }, required: ['result'] };
  return shown.definitions.size === 0
    ? made
    : { ...made, $defs: Object.fromEntries(shown.definitions) };
}

function convert(shown: Shown, schema: JsonValue | undefined): JsonObject {
  // Some clients accept only objects as the schemas of properties.
  if (!isJsonObject(schema)) return schema === false ? { not: {} } : {};
  const made: Record<string, JsonValue> = {};
  const lone = isLoneReference(schema, shown.dialect);
  for (const [keyword, value] of Object.entries(schema)) {
    if (lone && keyword !== '$ref') continue;
    for (const [name, inner] of kept(shown, schema, keyword, value)) define(made, name, inner);
  }
  const { oneOf, anyOf } = schema;
  // One place is not enough for two lists of alternatives.
  if (!lone && Array.isArray(oneOf) && Array.isArray(anyOf))
    made.allOf = [...((made.allOf ?? []) as JsonValue[]), { anyOf: all(shown, oneOf) }];
  return made;
}

/** What remains of a keyword. */
function kept(
  shown: Shown,
  schema: JsonObject,
  keyword: string,
  value: JsonValue,
): readonly (readonly [keyword: string, value: JsonValue])[] {
  if (plain.has(keyword) || keyword.startsWith('x-')) return [[keyword, value]];
  if (limits.has(keyword)) return shown.isConverted ? [] : [[keyword, value]];
  switch (keyword) {
    case 'enum':
      return Array.isArray(value) && value.length > 0 ? [[keyword, value]] : [];
    case 'required':
      return [[keyword, requiredOf(shown, schema, value)]];
    case 'properties':
      return [[keyword, members(shown, value)]];
    case 'additionalProperties':
      return closing(shown, schema, value);
    case 'prefixItems':
      return [[keyword, all(shown, value)]];
    case 'items':
      if (Array.isArray(value)) return [['prefixItems', all(shown, value)]];
      // Without `prefixItems`, which draft-07 does not have, it would apply to all items.
      if (schema.prefixItems !== undefined) return [];
      return [[keyword, typeof value === 'boolean' ? value : convert(shown, value)]];
    case 'allOf':
      return [[keyword, all(shown, value)]];
    case 'anyOf':
      return [[keyword, all(shown, value)]];
    case 'oneOf':
      return schema.anyOf === undefined ? [['anyOf', all(shown, value)]] : [];
    case '$ref':
      return refer(shown, schema, String(value));
    default:
      return [];
  }
}

function all(shown: Shown, schemas: JsonValue): JsonObject[] {
  return (schemas as readonly JsonValue[]).map((one) => convert(shown, one));
}

/** Names that every object inherits, so that some clients check what is inherited. */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype));

function members(shown: Shown, properties: JsonValue): JsonObject {
  return Object.fromEntries(
    Object.entries(properties as JsonObject).map(([name, one]) => [
      name,
      inherited.has(name) ? {} : convert(shown, one),
    ]),
  );
}

function closing(
  shown: Shown,
  schema: JsonObject,
  value: JsonValue,
): readonly (readonly [keyword: string, value: JsonValue])[] {
  // Patterns are not shown, so nothing can be said about names that match none of them.
  if (schema.patternProperties !== undefined) return [];
  // In an intersection, libraries keep members of objects that they say are closed.
  if (shown.isConverted && value === false) return [];
  return [['additionalProperties', typeof value === 'boolean' ? value : convert(shown, value)]];
}

/**
 * A library's schema for undefined says nothing, and a member that is undefined is left out. The
 * members of a record have no schemas of their own.
 */
function requiredOf(shown: Shown, { properties = {} }: JsonObject, names: JsonValue): JsonValue {
  if (!shown.isConverted || !isJsonObject(properties)) return names;
  return (names as readonly string[]).filter(
    (name) => Object.hasOwn(properties, name) && !mayBeAbsent(shown, properties[name]),
  );
}

function mayBeAbsent(shown: Shown, schema: JsonValue | undefined, left = 20): boolean {
  if (!isJsonObject(schema) || left === 0) return true;
  const { type, $ref, anyOf, oneOf } = schema;
  if (type !== undefined || schema.enum !== undefined || Object.hasOwn(schema, 'const'))
    return false;
  if (typeof $ref === 'string')
    return mayBeAbsent(shown, followReference($ref, schema, shown.document), left - 1);
  const branches = anyOf ?? oneOf ?? schema.allOf;
  if (!Array.isArray(branches)) return true;
  const may = (one: JsonValue): boolean => mayBeAbsent(shown, one, left - 1);
  return (anyOf ?? oneOf) === undefined ? branches.every(may) : branches.some(may);
}

function refer(
  shown: Shown,
  holder: JsonObject,
  reference: string,
): readonly (readonly [keyword: string, value: JsonValue])[] {
  const { document, names, definitions, root } = shown;
  const target = followReference(reference, holder, document);
  if (!isJsonObject(target)) return [];
  if (target === document) return [['$ref', root]];
  let name = names.get(target);
  if (name === undefined) {
    name = freeName(pointerOf(target, document) ?? '', definitions);
    // Named before it is converted, so that it can refer to itself.
    names.set(target, name);
    definitions.set(name, {});
    definitions.set(name, convert(shown, target));
  }
  return [['$ref', `#/$defs/${name}`]];
}

function freeName(pointer: string, taken: ReadonlyMap<string, unknown>): string {
  const last = pointer.split('/').at(-1) ?? '';
  const base = last.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'definition';
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  return name;
}

const ofObjects = new WeakMap<JsonObject, boolean>();
/** The most references and alternatives that are followed, since a cycle has no end. */
const maxSteps = 200;

/** Whether a schema accepts only objects. Computed once per schema. */
export function isOfObjects(schema: JsonObject): boolean {
  let known = ofObjects.get(schema);
  if (known === undefined) {
    let left = maxSteps;
    const holds = (at: JsonValue | undefined): boolean => {
      if (!isJsonObject(at) || left-- <= 0) return false;
      const { type, $ref, allOf } = at;
      if (type === 'object' || (Array.isArray(type) && type.length === 1 && type[0] === 'object'))
        return true;
      if (typeof $ref === 'string' && holds(followReference($ref, at, schema))) return true;
      if (Array.isArray(allOf) && allOf.some(holds)) return true;
      return [at.anyOf, at.oneOf].some(
        (list) => Array.isArray(list) && list.length > 0 && list.every(holds),
      );
    };
    known = holds(schema);
    ofObjects.set(schema, known);
  }
  return known;
}
