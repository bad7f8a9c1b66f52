/** What a surface shows of a result: text always, the error's code, structured content where the tool declares an output, content parts where it gave some. */
import { type JsonObject, type JsonValue, serializeOutput, type ToolResult } from '../index.ts';
import { contentParts, isJsonObject } from '../internal.ts';

/** A part of an output, as `content.*` made it. */
export type ShownPart = NonNullable<ReturnType<typeof contentParts>>[number];

/** One result as surfaces show it. */
export interface ShownOutcome {
  /** The model-visible text. */
  readonly text: string;
  readonly isError: boolean;
  /** What a protocol shows where it has room; absent for a success. */
  readonly error?: { readonly code: string; readonly reason?: string; readonly ruleId?: string };
  /** The output, for tools that declare an output schema; what is no object is wrapped as `{ result }`. */
  readonly structured?: JsonObject;
  /** The output's content parts, where it was made of such. */
  readonly parts?: readonly ShownPart[];
}

/** What to show of a result. `declared`: the tool's output schema, by which {@link shownOutputSchema} wraps; or whether it has one. */
export function shownOutcome(result: ToolResult, declared: boolean | JsonObject): ShownOutcome {
  const text = serializeOutput(result);
  if (!result.success) {
    const { code, reason, ruleId } = result.error;
    return { text, isError: true, error: { code, ...(reason === undefined ? {} : { reason }), ...(ruleId === undefined ? {} : { ruleId }) } };
  }
  const parts = contentParts(result.output);
  if (parts !== undefined) return { text, isError: false, parts };
  if (declared === false) return { text, isError: false };
  const output = result.output as JsonValue;
  return { text, isError: false, structured: isJsonObject(output) && (declared === true || declared.type === 'object') ? output : { result: output } };
}

/** The output schema that a protocol demands to be an object's: others are wrapped as their outputs are. */
export function shownOutputSchema(schema: JsonObject | undefined): JsonObject | undefined {
  if (schema === undefined || schema.type === 'object') return schema;
  const { $schema, $defs, definitions, ...rest } = moved(schema) as JsonObject;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties: { result: rest as JsonObject },
    required: ['result'],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** Keywords whose values are data, and those whose values are schemas by name. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);
const namingKeywords = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** References into the schema follow it to its new place; definitions stay at the root, where references to them find them. */
function moved(value: JsonValue, named = false): JsonValue {
  if (Array.isArray(value)) return value.map((one: JsonValue) => moved(one));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]): [string, JsonValue] => {
    if (named) return [key, moved(one)];
    if ((key === '$ref' || key === '$dynamicRef') && typeof one === 'string') return [key, movedReference(one)];
    return [key, dataKeywords.has(key) ? one : moved(one, namingKeywords.has(key))];
  });
  return Object.fromEntries(entries);
}

function movedReference(reference: string): string {
  if (reference !== '#' && !reference.startsWith('#/')) return reference;
  return /^#\/(?:\$defs|definitions)\//.test(reference) ? reference : `#/properties/result${reference.slice(1)}`;
}
