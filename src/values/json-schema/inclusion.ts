/**
 * Proves that every value that one schema accepts is accepted by another. If there is no proof, the
 * schemas count as different, so the answer is never too lenient.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { dialectOf, isLoneReference, keyword } from '../schema/dialect.ts';
import { followReference } from '../schema/local-reference.ts';
import { areApart } from './inclusion-branches.ts';
import {
  isClosed,
  type Leaf,
  type Obstacle,
  type Obstacles,
  proveEqual,
  proveKind,
  proveNumber,
  proveSizes,
  refused,
  undecided,
} from './inclusion-keywords.ts';
import { accepts, type Side, type Steps } from './inclusion-values.ts';
import {
  countOf,
  hasEqual,
  hasKeys,
  itemOf,
  namesOf,
  prefixOf,
  propertyOf,
  requiredOf,
  viewOf,
} from './inclusion-view.ts';

export type { Obstacle } from './inclusion-keywords.ts';

interface Proof {
  readonly narrow: Side;
  readonly wide: Side;
  readonly steps: Steps;
  /** Numbers for schemas. The keys of `open` are made from them. */
  readonly ids: Map<JsonValue, number>;
  /**
   * Pairs that are being proved. A pair that comes up again inside itself, as in a list of lists,
   * may be assumed, since the values get smaller at each step.
   */
  readonly open: Set<string>;
  depth: number;
}

interface Goal extends Leaf {
  readonly taken: ReadonlySet<JsonValue>;
  readonly proof: Proof;
}

/** The steps of one comparison, which take some ten milliseconds. */
const maxSteps = 3_000;
const maxDepth = 200;
const maxObstacles = 100;
const none: readonly never[] = Object.freeze([]);
const nothingTaken: ReadonlySet<JsonValue> = new Set();

/**
 * The reasons why it is not proved that `wide` accepts everything that `narrow` accepts; empty if
 * it is proved. Only for schemas whose keyword values have been checked.
 */
export function obstaclesTo(narrow: JsonObject, wide: JsonObject): Obstacles {
  const [from, to] = [dialectOf(narrow), dialectOf(wide)];
  if (from !== to) return [undecided('', '$schema', narrow.$schema, wide.$schema)];
  const proof: Proof = {
    narrow: { root: narrow, dialect: from },
    wide: { root: wide, dialect: to },
    steps: { left: maxSteps, enums: new Map() },
    ids: new Map(),
    open: new Set(),
    depth: 0,
  };
  const found = prove([narrow], wide, '', nothingTaken, proof);
  if (proof.steps.left < 0) return [undecided('', 'size', undefined, undefined)];
  return found.slice(0, maxObstacles);
}

/** @param taken The choices of the narrower side of which one branch is among `parts`. */
function prove(
  parts: readonly JsonValue[],
  wide: JsonValue,
  path: string,
  taken: ReadonlySet<JsonValue>,
  proof: Proof,
): Obstacles {
  if (wide === true) return none;
  if (--proof.steps.left < 0 || proof.depth > maxDepth)
    return [undecided(path, 'size', undefined, undefined)];
  const key =
    taken.size > 0
      ? undefined
      : `${parts.map((part) => idOf(part, proof)).join()}>${idOf(wide, proof)}`;
  if (key !== undefined && proof.open.has(key)) return none;
  if (key !== undefined) proof.open.add(key);
  proof.depth++;
  const found = proveOpen(parts, wide, path, taken, proof);
  proof.depth--;
  if (key !== undefined) proof.open.delete(key);
  return found;
}

function idOf(schema: JsonValue, { ids }: Proof): number {
  let id = ids.get(schema);
  if (id === undefined) {
    id = ids.size;
    ids.set(schema, id);
  }
  return id;
}

function proveOpen(
  parts: readonly JsonValue[],
  wide: JsonValue,
  path: string,
  taken: ReadonlySet<JsonValue>,
  proof: Proof,
): Obstacles {
  const view = viewOf(parts, taken, proof.narrow, proof.steps);
  if (view === undefined) return none;
  if (!isJsonObject(wide)) return [refused(path, 'allowed', true, false)];
  if (view.values !== undefined) return proveValues(view.values, wide, path, proof);
  const { dialect } = proof.wide;
  const get = (name: string): JsonValue | undefined => keyword(wide, name, dialect);
  const found = proveKeywords({ view, wide, path, taken, proof, get });
  const [choice] = view.choices;
  if (found.length === 0 || choice === undefined) return found;
  // All branches must fit, each together with everything else.
  const now = new Set([...taken, choice as JsonValue]);
  for (const branch of choice) {
    const obstacles = prove([...view.atoms, branch], wide, path, now, proof);
    if (obstacles.length > 0) return obstacles;
  }
  return none;
}

function proveValues(
  values: readonly JsonValue[],
  wide: JsonObject,
  path: string,
  { wide: side, steps }: Proof,
): Obstacles {
  const found: Obstacle[] = [];
  for (const value of values) {
    const answer = accepts(wide, value, side, steps);
    if (answer === undefined) found.push(undecided(path, 'values', value, undefined));
    else if (!answer) found.push(refused(path, 'values', value, undefined));
    if (found.length >= maxObstacles) break;
  }
  return found;
}

