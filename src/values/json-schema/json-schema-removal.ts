/**
 * Removes keywords from a schema, so that it accepts more than before and never less. The schema
 * must be a private copy.
 */
import { define, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  childrenOf,
  type Dialect,
  isLoneReference,
  type JsonSchemaDocument,
} from '../schema/dialect.ts';
import { pointerOf } from '../schema/local-reference.ts';
import { areApart } from './inclusion-branches.ts';
import type { Steps } from './inclusion-values.ts';

/** A schema that may be changed. */
export type OwnSchema = Record<string, JsonValue>;

/** Schemas that may accept too much. */
export interface Wider {
  /** The schemas that now accept more than they said. */
  readonly loosened: ReadonlySet<JsonObject>;
  /** The schemas with a keyword that accepts more here than the sender may accept. */
  readonly unsure: ReadonlySet<JsonObject>;
}

/** Keywords that accept less once the one before the colon is removed. */
const dependent: Readonly<Record<string, readonly string[]>> = {
  properties: ['additionalProperties'],
  patternProperties: ['additionalProperties'],
  prefixItems: ['items'],
  minContains: ['contains'],
  maxContains: ['contains'],
};
/** The most steps that comparing the alternatives of one document takes. */
const maxSteps = 100_000;
/** The longest pattern, in characters, that is added to the description. */
const longestNote = 200;

/** Removes a keyword, and those that depend on it. A short pattern is told in the description. */
export function removeKeyword(schema: OwnSchema, keyword: string, dialect: Dialect): void {
  const { pattern, description = '' } = schema;
  if (keyword === '$ref' && isLoneReference(schema, dialect)) {
    // The other keywords did not apply beside the reference.
    for (const key of Object.keys(schema))
      if (dialect.keywords.has(key) && !['definitions', 'title', 'description'].includes(key))
        delete schema[key];
  }
  for (const one of [keyword, ...(dependent[keyword] ?? [])]) delete schema[one];
  if (keyword === 'pattern' && typeof pattern === 'string' && pattern.length <= longestNote)
    schema.description = `${String(description)} (pattern: ${pattern})`.trimStart();
}

/** Removes keywords that are null. Some generators write null for a keyword that is not set. */
export function removeUnset(schema: OwnSchema, dialect: Dialect): void {
  for (const key of Object.keys(schema)) {
    const kind = dialect.keywords.get(key);
    if (schema[key] !== null || kind === undefined || kind === 'any') continue;
    if (key === '$ref') delete schema.$ref;
    else removeKeyword(schema, key, dialect);
  }
}

/**
 * Reads what validators differ about. A `format` is not checked here, and others may check it.
 * `nullable` is no keyword of JSON Schema, but OpenAPI has it, and so has Ajv, which MCP's own SDK
 * uses, so null is added to the type. Ajv also checks keywords beside a `$ref` of draft-07, and
 * computes `multipleOf` with rounding.
 * @returns whether the schema may accept more here than elsewhere
 */
export function readUnsure(schema: OwnSchema, dialect: Dialect): boolean {
  const { format, nullable, type, multipleOf = 1 } = schema;
  const isNullable = nullable === true && type !== undefined;
  if (isNullable) {
    delete schema.nullable;
    schema.type = [...new Set([type, 'null'].flat() as readonly string[])];
  }
  const isChecked = (key: string): boolean => dialect.keywords.has(key) && !unchecked.has(key);
  return (
    isNullable ||
    typeof format === 'string' ||
    !Number.isInteger(multipleOf) ||
    (isLoneReference(schema, dialect) && Object.keys(schema).some(isChecked))
  );
}

/** What no validator checks beside a `$ref` of draft-07. */
const unchecked: ReadonlySet<string> = new Set([
  ...['$ref', 'definitions', '$id', '$comment', 'title', 'description'],
]);

/** Removes a member of a keyword that has schemas by name. */
export function removeMember(schema: OwnSchema, keyword: string, name: string): void {
  const members = schema[keyword] as OwnSchema;
  if (keyword !== 'patternProperties') return define(members, name, true);
  // Which names the pattern matches is not known, so nothing can be said about the others.
  delete members[name];
  delete schema.additionalProperties;
}

