/** Checks the values of keywords that have lists of words or patterns. */
import { describe, messageOf } from '../errors/index.ts';
import type { JsonObject, JsonValue } from '../json/index.ts';
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
