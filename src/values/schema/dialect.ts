/** The keywords that a JSON Schema dialect knows, their values, and the places of sub-schemas. */
import { describe, MisuseError } from '../errors/index.ts';
import { escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';

/** A JSON Schema as a document: an object, or a boolean that accepts everything or nothing. */
export type JsonSchemaDocument = JsonObject | boolean;

export type Draft = 'draft-07' | '2020-12';

/** What the value of a keyword must be. */
export type KeywordKind =
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'items'
  | 'dependencies'
  | 'number'
  | 'positive'
  | 'count'
  | 'boolean'
  | 'names'
  | 'nameLists'
  | 'type'
  | 'pattern'
  | 'array'
  | 'any'
  | 'words'
  | 'reference'
  | 'dynamicReference'
  | 'id'
  | 'anchor'
  | 'refused';

export interface Dialect {
  readonly draft: Draft;
  readonly keywords: ReadonlyMap<string, KeywordKind>;
}

const shared = {
  title: 'words',
  description: 'words',
  format: 'words',
  $comment: 'words',
  $id: 'id',
  $ref: 'reference',
  $recursiveRef: 'refused',
  type: 'type',
  enum: 'array',
  const: 'any',
  multipleOf: 'positive',
  maximum: 'number',
  exclusiveMaximum: 'number',
  minimum: 'number',
  exclusiveMinimum: 'number',
  maxLength: 'count',
  minLength: 'count',
  pattern: 'pattern',
  items: 'items',
  additionalItems: 'schema',
  maxItems: 'count',
  minItems: 'count',
  uniqueItems: 'boolean',
  contains: 'schema',
  maxProperties: 'count',
  minProperties: 'count',
  required: 'names',
  properties: 'schemaMap',
  patternProperties: 'schemaMap',
  additionalProperties: 'schema',
  dependencies: 'dependencies',
  propertyNames: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
  then: 'schema',
  else: 'schema',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  definitions: 'schemaMap',
} as const satisfies Record<string, KeywordKind>;

const later = {
  $defs: 'schemaMap',
  $anchor: 'anchor',
  $dynamicAnchor: 'anchor',
  $dynamicRef: 'dynamicReference',
  prefixItems: 'schemas',
  minContains: 'count',
  maxContains: 'count',
  dependentRequired: 'nameLists',
  dependentSchemas: 'schemaMap',
  unevaluatedItems: 'schema',
  unevaluatedProperties: 'schema',
} as const satisfies Record<string, KeywordKind>;

/** Each is made at its first use, so that a bundle without the engine leaves the tables out. */
const made = new Map<Dialect['draft'], Dialect>();

function madeDialect(draft: Dialect['draft']): Dialect {
  let dialect = made.get(draft);
  if (dialect === undefined) {
    const keywords = draft === 'draft-07' ? shared : { ...shared, ...later };
    dialect = { draft, keywords: new Map(Object.entries(keywords)) };
    made.set(draft, dialect);
  }
  return dialect;
}

const dialects: ReadonlyMap<string, Dialect['draft']> = new Map([
  ['//json-schema.org/draft-07/schema', 'draft-07'],
  ['//json-schema.org/draft/2019-09/schema', '2020-12'],
  ['//json-schema.org/draft/2020-12/schema', '2020-12'],
] as const);

/** The dialect that `$schema` names; 2020-12 if it is absent. */
export function dialectOf(schema: JsonValue): Dialect {
  if (!isJsonObject(schema) || !Object.hasOwn(schema, '$schema')) return madeDialect('2020-12');
  const name = schema.$schema as JsonValue;
  const dialect = namedDialect(name);
  if (dialect === undefined) {
    throw schemaError(
      '/$schema',
      `${describe(name)} is not a dialect that is known here; use draft-07 or 2020-12, or ` +
        'leave $schema out for 2020-12',
    );
  }
  return dialect;
}

function namedDialect(name: JsonValue): Dialect | undefined {
  if (typeof name !== 'string') return undefined;
  const draft = dialects.get(name.replace(/^https?:/, '').replace(/#$/, ''));
  return draft && madeDialect(draft);
}

/** Whether a `$schema` names a dialect that {@link dialectOf} knows. */
export function isKnownDialect(name: JsonValue): boolean {
  return namedDialect(name) !== undefined;
}

/** A refusal of a schema, with the place in it. */
export class SchemaError extends MisuseError {
  readonly pointer: string;
  /** The message without the place. */
  readonly fault: string;
  constructor(pointer: string, fault: string, cause: unknown) {
    super(
      'invalid_schema',
      `Invalid JSON Schema at \`${pointer === '' ? '#' : pointer}\`: ${fault}`,
      cause === undefined ? undefined : { cause },
    );
    this.pointer = pointer;
    this.fault = fault;
  }
}

/** The error that refuses a schema and names the place in it. */
export function schemaError(pointer: string, message: string, cause?: unknown): SchemaError {
  return new SchemaError(pointer, message, cause);
}

/** True if all other keywords of the object are ignored, as beside a `$ref` in draft-07. */
export function isLoneReference(schema: JsonObject, dialect: Dialect): boolean {
  return dialect.draft === 'draft-07' && Object.hasOwn(schema, '$ref');
}

/** An own keyword of the schema that its dialect knows, or undefined. */
export function keyword(schema: JsonObject, name: string, dialect: Dialect): JsonValue | undefined {
  return Object.hasOwn(schema, name) && dialect.keywords.has(name) ? schema[name] : undefined;
}

export interface Child {
  readonly schema: JsonValue;
  /** The pointer from the parent, such as `/properties/a`. */
  readonly pointer: string;
  /** True if the child applies to the same value as its parent. */
  readonly inPlace: boolean;
}

const inPlaceWords: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);

/** The direct sub-schemas of a schema whose keyword values have been checked. */
export function childrenOf(schema: JsonObject, dialect: Dialect): Child[] {
  const found: Child[] = [];
  for (const name of Object.keys(schema)) {
    const kind = dialect.keywords.get(name);
    const value = schema[name] as JsonValue;
    const inPlace = inPlaceWords.has(name);
    if (kind === 'schema' || (kind === 'items' && !Array.isArray(value)))
      found.push({ schema: value, pointer: `/${name}`, inPlace });
    else if ((kind === 'schemas' || kind === 'items') && Array.isArray(value)) {
      for (const [index, item] of (value as readonly JsonValue[]).entries())
        found.push({ schema: item, pointer: `/${name}/${index}`, inPlace });
    } else if ((kind === 'schemaMap' || kind === 'dependencies') && isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        const item = value[key] as JsonValue;
        if (!Array.isArray(item))
          found.push({ schema: item, pointer: `/${name}/${escapePointer(key)}`, inPlace });
      }
    }
  }
  return found;
}
