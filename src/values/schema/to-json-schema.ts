/**
 * Converts zod 4, zod 3, any Standard Schema or raw JSON Schema into a frozen JSON Schema. No other
 * file knows vendors of schemas.
 */
import { createRequire } from 'node:module';
import { toJSONSchema } from 'zod/v4/core';
import { describe, MisuseError, messageOf } from '../errors/index.ts';
import {
  copyJson,
  deepFreeze,
  frozenJson,
  isJsonObject,
  type JsonObject,
  wellFormedJson,
} from '../json/index.ts';

export type SchemaKind = 'zod4' | 'zod3' | 'standard' | 'json';
export type Direction = 'input' | 'output';

interface Zod4Internals {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly checks?: readonly {
        readonly _zod?: { readonly def?: { readonly check?: string } };
      }[];
    };
    readonly version?: { readonly major: number; readonly minor: number };
  };
  readonly meta?: () => Readonly<Record<string, unknown>> | undefined;
  readonly description?: string;
}

/**
 * The kind of a schema; undefined if the value is not a schema. A function can be a schema, because
 * ArkType's schemas are callable.
 */
export function schemaKind(schema: unknown): SchemaKind | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null)
    return undefined;
  const value = schema as {
    _zod?: { def?: unknown };
    _def?: { typeName?: unknown };
    '~standard'?: unknown;
  };
  try {
    if (value._zod?.def !== undefined) return 'zod4';
    if (typeof value._def?.typeName === 'string' && value._def.typeName.startsWith('Zod'))
      return 'zod3';
    if (typeof value['~standard'] === 'object' && value['~standard'] !== null) return 'standard';
    const prototype: unknown = Object.getPrototypeOf(schema);
    return prototype === Object.prototype || prototype === null ? 'json' : undefined;
  } catch {
    // It throws when it is read, so it is no schema.
    return undefined;
  }
}

/** The JSON types of zod's kinds of values that are no objects. */
const plainTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
  ['array', 'array'],
  ['tuple', 'array'],
]);

/**
 * The JSON type of a schema that is plainly of no object. It is found without converting the
 * schema, which may refer to others that do not exist yet.
 */
export function plainTypeOf(schema: unknown, kind: SchemaKind): string | undefined {
  if (kind === 'zod4') return plainTypes.get((schema as Zod4Internals)._zod.def?.type);
  if (kind !== 'zod3') return undefined;
  const { typeName } = (schema as { _def: { typeName: string } })._def;
  return plainTypes.get(typeName.slice('Zod'.length).toLowerCase());
}

const convertedSchemas = new WeakSet<JsonObject>();

/** Whether a library made the JSON Schema from a schema of its own, by which it validates. */
export function isConverted(schema: JsonObject): boolean {
  return convertedSchemas.has(schema);
}

const shownSchemas = new WeakMap<JsonObject, JsonObject>();

/**
 * The schema as others are shown it, frozen: with well-formed texts. Calls are checked against the
 * schema itself, since its names and values are those that the tool knows. The same object for the
 * same schema.
 */
export function shownSchema(schema: JsonObject): JsonObject {
  let shown = shownSchemas.get(schema);
  if (shown === undefined) {
    shown = deepFreeze(wellFormedJson(schema));
    if (isConverted(schema)) convertedSchemas.add(shown);
    shownSchemas.set(schema, shown);
  }
  return shown;
}

/**
 * Converts a schema to JSON Schema.
 * @param where The name of the place in errors, such as ``tool `git`, `parameters` ``.
 * @throws MisuseError `invalid_schema`, with the remedy, when the schema has no JSON Schema.
 */
export function toJsonSchema(schema: unknown, direction: Direction, where: string): JsonObject {
  const kind = schemaKind(schema);
  if (kind === undefined) {
    throw new MisuseError(
      'invalid_schema',
      `${where}: expected a zod schema, a Standard Schema or a JSON Schema object, got ` +
        `${describe(schema)}.`,
    );
  }
  try {
    if (kind === 'json') {
      refuseShape(schema as object, where);
      return freezeCopy(schema, where);
    }
    const converted = deepFreeze(withoutDefaultDialect(convert(schema, kind, direction, where)));
    convertedSchemas.add(converted);
    return converted;
  } catch (error) {
    if (error instanceof MisuseError) throw error;
    throw new MisuseError(
      'invalid_schema',
      `${where}: the ${kind} schema cannot be turned into JSON Schema (${messageOf(error)}). ` +
        'Replace the part that JSON Schema cannot express, or pass a raw JSON Schema.',
      { cause: error },
    );
  }
}

