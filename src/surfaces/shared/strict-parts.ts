/** `allOf` of plain objects as one object. */
import type { JsonObject, JsonValue } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { followReference } from '../../schema/local-reference.ts';

const words = ['title', 'description', '$comment', '$anchor', '$schema', '$defs', 'definitions'];
const mergeable = [
  ...words,
  'type',
  'properties',
  'required',
  'additionalProperties',
  'unevaluatedProperties',
  'allOf',
];
/** References followed and parts within parts; a circle is never deeper. */
const mostNested = 16;

/**
 * Takes away one step, or as many as it is told, and says whether that many were left; once there
 * were not, there never are.
 */
export function budgetOf(steps: number): (taken?: number) => boolean {
  let left = steps;
  return (taken = 1) => {
    left -= taken;
    return left >= 0;
  };
}

/** Keywords that say nothing about a value. */
export function isWord(keyword: string): boolean {
  return words.includes(keyword);
}

/** Parts and properties that one merge looks at, if nobody counts them for longer. */
const mostWork = 10_000;

/**
 * One schema for a schema with `allOf`: one part with words of its own, or objects whose properties
 * are apart. Undefined where only `allOf` says it.
 * @param spend asked before each step of the work: false ends it, with undefined. @default 10 000
 * steps
 */
export function mergedParts(
  schema: JsonObject,
  root: JsonObject,
  spend: () => boolean = budgetOf(mostWork),
): JsonObject | undefined {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return undefined;
  const [only, ...others] = allOf as readonly JsonValue[];
  if (others.length === 0 && isJsonObject(only) && Object.keys(rest).every(isWord))
    return { ...only, ...rest };
  const properties = new Map<string, JsonValue>();
  const required = new Set<JsonValue>();
  const closed: JsonObject[] = [];
  let parts = 0;
  if (!collect(schema, mostNested)) return undefined;
  // A closed part forbids what the others declare.
  if (closed.length > 0 && (parts > closed.length || closed.some((part) => !declaresAll(part))))
    return undefined;
  const said = Object.fromEntries(
    words.flatMap((word) =>
      schema[word] === undefined ? [] : [[word, schema[word] as JsonValue]],
    ),
  );
  return {
    ...said,
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required],
    ...(closed.length > 0 ? { additionalProperties: false } : {}),
  };

  function collect(part: JsonValue | undefined, left: number): boolean {
    if (!isJsonObject(part) || left === 0 || !spend()) return false;
    if (typeof part.$ref === 'string')
      return (
        Object.keys(part).every((key) => key === '$ref' || isWord(key)) &&
        collect(followReference(part.$ref, part, root), left - 1)
      );
    if (
      Object.keys(part).some((keyword) => !mergeable.includes(keyword)) ||
      (part.type !== undefined && part.type !== 'object')
    )
      return false;
    const { additionalProperties: additional, unevaluatedProperties: unevaluated } = part;
    if (
      additional !== undefined &&
      typeof additional !== 'boolean' &&
      Object.keys(additional as object).length > 0
    )
      return false;
    if (unevaluated !== undefined && typeof unevaluated !== 'boolean') return false;
    if (isJsonObject(part.properties)) {
      for (const [name, property] of Object.entries(part.properties)) {
        if (properties.has(name) || !spend()) return false;
        properties.set(name, property);
      }
    }
    if (Array.isArray(part.required))
      for (const name of part.required as readonly JsonValue[]) required.add(name);
    if (part.properties !== undefined) parts++;
    if (additional === false) closed.push(part);
    return (
      !Array.isArray(part.allOf) ||
      (part.allOf as readonly JsonValue[]).every((one) => collect(one, left - 1))
    );
  }

  function declaresAll(part: JsonObject): boolean {
    return [...properties.keys()].every(
      (name) => isJsonObject(part.properties) && Object.hasOwn(part.properties, name),
    );
  }
}
