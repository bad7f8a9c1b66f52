/** Checks the values of keywords that have lists of words or patterns. */
import { describe, messageOf } from '../errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { childrenOf, type Dialect, isLoneReference, schemaError } from '../schema/dialect.ts';
import { isIdentifier } from '../schema/references.ts';
import { pointerOf, refuse, type Walk } from './json-schema-walk.ts';
import { isNativePattern } from './pattern-budget.ts';

const typeNames: ReadonlySet<JsonValue> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** Checks the value of `type`. @throws MisuseError `invalid_schema` */
export function checkType(value: JsonValue, walk: Walk): void {
  if (
    typeof value === 'string'
      ? typeNames.has(value)
      : Array.isArray(value) &&
        value.length > 0 &&
        value.every((name: JsonValue) => typeNames.has(name))
  )
    return;
  refuse(
    walk,
    'expected string, number, integer, boolean, object, array, null or an array of these, got ' +
      `${describe(value)}`,
  );
}

/** Checks a list of property names. @throws MisuseError `invalid_schema` */
export function checkNames(value: JsonValue, walk: Walk): void {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
    refuse(walk, `expected an array of property names, got ${describe(value)}`);
  if (value.length > walk.limits.enum)
    refuse(walk, `${value.length} names; at most ${walk.limits.enum} are accepted`);
}

/**
 * Checks a pattern, and notes it if only the native engine can run it.
 * @throws MisuseError `invalid_schema`
 */
export function checkPattern(value: JsonValue, walk: Walk): void {
  if (typeof value !== 'string')
    refuse(walk, `expected a regular expression as a string, got ${describe(value)}`);
  try {
    if (isNativePattern(value, walk.patterns)) walk.nativePatterns.push(pointerOf(walk));
  } catch (error) {
    refuse(walk, messageOf(error), error);
  }
}

/** Checks a reference or an identifier, and notes it. @throws MisuseError `invalid_schema` */
export function checkReference(
  schema: JsonObject,
  key: string,
  kind: string,
  value: JsonValue,
  walk: Walk,
): void {
  if (kind === 'refused')
    refuse(walk, `${key} is not supported; use $ref, or $dynamicRef of 2020-12`);
  if (typeof value !== 'string') refuse(walk, `expected a string, got ${describe(value)}`);
  if (kind === 'id' || kind === 'anchor') {
    if (kind === 'id' && walk.leaving !== undefined && !isIdentifier(value, walk.dialect))
      refuse(walk, 'expected a URI reference without a fragment');
    walk.identified = true;
    return;
  }
  const dynamic = kind === 'dynamicReference';
  if (dynamic && walk.limits.plainReferences)
    refuse(walk, `${key} is not accepted in a schema from outside`);
  if (dynamic) walk.hasDynamicReferences = true;
  walk.references.push({ holder: schema, text: value, pointer: pointerOf(walk), dynamic });
}

/**
 * Refuses a loop of references that never descends into the value. Also refuses more than `limit`
 * schemas on one value, counted with repetition.
 * @throws MisuseError `invalid_schema`
 */
export function refuseLoops(
  schemas: Iterable<JsonObject>,
  targets: ReadonlyMap<JsonObject, JsonValue>,
  dialect: Dialect,
  limit: number,
): void {
  const counts = new Map<JsonObject, number>();
  /** The schemas whose count has begun or is done. */
  const begun = new Set<JsonObject>();
  /** @param by the reference that was followed last */
  const expand = (schema: JsonValue, by?: JsonValue): number => {
    if (!isJsonObject(schema)) return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    if (begun.has(schema))
      throw schemaError(
        '',
        `references lead in a circle that consumes no input, by way of ${describe(by)}; put ` +
          'one of them under properties or items',
      );
    begun.add(schema);
    let total = 1;
    const target = targets.get(schema);
    if (target !== undefined) total += expand(target, schema.$ref);
    if (!isLoneReference(schema, dialect))
      for (const child of childrenOf(schema, dialect))
        if (child.inPlace) total += expand(child.schema, by);
    counts.set(schema, total);
    if (total > limit)
      throw schemaError(
        '',
        `references and combinations apply more than ${limit} schemas to one value`,
      );
    return total;
  };
  for (const schema of schemas) expand(schema);
}
