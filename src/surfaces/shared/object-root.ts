/**
 * The root of an input schema as providers want it: one object, without alternatives at the top.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { canonicalJson, isJsonObject } from '../../json.ts';
import { followReference } from '../../schema/local-reference.ts';
import type { ConvertedSchema, SchemaLoss } from './listing.ts';
import { budgetOf, isWord, mergedParts } from './merged-parts.ts';

/** Keywords that providers refuse at the top, whatever they say. */
const refused = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'] as const;
/** Alternatives within alternatives; a circle is never deeper. */
const mostNested = 16;

/** Schemas, properties and names that one root is gathered from, counted with repetition. */
const mostWork = 50_000;

/** What goes along while a root is gathered. */
interface Gathering {
  readonly root: JsonObject;
  readonly losses: SchemaLoss[];
  readonly spend: () => boolean;
}

/** Properties as they are gathered from the alternatives of a root. */
interface Gathered {
  /** By name, then by canonical text, so that equal ones are there once. */
  readonly properties: Map<string, Map<string, JsonValue>>;
  /** Names that every alternative demands. */
  readonly required: Set<string>;
  closed: boolean;
}

/**
 * The schema with an object at its root. A root that has one already stays the same object; one of
 * alternatives becomes a single object with all their properties, of which those are required that
 * each alternative demands. What the model may then give is more than what the tool takes; the
 * tool's own schema decides.
 */
export function toObjectRoot(schema: JsonObject): ConvertedSchema {
  const same = sameRoot(schema);
  if (same !== undefined) return { schema: same, losses: [] };
  const losses: SchemaLoss[] = [];
  const spend = budgetOf(mostWork);
  const { properties, required, closed } = gather(
    schema,
    '',
    { root: schema, losses, spend },
    mostNested,
  );
  if (!spend(0))
    return {
      schema: { type: 'object' },
      losses: [
        { path: '', message: 'Nothing but an object is shown: its alternatives repeat too much.' },
      ],
    };
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const)
    if (Array.isArray(schema[keyword]))
      losses.push({
        path: `/${keyword}`,
        message:
          'The alternatives were merged into one object: a root of alternatives is not taken. ' +
          'Calls are still checked against them.',
      });
  for (const keyword of ['enum', 'const', 'not'] as const)
    if (schema[keyword] !== undefined)
      losses.push({
        path: `/${keyword}`,
        message:
          `\`${keyword}\` was removed from the root, where it is not taken. Calls are still ` +
          'checked against it.',
      });
  const rest = Object.fromEntries(
    Object.entries(schema).filter(
      ([keyword]) =>
        !(refused as readonly string[]).includes(keyword) &&
        !['type', 'properties', 'required', 'additionalProperties'].includes(keyword),
    ),
  );
  const made: JsonObject = {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(
      [...properties].map(([name, schemas]) => [name, anyOf([...schemas.values()])]),
    ),
    required: [...required].filter((name) => properties.has(name)),
    ...(closed ? { additionalProperties: false } : {}),
  };
  // A reference into what was merged leads nowhere now, and would cost the whole request.
  if (!/"\$ref":"#\/(?:anyOf|oneOf|allOf)\//.test(JSON.stringify(made)))
    return { schema: made, losses };
  return {
    schema: { type: 'object' },
    losses: [
      ...losses,
      {
        path: '',
        message: 'Nothing but an object is shown: the schema refers into its own alternatives.',
      },
    ],
  };
}

/** An object root that says the same; undefined where there is none. */
function sameRoot(schema: JsonObject): JsonObject | undefined {
  let at: JsonObject | undefined = schema;
  for (let left = mostNested; left > 0 && at !== undefined; left--) {
    if (at.type === 'object' && refused.every((keyword) => at?.[keyword] === undefined)) return at;
    if (typeof at.$ref === 'string') at = withTarget(at, schema);
    else if (at.allOf !== undefined) at = mergedParts(at, schema);
    else if (at.type === undefined) at = { type: 'object', ...at };
    else return undefined;
  }
  return undefined;
}

/** What a root refers to, in its place. */
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
        work.losses.push({ path: at, message: 'Removed: the input of a call is an object.' });
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

/** What holds beside: all of its properties, all that it requires. */
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