function convert(
  schema: unknown,
  kind: Exclude<SchemaKind, 'json'>,
  direction: Direction,
  where: string,
): JsonObject {
  if (kind === 'zod4')
    return toJSONSchema(schema as Parameters<typeof toJSONSchema>[0], {
      io: direction,
      target: 'draft-2020-12',
      unrepresentable: 'any',
      override: (place) => repair(place, direction),
    }) as JsonObject;
  if (kind === 'zod3') return convertZod3(schema, direction);
  const standard = (
    schema as {
      '~standard': {
        vendor?: unknown;
        jsonSchema?: Record<Direction, (options: object) => JsonObject>;
      };
    }
  )['~standard'];
  const converter = standard.jsonSchema?.[direction];
  if (typeof converter !== 'function') {
    throw new MisuseError(
      'invalid_schema',
      `${where}: this ${String(standard.vendor)} schema gives no JSON Schema. Wrap it by the ` +
        `vendor's converter to Standard JSON Schema (Valibot: \`toStandardJsonSchema\`), or ` +
        'pass a raw JSON Schema.',
    );
  }
  return {
    ...Reflect.apply(converter, standard.jsonSchema, [
      { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } },
    ]),
  };
}

/**
 * Restores the descriptions that a foreign copy of zod keeps in its own registry, describes dates
 * as strings, and an integer as a number if the result of its checks may be a fraction.
 */
function repair(
  place: { zodSchema: unknown; jsonSchema: Record<string, unknown> },
  direction: Direction,
): void {
  const zodSchema = place.zodSchema as Zod4Internals;
  // Since 4.2 all copies share one registry, which the converter has read.
  const { version } = zodSchema._zod;
  const isForeign = version === undefined || (version.major === 4 && version.minor < 2);
  const meta = isForeign
    ? (zodSchema.meta?.() ??
      (zodSchema.description === undefined ? undefined : { description: zodSchema.description }))
    : undefined;
  if (meta !== undefined)
    for (const [key, value] of Object.entries(meta)) place.jsonSchema[key] ??= value;
  if (zodSchema._zod.def.type === 'date') {
    place.jsonSchema.type = 'string';
    place.jsonSchema.format = 'date-time';
  }
  const isChanged = zodSchema._zod.def.checks?.some(
    (check) => check._zod?.def?.check === 'overwrite',
  );
  if (direction === 'output' && isChanged === true && place.jsonSchema.type === 'integer')
    place.jsonSchema.type = 'number';
}

/**
 * Converts a zod 3 schema with zod 3's own converter, which would return `{}` for a zod 4 schema.
 */
function convertZod3(schema: unknown, direction: Direction): JsonObject {
  const { zodToJsonSchema } = zod3Converter();
  const json = zodToJsonSchema(schema, {
    target: 'jsonSchema7',
    $refStrategy: 'root',
    pipeStrategy: direction,
    effectStrategy: direction === 'input' ? 'input' : 'any',
    // The converter takes the literal null for an object.
    postProcess: (made: unknown, { typeName, value }: { typeName?: unknown; value?: unknown }) =>
      typeName === 'ZodLiteral' && value === null ? { type: 'null' } : made,
  });
  return copyOf(json, 'zod 3 schema');
}

interface Zod3Converter {
  readonly zodToJsonSchema: (schema: unknown, options: object) => JsonObject;
}

/**
 * Loads the converter for the first zod 3 schema. The converter loads all of zod 3, which would
 * double the time that importing this library takes. Tools that trace files recognise this way of
 * loading; bundlers leave the package out of the bundle.
 * @throws MisuseError `missing_dependency`
 */
function zod3Converter(): Zod3Converter {
  try {
    const require = createRequire(import.meta.url);
    return require('zod-to-json-schema') as Zod3Converter;
  } catch (error) {
    throw new MisuseError(
      'missing_dependency',
      'The package `zod-to-json-schema`, which converts zod 3 schemas, could not be loaded: ' +
        `${messageOf(error).split('\n', 1)[0]}. If the application is bundled, install it next ` +
        'to the bundle. Where packages cannot be looked up, use zod 4 or pass a JSON Schema.',
      { cause: error },
    );
  }
}

/**
 * Removes a `$schema` of 2020-12. Without one, a schema means the same here and in MCP, and the
 * address would cost tokens at every model step.
 */
function withoutDefaultDialect(schema: JsonObject): JsonObject {
  if (schema.$schema !== 'https://json-schema.org/draft/2020-12/schema') return schema;
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}

/**
 * Refuses `{ path: z.string() }`, which looks like a JSON Schema that accepts everything but is not
 * one.
 */
function refuseShape(schema: object, where: string): void {
  for (const [key, member] of Object.entries(schema)) {
    const kind = schemaKind(member);
    if (kind !== undefined && kind !== 'json')
      throw new MisuseError(
        'invalid_schema',
        `${where}: expected a schema, got an object whose member \`${key}\` is one. Wrap it: ` +
          '`z.object({ … })`.',
      );
  }
}

function freezeCopy(schema: unknown, where: string): JsonObject {
  return frozenJson(copyOf(schema, where));
}

function copyOf(schema: unknown, where: string): JsonObject {
  const copy = copyJson(schema, { maxDepth: 256, maxValues: 2_000_000 });
  if (!copy.ok)
    throw new MisuseError(
      'invalid_schema',
      `${where}: the schema is not JSON: ${copy.message} at "${copy.path}".`,
    );
  if (!isJsonObject(copy.value))
    throw new MisuseError(
      'invalid_schema',
      `${where}: expected a JSON Schema object, got ${describe(copy.value)}.`,
    );
  return copy.value;
}