function proveKeywords(goal: Goal): Obstacles {
  const { wide, proof } = goal;
  const found: Obstacle[] = [];
  found.push(...proveReference(goal));
  if (isLoneReference(wide, proof.wide.dialect)) return found;
  found.push(...proveKind(goal));
  const { kinds } = goal.view;
  if (kinds.has('integer') || kinds.has('fraction')) found.push(...proveNumber(goal));
  found.push(...proveSizes(goal));
  if (kinds.has('array')) found.push(...proveItems(goal));
  if (kinds.has('object')) found.push(...proveProperties(goal));
  found.push(...proveEqual(goal), ...proveBranches(goal));
  return found;
}

function proveReference({ view, wide, path, taken, proof, get }: Goal): Obstacles {
  const found: Obstacle[] = [];
  const reference = get('$ref');
  if (typeof reference === 'string') {
    const target = followReference(reference, wide, proof.wide.root);
    found.push(
      ...(target === undefined
        ? [undecided(path, '$ref', undefined, reference)]
        : prove(view.atoms, target, path, taken, proof)),
    );
  }
  if (get('$dynamicRef') !== undefined)
    found.push(undecided(path, '$dynamicRef', undefined, get('$dynamicRef')));
  return found;
}

function at(path: string, ...segments: readonly (string | number)[]): string {
  return [...(path === '' ? [] : [path]), ...segments].join('.');
}

function proveItems({ view, path, proof, get }: Goal): Obstacles {
  const items = get('items');
  if (Array.isArray(items) || get('additionalItems') !== undefined)
    return [undecided(at(path, 'items'), 'items', undefined, items)];
  const found: Obstacle[] = [];
  const given = get('prefixItems');
  const prefix = Array.isArray(given) ? (given as readonly JsonValue[]) : [];
  const most = countOf(view, 'maxItems') ?? Number.POSITIVE_INFINITY;
  const need = (index: number | undefined, wide: JsonValue | undefined, place: string): void => {
    if (wide === undefined) return;
    found.push(...prove(itemOf(view, index), wide, at(path, place), nothingTaken, proof));
  };
  const listed = Math.max(prefix.length, prefixOf(view));
  for (let index = 0; index < Math.min(listed, most); index++)
    if (index < prefix.length) need(index, prefix[index], `prefixItems.${index}`);
    else need(index, items, 'items');
  if (most > listed) need(undefined, items, 'items');
  return found;
}

function proveProperties({ view, path, proof, wide, get }: Goal): Obstacles {
  const found: Obstacle[] = [];
  const required = requiredOf(view);
  for (const name of (get('required') ?? []) as readonly string[])
    if (!required.has(name))
      found.push(refused(at(path, 'properties', name), 'required', false, true));
  const properties = get('properties');
  const own = isJsonObject(properties) ? properties : {};
  for (const [name, schema] of Object.entries(own))
    found.push(
      ...prove(propertyOf(view, name), schema, at(path, 'properties', name), nothingTaken, proof),
    );
  const rest = get('additionalProperties');
  if (rest === undefined || rest === true) return found;
  if (hasKeys(get('patternProperties'))) {
    if (!hasEqual(view, wide, ['additionalProperties', 'patternProperties', 'properties']))
      found.push(undecided(path, 'additionalProperties', undefined, rest));
    return found;
  }
  for (const name of namesOf(view))
    if (!Object.hasOwn(own, name))
      found.push(
        ...prove(propertyOf(view, name), rest, at(path, 'properties', name), nothingTaken, proof),
      );
  if (!isClosed(view))
    found.push(
      ...prove(
        propertyOf(view, undefined),
        rest,
        at(path, 'additionalProperties'),
        nothingTaken,
        proof,
      ),
    );
  return found;
}

/** `allOf`, `anyOf` and `oneOf`. */
function proveBranches(goal: Goal): Obstacles {
  const { view, path, taken, proof, get } = goal;
  const found: Obstacle[] = [];
  for (const one of listOf(get('allOf'))) found.push(...prove(view.atoms, one, path, taken, proof));
  for (const name of ['anyOf', 'oneOf']) {
    const branches = get(name);
    if (branches === undefined || hasEqual(view, goal.wide, [name])) continue;
    if (!fitsOne(goal, listOf(branches))) found.push(undecided(path, name, undefined, branches));
    else if (name === 'oneOf' && !areApart(listOf(branches), proof.wide, proof.steps))
      found.push(undecided(path, name, undefined, branches));
  }
  return found;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

/** Whether one branch accepts everything, or one branch for each kind of value. */
function fitsOne({ view, path, taken, proof }: Goal, branches: readonly JsonValue[]): boolean {
  const fits = (parts: readonly JsonValue[]): boolean =>
    branches.some((branch) => prove(parts, branch, path, taken, proof).length === 0);
  if (fits(view.atoms)) return true;
  const types = new Set([...view.kinds].map((kind) => (kind === 'fraction' ? 'number' : kind)));
  if (types.has('number')) types.delete('integer');
  return types.size > 1 && [...types].every((type) => fits([...view.atoms, { type }]));
}
