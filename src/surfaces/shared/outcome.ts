/**
 * What a surface shows of a result: text always, the error's code, structured content where the
 * tool declares an output, content parts where it gave some.
 */

import { contentParts } from '../../content.ts';
import { type JsonObject, type JsonValue, serializeOutput, type ToolResult } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { followReference } from '../../schema/local-reference.ts';

/** A part of an output, as `content.*` made it. */
export type ShownPart = NonNullable<ReturnType<typeof contentParts>>[number];

/** One result as surfaces show it. */
export interface ShownOutcome {
  /** The model-visible text. */
  readonly text: string;
  readonly isError: boolean;
  /** What a protocol shows where it has room; absent for a success. */
  readonly error?: { readonly code: string; readonly reason?: string; readonly ruleId?: string };
  /**
   * The output, for tools that declare an output schema; what is no object is wrapped as
   * `{ result }`.
   */
  readonly structured?: JsonObject;
  /** The output's content parts, where it was made of such. */
  readonly parts?: readonly ShownPart[];
}

/**
 * What to show of a result. `declared`: the tool's output schema, by which
 * {@link shownOutputSchema} wraps; or whether it has one.
 */
export function shownOutcome(result: ToolResult, declared: boolean | JsonObject): ShownOutcome {
  const text = serializeOutput(result);
  if (!result.success) {
    const { code, reason, ruleId } = result.error;
    return {
      text,
      isError: true,
      error: {
        code,
        ...(reason === undefined ? {} : { reason }),
        ...(ruleId === undefined ? {} : { ruleId }),
      },
    };
  }
  const parts = contentParts(result.output);
  if (parts !== undefined) return { text, isError: false, parts };
  if (declared === false) return { text, isError: false };
  const output = result.output as JsonValue;
  return {
    text,
    isError: false,
    structured:
      isJsonObject(output) && (declared === true || isOfObjects(declared))
        ? output
        : { result: output },
  };
}

/**
 * The output schema that a protocol demands to be an object's: others are wrapped as their outputs
 * are.
 */
export function shownOutputSchema(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined || schema.type === 'object') return schema;
  // It accepts nothing but objects, and now says so.
  if (isOfObjects(schema)) return { ...schema, type: 'object' };
  // An address would make the part that has it a document of its own, in which references into the
  // definitions lead nowhere.
  const { $schema, $id, $defs, definitions, ...rest } = schema;
  const move = (value: JsonValue, isNamed = false): JsonValue =>
    moved(value, typeof $id === 'string' ? $id : undefined, isNamed);
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties: { result: move(rest) },
    required: ['result'],
    ...($defs === undefined ? {} : { $defs: move($defs, true) }),
    ...(definitions === undefined ? {} : { definitions: move(definitions, true) }),
  };
}

const ofObjects = new WeakMap<JsonObject, boolean>();
/** References and alternatives that are followed; a circle has no end. */
const mostSteps = 200;

/** Whether a schema accepts objects alone. Worked out once for each. */
function isOfObjects(schema: JsonObject): boolean {
  let known = ofObjects.get(schema);
  if (known === undefined) {
    let left = mostSteps;
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

/** Keywords whose values are data, and those whose values are schemas by name. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);
const namingKeywords = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/**
 * References into the schema follow it to its new place; definitions stay at the root, where
 * references to them find them. @param id the address that the schema had
 */
function moved(value: JsonValue, id: string | undefined, isNamed: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one: JsonValue) => moved(one, id, false));
  if (!isJsonObject(value)) return value;
  // A part with an address of its own: its references do not leave it.
  if (!isNamed && typeof value.$id === 'string') return value;
  const entries = Object.entries(value).map(([key, one]): [string, JsonValue] => {
    if (isNamed) return [key, moved(one, id, false)];
    if ((key === '$ref' || key === '$dynamicRef') && typeof one === 'string')
      return [key, movedReference(one, id)];
    return [key, dataKeywords.has(key) ? one : moved(one, id, namingKeywords.has(key))];
  });
  return Object.fromEntries(entries);
}

function movedReference(reference: string, id: string | undefined): string {
  const base = id?.replace(/#$/, '');
  const local =
    base === undefined || !(reference === base || reference.startsWith(`${base}#`))
      ? reference
      : reference.slice(base.length) || '#';
  if (local !== '#' && !local.startsWith('#/')) return local;
  return /^#\/(?:\$|%24)defs\/|^#\/definitions\//i.test(local)
    ? local
    : `#/properties/result${local.slice(1)}`;
}
