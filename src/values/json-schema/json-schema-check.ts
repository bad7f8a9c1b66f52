/**
 * The structural check of a schema: one cheap walk that refuses whatever the compiler could not
 * interpret.
 */
import { describe } from '../errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  type Dialect,
  dialectOf,
  isLoneReference,
  type JsonSchemaDocument,
  schemaError,
} from '../schema/dialect.ts';
import {
  indexReferences,
  maxSchemaDepth,
  type References,
  resolveReference,
} from '../schema/references.ts';
import {
  checkNames,
  checkPattern,
  checkReference,
  checkType,
  refuseLoops,
} from './json-schema-keyword-values.ts';
import {
  type OwnSchema,
  readUnsure,
  removeKeyword,
  removeMember,
  removeUnset,
  repair,
} from './json-schema-removal.ts';
import {
  attempt,
  type Leaving,
  type Reference,
  refuse,
  refuseSchema,
  type SchemaLimits,
  trustedLimits,
  type Walk,
} from './json-schema-walk.ts';
import type { SharedPatterns } from './pattern-budget.ts';

export interface CheckOptions {
  /** True for the host's own schema: patterns that the linear engine cannot run are accepted. */
  readonly trusted: boolean;
  /** Limits on the schema's size. @default {@link trustedLimits} */
  readonly limits?: SchemaLimits | undefined;
  /**
   * The budget that the patterns of several schemas share.
   * @default each schema has only its own limits
   */
  readonly patterns?: SharedPatterns | undefined;
  /**
   * Notes what was removed because it cannot be checked. The schema must be a private copy.
   * @default a fault refuses the whole schema
   */
  readonly leaving?: Leaving | undefined;
}

/** The findings of the walk, for the compiler. */
export interface CheckedSchema {
  readonly dialect: Dialect;
  /** All schemas that were walked. */
  readonly schemas: Iterable<JsonObject>;
  /** Present when the document has references or identifiers. */
  readonly references: References | undefined;
  readonly hasDefaults: boolean;
  readonly hasUnevaluated: boolean;
  readonly hasDynamicReferences: boolean;
  /** Pointers to the patterns that only the native engine can run. */
  readonly nativePatterns: readonly string[];
}

/**
 * Walks a schema that is plain JSON. Longer than 60 lines, since the state of the walk, its two
 * passes and the report on it are one sequence.
 * @throws MisuseError `invalid_schema` that names the place and the remedy.
 */
export function walkSchema(schema: JsonSchemaDocument, options: CheckOptions): CheckedSchema {
  const dialect = dialectOf(schema);
  const limits = options.limits ?? trustedLimits;
  const walk: Walk = {
    dialect,
    limits,
    base: '',
    path: [],
    depth: 0,
    schemas: 0,
    references: [],
    identified: false,
    hasDefaults: false,
    hasUnevaluated: false,
    hasDynamicReferences: false,
    nativePatterns: [],
    patterns: {
      trusted: options.trusted,
      limits,
      native: new Map(),
      size: 0,
      shared: options.patterns,
    },
    seen: [],
    leaving: options.leaving,
  };
  try {
    visit(schema, walk);
    const references =
      walk.references.length > 0 || walk.identified ? indexReferences(schema, dialect) : undefined;
    const targets = new Map<JsonObject, JsonValue>();
    // A reference may lead to a schema in a place that no keyword names. It is walked too, and may
    // add references.
    if (references !== undefined) {
      const seen = new Set(walk.seen);
      walk.seen = seen;
      for (let index = 0; index < walk.references.length; index++) {
        const { holder, text, pointer, dynamic } = walk.references[index] as Reference;
        const from = references.owner.get(holder) ?? references.main;
        const resolve = (): void => {
          const target = resolveReference(text, from, references, pointer);
          if (!dynamic) targets.set(holder, target.schema);
          if (isJsonObject(target.schema) && !seen.has(target.schema)) {
            walk.path.length = 0;
            walk.base = pointer;
            visit(target.schema, walk);
          }
        };
        attempt(walk, holder, resolve, (own) => removeKeyword(own, '$ref', dialect));
      }
    }
    if (walk.leaving !== undefined) {
      const { loosened, parts } = walk.leaving;
      const message =
        loosened.size > 0
          ? 'it depends on another part that was removed'
          : 'it depends on a keyword that the sender may check in another way';
      for (const path of repair(schema, walk.seen, targets, walk.leaving, dialect))
        parts.push({ path, message });
    }
    if (targets.size > 0 || limits.expansion !== Number.POSITIVE_INFINITY)
      refuseLoops(walk.seen, targets, dialect, limits.expansion);
    return {
      dialect,
      schemas: walk.seen,
      references,
      hasDefaults: walk.hasDefaults,
      hasUnevaluated: walk.hasUnevaluated,
      hasDynamicReferences: walk.hasDynamicReferences,
      nativePatterns: walk.nativePatterns,
    };
  } catch (error) {
    if (error instanceof RangeError)
      throw schemaError('', 'the schema is nested too deeply', error);
    throw error;
  }
}

