/**
 * Converts the root of an input schema to the form that providers require: one object, without
 * alternatives at the top.
 */
import type { JsonObject, JsonValue } from '../../core.ts';
import { canonicalJson, isJsonObject } from '../../values/json/index.ts';
import { followReference } from '../../values/schema/local-reference.ts';
import type { ConvertedSchema, SchemaLoss } from './listing.ts';
import { budgetOf, isWord, mergedParts } from './merged-parts.ts';

/** Keywords that providers refuse at the top, whatever their value. */
const refused = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'] as const;
/** The deepest nesting of alternatives. It also ends a cycle. */
const maxNested = 16;

/**
 * The most schemas, properties and names from which one root is gathered, counted with repetition.
 */
const maxWork = 50_000;

/** What the steps of gathering one root share. */
interface Gathering {
  readonly root: JsonObject;
  readonly losses: SchemaLoss[];
  readonly spend: () => boolean;
}

/** Properties as they are gathered from the alternatives of a root. */
interface Gathered {
  /** By name, then by canonical text, so that equal schemas are kept once. */
  readonly properties: Map<string, Map<string, JsonValue>>;
  /** Names that every alternative requires. */
  readonly required: Set<string>;
  closed: boolean;
}

/**
 * Returns the schema with an object at its root. A schema that already has one is returned
 * unchanged. A root of alternatives becomes one object with the properties of all of them; a
 * property is required if every alternative requires it. The model may then write more than the
 * tool accepts, but each call is still validated against the tool's own schema.
 */
export function toObjectRoot(schema: JsonObject): ConvertedSchema {
  const same = sameRoot(schema);
  if (same !== undefined) return { schema: same, losses: [] };
  const losses: SchemaLoss[] = [];
  const spend = budgetOf(maxWork);
  const gathered = gather(schema, '', { root: schema, losses, spend }, maxNested);
  if (!spend(0)) return onlyAnObject([], 'its alternatives repeat too much');
  losses.push(...rootLosses(schema));
  const made = mergedRoot(schema, gathered);
  // A reference into a merged part no longer has a target, and providers would refuse the request.
  if (/"\$ref":"#\/(?:anyOf|oneOf|allOf)\//.test(JSON.stringify(made)))
    return onlyAnObject(losses, 'the schema refers to its own alternatives');
  return { schema: made, losses };
}

function onlyAnObject(losses: readonly SchemaLoss[], why: string): ConvertedSchema {
  const message = `Only an object without properties is shown, because ${why}.`;
  return { schema: { type: 'object' }, losses: [...losses, { path: '', message }] };
}

/** The losses at the root. */
function rootLosses(schema: JsonObject): SchemaLoss[] {
  const merged = (['anyOf', 'oneOf', 'allOf'] as const)
    .filter((keyword) => Array.isArray(schema[keyword]))
    .map((keyword) => ({
      path: `/${keyword}`,
      message:
        'The alternatives were merged into one object, because the provider takes none at the ' +
        'root. Calls are still checked against them.',
    }));
  const removed = (['enum', 'const', 'not'] as const)
    .filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => ({
      path: `/${keyword}`,
      message:
        `\`${keyword}\` was removed from the root, where the provider does not take it. Calls ` +
        'are still checked against it.',
    }));
  return [...merged, ...removed];
}

function mergedRoot(schema: JsonObject, { properties, required, closed }: Gathered): JsonObject {
  const replaced: readonly string[] = [
    ...refused,
    'type',
    'properties',
    'required',
    'additionalProperties',
  ];
  return {
    ...Object.fromEntries(
      Object.entries(schema).filter(([keyword]) => !replaced.includes(keyword)),
    ),
    type: 'object',
    properties: Object.fromEntries(
      [...properties].map(([name, schemas]) => [name, anyOf([...schemas.values()])]),
    ),
    required: [...required].filter((name) => properties.has(name)),
    ...(closed ? { additionalProperties: false } : {}),
  };
}

/** An object root that accepts the same; undefined if there is none. */
function sameRoot(schema: JsonObject): JsonObject | undefined {
  let at: JsonObject | undefined = schema;
  for (let left = maxNested; left > 0 && at !== undefined; left--) {
    if (at.type === 'object' && refused.every((keyword) => at?.[keyword] === undefined)) return at;
    if (typeof at.$ref === 'string') at = withTarget(at, schema);
    else if (at.allOf !== undefined) at = mergedParts(at, schema);
    else if (at.type === undefined) at = { type: 'object', ...at };
    else return undefined;
  }
  return undefined;
}

/** Replaces the reference at a root with its target. */
function withTarget(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const { $ref, ...words } = schema;
  const target = followReference($ref as string, schema, root);
  return isJsonObject(target) && target !== root && Object.keys(words).every(isWord)
    ? { ...target, ...words }
    : undefined;
}

function anyOf(schemas: readonly JsonValue[]): JsonValue {
  return schemas.length === 1 ? (schemas[0] as JsonValue) : { anyOf: schemas };
}

function gather(
  schema: JsonValue | undefined,
  path: string,
  work: Gathering,
  left: number,
): Gathered {
  const gathered: Gathered = { properties: new Map(), required: new Set(), closed: false };
  if (!isJsonObject(schema) || left === 0 || !work.spend()) return gathered;
  if (isJsonObject(schema.properties))
    for (const [name, property] of Object.entries(schema.properties))
      if (work.spend()) add(gathered, name, canonicalJson(property), property);
  if (Array.isArray(schema.required))
    for (const name of schema.required as readonly JsonValue[])
      if (typeof name === 'string' && work.spend()) gathered.required.add(name);
  gathered.closed = schema.additionalProperties === false;
  if (typeof schema.$ref === 'string') {
    const target = followReference(schema.$ref, schema, work.root);
    if (target !== work.root) unite(gathered, gather(target, path, work, left - 1), work);
  }
  const { allOf } = schema;
  if (Array.isArray(allOf))
    for (const [index, part] of allOf.entries())
      unite(gathered, gather(part as JsonValue, `${path}/allOf/${index}`, work, left - 1), work);
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    const branches: Gathered[] = [];
    for (const [index, branch] of (list as readonly JsonValue[]).entries()) {
      const at = `${path}/${keyword}/${index}`;
      if (!work.spend()) break;
      if (isJsonObject(branch) && branch.type !== undefined && branch.type !== 'object')
        work.losses.push({
          path: at,
          message: 'Removed, because the input of a call is an object.',
        });
      else branches.push(gather(branch, at, work, left - 1));
    }
    for (const branch of branches) addAll(gathered, branch, work);
    const [first, ...others] = branches;
    for (const name of first?.required ?? [])
      if (others.every(({ required }) => required.has(name))) gathered.required.add(name);
    gathered.closed ||= branches.length > 0 && branches.every(({ closed }) => closed);
  }
  return gathered;
}

/** Adds a part that also applies: all of its properties, and all names that it requires. */
function unite(gathered: Gathered, part: Gathered, work: Gathering): void {
  addAll(gathered, part, work);
  for (const name of part.required) if (work.spend()) gathered.required.add(name);
  gathered.closed ||= part.closed;
}

function addAll(gathered: Gathered, { properties }: Gathered, { spend }: Gathering): void {
  for (const [name, schemas] of properties)
    for (const [text, one] of schemas) if (spend()) add(gathered, name, text, one);
}

function add({ properties }: Gathered, name: string, text: string, schema: JsonValue): void {
  const known = properties.get(name) ?? new Map<string, JsonValue>();
  properties.set(name, known);
  if (!known.has(text)) known.set(text, schema);
}