/**
 * Repairs what depends on schemas that accept more than they said, or more than the sender may
 * accept. If `not`, `if` or `oneOf` has such a schema, it would refuse valid values, so it is
 * removed or made wider.
 * @param schemas all schemas of the document
 * @param targets where each `$ref` leads
 * @returns pointers to the keywords that were changed
 */
export function repair(
  document: JsonSchemaDocument,
  schemas: Iterable<JsonObject>,
  targets: ReadonlyMap<JsonObject, JsonValue>,
  { loosened, unsure }: Wider,
  dialect: Dialect,
): readonly string[] {
  const loose = [...loosened, ...unsure];
  if (typeof document === 'boolean' || loose.length === 0) return [];
  const steps: Steps = { left: maxSteps, enums: new Map() };
  const narrowed = (schema: JsonObject, wider: ReadonlySet<JsonObject>): readonly string[] =>
    narrowedBy(schema, wider, (branches) =>
      areApart(
        branches.map((one) => (isJsonObject(one) && targets.get(one)) || one),
        { root: document, dialect },
        steps,
      ),
    );
  if (loosened.size === 0) {
    const wider = withParents(schemas, targets, loose, dialect);
    if (![...schemas].some((schema) => narrowed(schema, wider).length > 0)) return [];
  }
  const wider = withParents(schemas, targets, [...loose, ...unevaluated(schemas)], dialect);
  const changed: (readonly [schema: JsonObject, keyword: string])[] = [];
  for (const one of schemas) {
    const schema = one as OwnSchema;
    const keywords = narrowed(schema, wider);
    for (const keyword of [...unevaluatedKeywords, ...keywords]) {
      if (keyword === 'oneOf' || !Object.hasOwn(schema, keyword)) continue;
      delete schema[keyword];
      changed.push([schema, keyword]);
    }
    if (!keywords.includes('oneOf')) continue;
    const { oneOf = [], allOf = [] } = schema;
    delete schema.oneOf;
    if (schema.anyOf === undefined) schema.anyOf = oneOf;
    else schema.allOf = [...(allOf as readonly JsonValue[]), { anyOf: oneOf }];
    changed.push([schema, 'oneOf']);
  }
  return changed.map(([schema, keyword]) => `${pointerOf(schema, document) ?? ''}/${keyword}`);
}

/**
 * The keywords of a schema that accept less because a schema in them accepts more. That is not so
 * for alternatives that are apart: no value fits two of them.
 */
function narrowedBy(
  schema: JsonObject,
  wider: ReadonlySet<JsonObject>,
  apart: (branches: readonly JsonValue[]) => boolean,
): readonly string[] {
  const isWider = (inner: JsonValue | undefined): boolean =>
    isJsonObject(inner) && wider.has(inner);
  const { not, if: condition, oneOf, contains } = schema;
  const found: string[] = [];
  if (isWider(not)) found.push('not');
  if (isWider(condition)) found.push('if');
  if (isWider(contains)) found.push('maxContains');
  if (Array.isArray(oneOf) && oneOf.some(isWider) && !apart(oneOf)) found.push('oneOf');
  return found;
}

/** They depend on what all other keywords have looked at, so none of them can stay. */
const unevaluatedKeywords = ['unevaluatedProperties', 'unevaluatedItems'];

function unevaluated(schemas: Iterable<JsonObject>): JsonObject[] {
  return [...schemas].filter((schema) =>
    unevaluatedKeywords.some((keyword) => Object.hasOwn(schema, keyword)),
  );
}

/** The schemas that accept more, with all that lead to one of them. */
function withParents(
  schemas: Iterable<JsonObject>,
  targets: ReadonlyMap<JsonObject, JsonValue>,
  loosened: Iterable<JsonObject>,
  dialect: Dialect,
): ReadonlySet<JsonObject> {
  const parents = new Map<JsonValue, JsonObject[]>();
  const add = (child: JsonValue | undefined, parent: JsonObject): void => {
    if (child === undefined) return;
    const known = parents.get(child);
    if (known === undefined) parents.set(child, [parent]);
    else known.push(parent);
  };
  for (const schema of schemas) {
    for (const child of childrenOf(schema, dialect)) add(child.schema, schema);
    add(targets.get(schema), schema);
  }
  const wider = new Set(loosened);
  // Iterating a set also reaches the members that are added meanwhile.
  for (const schema of wider) for (const parent of parents.get(schema) ?? []) wider.add(parent);
  return wider;
}
