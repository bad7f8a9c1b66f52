/** Merges an `allOf` of plain objects into one object. */
import type { JsonObject, JsonValue } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { followReference } from '../../values/schema/local-reference.ts';

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
/** The most references that are followed, and parts within parts. A cycle always exceeds it. */
const maxNested = 16;
/** The most parts and properties that one merge looks at, unless its caller has its own budget. */
const maxWork = 10_000;

/**
 * A budget of steps. Each call takes one step, or as many as it is given, and returns whether that
 * many were left. A budget that is used up stays used up.
 */
export function budgetOf(steps: number): (taken?: number) => boolean {
  let left = steps;
  return (taken = 1) => {
    left -= taken;
    return left >= 0;
  };
}

/** Whether a keyword does not constrain a value. */
export function isWord(keyword: string): boolean {
  return words.includes(keyword);
}

/** The parts of an `allOf` that have been collected so far. */
interface Merge {
  readonly root: JsonObject;
  readonly spend: () => boolean;
  readonly properties: Map<string, JsonValue>;
  readonly required: Set<JsonValue>;
  /** Parts with `additionalProperties: false`. */
  readonly closed: JsonObject[];
  /** How many parts declare properties. */
  declaring: number;
}

/**
 * Merges a schema with `allOf` into one schema. It may have a single part, or parts that are
 * objects without a common property. Title, description and the like beside `allOf` are kept.
 * Undefined if the parts cannot be merged.
 * @param spend Called before each step of the work. If it returns false, the work ends, and the
 * result is undefined.
 * @default a budget of 10 000 steps
 */
export function mergedParts(
  schema: JsonObject,
  root: JsonObject,
  spend: () => boolean = budgetOf(maxWork),
): JsonObject | undefined {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return undefined;
  const [only, ...others] = allOf as readonly JsonValue[];
  if (others.length === 0 && isJsonObject(only) && Object.keys(rest).every(isWord))
    return { ...only, ...rest };
  const merge: Merge = {
    root,
    spend,
    properties: new Map(),
    required: new Set(),
    closed: [],
    declaring: 0,
  };
  if (!collect(merge, schema, maxNested) || !closedAgrees(merge)) return undefined;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => isWord(keyword))),
    type: 'object',
    properties: Object.fromEntries(merge.properties),
    required: [...merge.required],
    ...(merge.closed.length > 0 ? { additionalProperties: false } : {}),
  };
}

/** Adds a part and its own `allOf`. False if the part cannot be merged. */
function collect(merge: Merge, part: JsonValue | undefined, left: number): boolean {
  if (!isJsonObject(part) || left === 0 || !merge.spend()) return false;
  if (typeof part.$ref === 'string')
    return (
      Object.keys(part).every((key) => key === '$ref' || isWord(key)) &&
      collect(merge, followReference(part.$ref, part, merge.root), left - 1)
    );
  if (!isPlainObject(part)) return false;
  const declared = isJsonObject(part.properties) ? Object.entries(part.properties) : [];
  for (const [name, property] of declared) {
    if (merge.properties.has(name) || !merge.spend()) return false;
    merge.properties.set(name, property);
  }
  if (Array.isArray(part.required))
    for (const name of part.required as readonly JsonValue[]) merge.required.add(name);
  if (part.properties !== undefined) merge.declaring++;
  if (part.additionalProperties === false) merge.closed.push(part);
  return (
    !Array.isArray(part.allOf) ||
    (part.allOf as readonly JsonValue[]).every((one) => collect(merge, one, left - 1))
  );
}

/**
 * Whether the part is an object of declared properties, without keywords that a merge would have to
 * combine.
 */
function isPlainObject(part: JsonObject): boolean {
  const { additionalProperties: additional, unevaluatedProperties: unevaluated, type } = part;
  return (
    Object.keys(part).every((keyword) => mergeable.includes(keyword)) &&
    (type === undefined || type === 'object') &&
    (additional === undefined ||
      typeof additional === 'boolean' ||
      Object.keys(additional as object).length === 0) &&
    (unevaluated === undefined || typeof unevaluated === 'boolean')
  );
}

/**
 * A closed part forbids properties that only other parts declare, so each closed part must declare
 * all of them.
 */
function closedAgrees({ closed, declaring, properties }: Merge): boolean {
  return (
    closed.length === 0 ||
    (declaring <= closed.length &&
      closed.every((part) =>
        [...properties.keys()].every(
          (name) => isJsonObject(part.properties) && Object.hasOwn(part.properties, name),
        ),
      ))
  );
}