function visit(schema: JsonValue, walk: Walk): void {
  if (++walk.schemas > walk.limits.schemas)
    refuseSchema(walk, `more than ${walk.limits.schemas} sub-schemas`);
  if (typeof schema === 'boolean') return;
  if (!isJsonObject(schema))
    refuse(walk, `expected a schema (an object or a boolean), got ${describe(schema)}`);
  if (Array.isArray(walk.seen)) walk.seen.push(schema);
  else if (walk.seen.has(schema)) return;
  else walk.seen.add(schema);
  if (walk.depth > walk.limits.depth)
    refuseSchema(walk, `sub-schemas nested deeper than ${walk.limits.depth}`);
  if (++walk.depth > maxSchemaDepth) throw new RangeError('nested too deeply');
  if (walk.leaving !== undefined) {
    removeUnset(schema as OwnSchema, walk.dialect);
    if (readUnsure(schema as OwnSchema, walk.dialect)) walk.leaving.unsure.add(schema);
  }
  const lone = isLoneReference(schema, walk.dialect);
  for (const key of Object.keys(schema)) {
    const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (key === 'default' && !lone) walk.hasDefaults = true;
    const kind = walk.dialect.keywords.get(key);
    // Keywords beside a `$ref` of draft-07 are ignored, but definitions are still walked, because
    // references lead there.
    if (kind === undefined || (lone && key !== '$ref' && key !== 'definitions')) continue;
    // Removed with another keyword.
    if (value === undefined) continue;
    walk.path.push(key);
    const check = (): void => visitKeyword(schema, key, kind, value, walk);
    attempt(walk, schema, check, (own) => removeKeyword(own, key, walk.dialect));
    walk.path.pop();
  }
  walk.depth--;
}

/**
 * Checks the value of one keyword and visits its sub-schemas. Longer than 60 lines, since it is one
 * flat table with a case for each kind of keyword.
 */
function visitKeyword(
  schema: JsonObject,
  key: string,
  kind: string,
  value: JsonValue,
  walk: Walk,
): void {
  const { limits } = walk;
  switch (kind) {
    case 'schema':
      if (key.startsWith('unevaluated')) walk.hasUnevaluated = true;
      visit(value, walk);
      return;
    case 'items':
      if (Array.isArray(value)) visitAll(schema, value, walk);
      else visit(value, walk);
      return;
    case 'schemas':
      if (!Array.isArray(value) || value.length === 0)
        refuse(walk, `expected a non-empty array of schemas, got ${describe(value)}`);
      visitAll(schema, value, walk);
      return;
    case 'schemaMap':
    case 'dependencies':
      visitMap(schema, key, kind, value, walk);
      return;
    case 'type':
      checkType(value, walk);
      if (walk.leaving !== undefined && Array.isArray(value))
        (schema as OwnSchema).type = [...new Set(value as readonly JsonValue[])];
      return;
    case 'number':
      if (typeof value !== 'number') refuse(walk, `expected a number, got ${describe(value)}`);
      return;
    case 'positive':
      if (typeof value !== 'number' || value <= 0)
        refuse(walk, `expected a number above 0, got ${describe(value)}`);
      return;
    case 'count':
      if (typeof value !== 'number' || value < 0 || !Number.isInteger(value))
        refuse(walk, `expected an integer of at least 0, got ${describe(value)}`);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') refuse(walk, `expected a boolean, got ${describe(value)}`);
      return;
    case 'any':
      return;
    case 'words':
      // The host's own annotations are shown as they are.
      if (walk.leaving !== undefined && typeof value !== 'string')
        refuse(walk, `expected a string, got ${describe(value)}`);
      return;
    case 'array':
      if (!Array.isArray(value)) refuse(walk, `expected an array, got ${describe(value)}`);
      if (value.length > limits.enum)
        refuse(walk, `${value.length} values; at most ${limits.enum} are accepted`);
      return;
    case 'names':
      checkNames(value, walk);
      return;
    case 'nameLists':
      if (!isJsonObject(value)) refuse(walk, `expected an object, got ${describe(value)}`);
      for (const name of Object.keys(value)) checkNames(value[name] as JsonValue, walk);
      return;
    case 'pattern':
      checkPattern(value, walk);
      return;
    default:
      checkReference(schema, key, kind, value, walk);
  }
}

function visitAll(schema: JsonObject, values: readonly JsonValue[], walk: Walk): void {
  for (let index = 0; index < values.length; index++) {
    walk.path.push(String(index));
    const check = (): void => visit(values[index] as JsonValue, walk);
    attempt(walk, schema, check, () => {
      (values as JsonValue[])[index] = true;
    });
    walk.path.pop();
  }
}

function visitMap(
  schema: JsonObject,
  key: string,
  kind: string,
  value: JsonValue,
  walk: Walk,
): void {
  if (!isJsonObject(value)) refuse(walk, `expected an object of schemas, got ${describe(value)}`);
  const names = Object.keys(value);
  if (names.length > walk.limits.properties)
    refuseSchema(walk, `${names.length} members; at most ${walk.limits.properties} are accepted`);
  for (const name of names) {
    const item = value[name] as JsonValue;
    walk.path.push(name);
    const check = (): void => {
      if (key === 'patternProperties') checkPattern(name, walk);
      if (kind === 'dependencies' && Array.isArray(item)) checkNames(item, walk);
      else visit(item, walk);
    };
    attempt(walk, schema, check, (own) => removeMember(own, key, name));
    walk.path.pop();
  }
}
