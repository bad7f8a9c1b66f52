/**
 * Whether a schema accepts one given value, as far as this can be decided without running patterns.
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { type Dialect, isLoneReference, keyword } from '../schema/dialect.ts';
import { followReference } from '../schema/local-reference.ts';

/** A document, with the steps that may still be spent on it. */
export interface Side {
  readonly root: JsonObject;
  readonly dialect: Dialect;
}

/** Counts the work of one comparison. */
export interface Steps {
  left: number;
  /** The texts of the values of each `enum`. */
  readonly enums: Map<JsonValue, ReadonlySet<string>>;
}

/** `undefined` if it is unknown. */
type Answer = boolean | undefined;

/** The kinds of values. Together, `integer` and `fraction` are the numbers. */
export type Kind = 'null' | 'boolean' | 'object' | 'array' | 'string' | 'integer' | 'fraction';

export const allKinds: readonly Kind[] = [
  'null',
  'boolean',
  'object',
  'array',
  'string',
  'integer',
  'fraction',
];

/** The kind of a value. */
export function kindOf(value: JsonValue): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction';
  return typeof value as 'boolean' | 'object' | 'string';
}

/** The kinds that a `type` accepts. */
export function kindsOf(type: JsonValue | undefined): readonly Kind[] {
  if (type === undefined) return allKinds;
  return (Array.isArray(type) ? (type as JsonValue[]) : [type]).flatMap((one): Kind[] =>
    one === 'number' ? ['integer', 'fraction'] : [one as Kind],
  );
}

/** Keywords that are not evaluated here. If a schema has one of them, the answer is unknown. */
const unjudged = [
  'pattern',
  'format',
  'contains',
  'additionalItems',
  'patternProperties',
  'propertyNames',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$dynamicRef',
];

/** Whether a schema accepts a value. */
export function accepts(schema: JsonValue, value: JsonValue, side: Side, steps: Steps): Answer {
  if (!isJsonObject(schema)) return schema !== false;
  if (--steps.left < 0) return undefined;
  const answers = [...inPlace(schema, value, side, steps)];
  if (!isLoneReference(schema, side.dialect)) {
    answers.push(simple(schema, value, side, steps));
    if (Array.isArray(value)) answers.push(...inArray(schema, value, side, steps));
    else if (isJsonObject(value)) answers.push(...inObject(schema, value, side, steps));
    if (unjudged.some((name) => Object.hasOwn(schema, name))) answers.push(undefined);
  }
  return both(answers);
}

