/**
 * What a surface shows of a result: always a text, the error's code for a failure, structured
 * content if the tool declares an output schema, and content parts if the output has them.
 */

import { contentParts } from '../../content.ts';
import { type JsonObject, type JsonValue, serializeOutput, type ToolResult } from '../../index.ts';
import { isJsonObject } from '../../json/index.ts';
import { followReference } from '../../schema/local-reference.ts';

/** A part of an output, made by `content.*`. */
export type ShownPart = NonNullable<ReturnType<typeof contentParts>>[number];

/** One result as surfaces show it. */
export interface ShownOutcome {
  /** The text that the model sees. */
  readonly text: string;
  readonly isError: boolean;
  /** The error, for protocols that have a place for it; absent for a success. */
  readonly error?: { readonly code: string; readonly reason?: string; readonly ruleId?: string };
  /**
   * The output of a tool that declares an output schema. If it is not an object, it is wrapped as
   * `{ result }`.
   */
  readonly structured?: JsonObject;
  /** The content parts of the output, if it was made from parts. */
  readonly parts?: readonly ShownPart[];
}

/**
 * What to show of a result. `declared` is the tool's output schema, which decides about the
 * wrapping as in {@link shownOutputSchema}, or whether the tool has one.
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
 * The output schema for a protocol that requires an object. The schema of any other output is
 * wrapped, as the output is.
 */
export function shownOutputSchema(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined || schema.type === 'object') return schema;
  // The schema accepts only objects, but a protocol needs the type to be stated.
  if (isOfObjects(schema)) return { ...schema, type: 'object' };
  // A nested schema with an `$id` is a separate document, where references to the definitions have
  // no target.
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
/** The most references and alternatives that are followed, since a cycle has no end. */
const mostSteps = 200;

/** Whether a schema accepts only objects. Computed once per schema. */
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
 * Adjusts the references into the schema to its new place. Definitions stay at the root, so
 * references to them are kept.
 * @param id The `$id` that the schema had.
 */
function moved(value: JsonValue, id: string | undefined, isNamed: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one: JsonValue) => moved(one, id, false));
  if (!isJsonObject(value)) return value;
  // The references of a part with its own `$id` do not leave that part.
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
