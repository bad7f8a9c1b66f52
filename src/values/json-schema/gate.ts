/**
 * Checks schemas from outside: their size and shape are bounded before they are used, and what
 * cannot be checked here is left to whoever sent them.
 */
import { describe } from '../errors/index.ts';
import { copyJson, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  isKnownDialect,
  isLoneReference,
  type JsonSchemaDocument,
  schemaError,
} from '../schema/dialect.ts';
import { pointerOf } from '../schema/local-reference.ts';
import { type Check, type Context, isPolluted } from './compile-context.ts';
import { checksOf } from './compile-node.ts';
import { type CheckedSchema, walkSchema } from './json-schema-check.ts';
import type { OwnSchema } from './json-schema-removal.ts';
import type { LeftPart, SchemaLimits } from './json-schema-walk.ts';
import type { SharedPatterns } from './pattern-budget.ts';

/** Maximum bytes of the schema as JSON text. */
const maxBytes = 65_536;
/** Maximum nesting of arrays and objects of any kind. */
const maxNesting = 64;
/** The limits of a schema from outside. */
export const untrustedLimits: SchemaLimits = {
  depth: 32,
  schemas: 5_000,
  properties: 500,
  enum: 1_000,
  expansion: 10_000,
  patterns: 200,
  patternSize: 20_000,
  plainReferences: true,
};

/** A schema from outside that was checked. */
export interface GatedSchema {
  /**
   * A private copy. Use it instead of the original, whose getters may return something else the
   * next time. It accepts what the original accepts, and more if parts were removed.
   */
  readonly schema: JsonSchemaDocument;
  /** What was removed, because only the sender can check it. */
  readonly left: readonly LeftPart[];
}

/**
 * Checks a schema from outside. It is refused if it has more than 64 KB, 64 levels of nesting, 32
 * levels of sub-schemas, 5 000 sub-schemas, 500 properties per object, or 10 000 schemas that apply
 * to one value. Other faults only cost the keyword that has them: an unknown dialect or type, a
 * malformed value, an `enum` of more than 1 000 values, a reference that leads outside the document
 * or nowhere, `$dynamicRef` and `$recursiveRef`, and patterns. At most 200 different patterns are
 * checked, of at most 512 characters each, that run in linear time. A default that its own schema
 * refuses is removed.
 * @param patterns the budget that the patterns of several schemas share; this schema's patterns are
 * deducted from it
 * @throws MisuseError `invalid_schema` that names the place and the limit
 */
export function gateSchema(schema: unknown, patterns?: SharedPatterns): GatedSchema {
  // The copy counts characters only roughly, to bound the work. The bytes are counted afterwards.
  const copy = copyJson(schema, {
    maxDepth: maxNesting,
    maxValues: maxBytes,
    maxChars: 2 * maxBytes,
  });
  if (!copy.ok)
    throw schemaError(
      copy.path,
      copy.fault === 'too_large' ? `the schema is larger than ${maxBytes} bytes` : copy.message,
    );
  if (copy.overflow || new TextEncoder().encode(JSON.stringify(copy.value)).length > maxBytes)
    throw schemaError('', `the schema is larger than ${maxBytes} bytes`);
  const { value } = copy;
  if (typeof value !== 'boolean' && !isJsonObject(value))
    throw schemaError('', 'expected a schema (an object or a boolean)');
  const parts: LeftPart[] = [];
  if (isJsonObject(value)) readDialect(value, parts);
  const leaving = { parts, loosened: new Set<never>(), unsure: new Set<never>() };
  const checked = walkSchema(value, { trusted: false, limits: untrustedLimits, patterns, leaving });
  if (isJsonObject(value))
    for (const one of withBrokenDefaults(checked)) removeDefault(one, value, parts);
  return { schema: value, left: parts };
}

/**
 * Removes a default that its own schema refuses. If it were filled in, the sender would refuse the
 * call. Many generators write null for a default that is not set, so nothing is noted then.
 */
function removeDefault(schema: OwnSchema, document: JsonObject, parts: LeftPart[]): void {
  if (schema.default !== null)
    parts.push({
      path: `${pointerOf(schema, document) ?? ''}/default`,
      message: 'its own schema refuses this default, so it is not filled in',
    });
  delete schema.default;
}

const draft07 = 'http://json-schema.org/draft-07/schema#';

/** Reads drafts before 07 as draft-07, which only adds to them, and other dialects as 2020-12. */
function readDialect(schema: OwnSchema, parts: LeftPart[]): void {
  const { $schema } = schema;
  if ($schema === undefined || isKnownDialect($schema)) return;
  const isOlder = typeof $schema === 'string' && /\/draft-0[3-6]\/schema#?$/.test($schema);
  if (isOlder) schema.$schema = draft07;
  else delete schema.$schema;
  if ($schema !== null)
    parts.push({
      path: '/$schema',
      message:
        `${describe($schema)} is not a dialect that is known here, so the schema is read as ` +
        `${isOlder ? 'draft-07' : '2020-12'}`,
    });
}

// Finds defaults that their own schemas refuse.

/** Most steps for all defaults of a document. Those beyond count as refused. */
const maxSteps = 200_000;

/** The schemas of a document whose `default` does not match them. */
function withBrokenDefaults(checked: CheckedSchema): readonly JsonObject[] {
  if (!checked.hasDefaults) return [];
  const checkOf = checksOf(checked);
  const context: Context = {
    steps: maxSteps,
    issues: undefined,
    polluted: isPolluted(),
    scope: [],
  };
  return [...checked.schemas].filter(
    (schema) =>
      Object.hasOwn(schema, 'default') &&
      !isLoneReference(schema, checked.dialect) &&
      !accepts(checkOf(schema), schema.default as JsonValue, context),
  );
}

function accepts(check: Check, value: JsonValue, context: Context): boolean {
  try {
    return check(value, context);
  } catch {
    // The steps are used up.
    return false;
  }
}