function both(answers: readonly Answer[]): Answer {
  if (answers.includes(false)) return false;
  return answers.includes(undefined) ? undefined : true;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function* inPlace(
  schema: JsonObject,
  value: JsonValue,
  side: Side,
  steps: Steps,
): Generator<Answer> {
  const get = (name: string): JsonValue | undefined => keyword(schema, name, side.dialect);
  const judge = (one: JsonValue): Answer => accepts(one, value, side, steps);
  const reference = get('$ref');
  if (typeof reference === 'string') {
    const target = followReference(reference, schema, side.root);
    yield target === undefined ? undefined : judge(target);
    if (isLoneReference(schema, side.dialect)) return;
  }
  for (const one of listOf(get('allOf'))) yield judge(one);
  const any = get('anyOf');
  if (any !== undefined) {
    const answers = listOf(any).map(judge);
    yield answers.includes(true) ? true : answers.includes(undefined) ? undefined : false;
  }
  const one = get('oneOf');
  if (one !== undefined) {
    const answers = listOf(one).map(judge);
    const fits = answers.filter((answer) => answer === true).length;
    yield fits > 1 ? false : answers.includes(undefined) ? undefined : fits === 1;
  }
  const not = get('not');
  if (not !== undefined) {
    const answer = judge(not);
    yield answer === undefined ? undefined : !answer;
  }
  const condition = get('if');
  if (condition !== undefined) {
    const holds = judge(condition);
    const [then = true, otherwise = true] = [get('then'), get('else')];
    yield holds === undefined ? undefined : judge(holds ? then : otherwise);
  }
}

/** The keywords that need no other schema. */
function simple(schema: JsonObject, value: JsonValue, { dialect }: Side, steps: Steps): Answer {
  const get = (name: string): JsonValue | undefined => keyword(schema, name, dialect);
  if (!kindsOf(get('type')).includes(kindOf(value))) return false;
  const text = textOf(value, steps);
  if (steps.left < 0) return undefined;
  const constant = get('const');
  if (constant !== undefined && textOf(constant, steps) !== text) return false;
  const among = get('enum');
  if (among !== undefined && !textsOf(among, steps).has(text)) return false;
  const size = (least: string, most: string, count: number): boolean =>
    count >= Number(get(least) ?? 0) && count <= Number(get(most) ?? Number.POSITIVE_INFINITY);
  if (typeof value === 'string') return size('minLength', 'maxLength', [...value].length);
  if (Array.isArray(value)) {
    const texts = new Set(value.map((one: JsonValue) => canonicalJson(one)));
    return (
      size('minItems', 'maxItems', value.length) &&
      (get('uniqueItems') !== true || texts.size === value.length)
    );
  }
  if (isJsonObject(value))
    return (
      size('minProperties', 'maxProperties', Object.keys(value).length) &&
      listOf(get('required')).every((name) => Object.hasOwn(value, name as string))
    );
  return typeof value !== 'number' || numberFits(get, value);
}

/** The canonical text of a value. A long one costs as many steps as many short ones. */
export function textOf(value: JsonValue, steps: Steps): string {
  const text = canonicalJson(value);
  steps.left -= text.length >> 8;
  return text;
}

function textsOf(values: JsonValue, { enums }: Steps): ReadonlySet<string> {
  let texts = enums.get(values);
  if (texts === undefined) {
    texts = new Set(listOf(values).map((value) => canonicalJson(value)));
    enums.set(values, texts);
  }
  return texts;
}

function numberFits(get: (name: string) => JsonValue | undefined, value: number): Answer {
  const at = (name: string, otherwise: number): number => Number(get(name) ?? otherwise);
  const { NEGATIVE_INFINITY: low, POSITIVE_INFINITY: high } = Number;
  if (value < at('minimum', low) || value > at('maximum', high)) return false;
  if (value <= at('exclusiveMinimum', low) || value >= at('exclusiveMaximum', high)) return false;
  const multipleOf = get('multipleOf');
  if (multipleOf === undefined) return true;
  return Number.isSafeInteger(value) && Number.isSafeInteger(multipleOf)
    ? value % (multipleOf as number) === 0
    : undefined;
}

function* inArray(
  schema: JsonObject,
  value: readonly JsonValue[],
  side: Side,
  steps: Steps,
): Generator<Answer> {
  const items = keyword(schema, 'items', side.dialect);
  const given = keyword(schema, 'prefixItems', side.dialect) ?? (Array.isArray(items) ? items : []);
  const prefix = listOf(given);
  for (const [index, one] of value.entries()) {
    const own = index < prefix.length ? prefix[index] : Array.isArray(items) ? undefined : items;
    if (own !== undefined) yield accepts(own, one, side, steps);
  }
}

function* inObject(
  schema: JsonObject,
  value: JsonObject,
  side: Side,
  steps: Steps,
): Generator<Answer> {
  const properties = keyword(schema, 'properties', side.dialect);
  const rest = keyword(schema, 'additionalProperties', side.dialect);
  for (const [name, one] of Object.entries(value)) {
    const isOwn = isJsonObject(properties) && Object.hasOwn(properties, name);
    const own = isOwn ? properties[name] : rest;
    if (own === undefined) continue;
    const answer = accepts(own, one, side, steps);
    // A name that a pattern matches is not additional.
    yield !isOwn && answer === false && Object.hasOwn(schema, 'patternProperties')
      ? undefined
      : answer;
  }
}
