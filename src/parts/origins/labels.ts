/**
 * A host's labels for the fields of an output or the arguments of an input, as a graph that is
 * walked together with a value. Labels come from a schema and from paths. A path overrides the
 * schema, and a deeper label overrides one above it.
 */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, ownMember } from '../../values/json/index.ts';
import { followReference } from '../../values/schema/local-reference.ts';

/** What is known about the values at one place. */
export interface LabelNode<L> {
  /** The label of this place itself, from the schema's parts or a path. */
  readonly label: L | undefined;
  /** Every part of the schema that applies here. */
  readonly parts: readonly JsonObject[];
  readonly steps: readonly PathStep<L>[];
  /** Whether elements of an array here may differ by their index. */
  readonly hasPlaces: boolean;
  readonly children: Map<string, LabelNode<L>>;
}

interface PathStep<L> {
  label: L | undefined;
  readonly named: Map<string, PathStep<L>>;
  each: PathStep<L> | undefined;
}

/** Where labels come from. */
export interface LabelSource<L> {
  readonly schema: JsonObject | boolean | undefined;
  /** Labels by path: names joined by dots, `*` for any one name or element. */
  readonly paths: Readonly<Record<string, L>> | undefined;
  /** The label in one part of the schema. */
  readonly read: (part: JsonObject) => L | undefined;
  /** Chooses the label that counts, if one place has several. */
  readonly strictest: (labels: readonly L[]) => L | undefined;
  /** The label of a place with more schema parts than are followed. */
  readonly ifTooMany: L;
}

/** The labels of one tool. */
export interface Labels<L> {
  readonly root: LabelNode<L>;
  /** The node of a member or, with its index, of an element. */
  child(node: LabelNode<L>, key: string | number): LabelNode<L>;
}

/** Most parts of a schema that may apply to one value. */
const maxParts = 100;
/** Most nodes that are kept for the next value. Others are created again. */
const maxKept = 5_000;

/**
 * @throws MisuseError `invalid_option` for a path with an empty name.
 */
export function createLabels<L>(source: LabelSource<L>): Labels<L> {
  const document = isJsonObject(source.schema) ? source.schema : undefined;
  const steps = stepsOf(source.paths);
  let kept = 0;

  const nodeOf = (parts: readonly JsonObject[], at: readonly PathStep<L>[]): LabelNode<L> => {
    const all = document === undefined ? [] : expanded(parts, document);
    return {
      label: labelOf(all, at, source),
      parts: all,
      steps: at,
      hasPlaces: all.some(isTuple) || at.some(namesPlaces),
      children: new Map(),
    };
  };
  return {
    root: nodeOf(document === undefined ? [] : [document], steps === undefined ? [] : [steps]),
    child(node, key) {
      // Members and elements with the same schema parts and paths share a node.
      const name = isTold(node, key) ? String(key) : typeof key === 'number' ? element : member;
      const known = node.children.get(name);
      if (known !== undefined) return known;
      const parts = node.parts.flatMap((part) => partsBelow(part, key));
      const made = nodeOf(parts, stepsBelow(node.steps, key));
      if (kept++ < maxKept) node.children.set(name, made);
      return made;
    },
  };
}

/** The names of places that no schema and no path names. */
const element = '\0element';
const member = '\0member';

/** Whether a schema or a path names this very key or index. */
function isTold({ parts, steps, hasPlaces }: LabelNode<unknown>, key: string | number): boolean {
  if (typeof key === 'number') return hasPlaces;
  for (const { named, each } of steps) if (named.has(key) || each?.named.has(key)) return true;
  for (const part of parts) {
    const properties = ownMember(part, 'properties');
    if (isJsonObject(properties) && Object.hasOwn(properties, key)) return true;
  }
  return false;
}

function isTuple(part: JsonObject): boolean {
  return Array.isArray(ownMember(part, 'prefixItems')) || Array.isArray(ownMember(part, 'items'));
}

/** Whether a path continues with an index. */
function namesPlaces({ named }: PathStep<unknown>): boolean {
  for (const name of named.keys()) if (/^\d+$/.test(name)) return true;
  return false;
}

function labelOf<L>(
  parts: readonly JsonObject[],
  steps: readonly PathStep<L>[],
  { read, strictest, ifTooMany }: LabelSource<L>,
): L | undefined {
  const byPath = steps.flatMap(({ label }) => (label === undefined ? [] : [label]));
  if (byPath.length > 0) return strictest(byPath);
  if (parts.length > maxParts) return ifTooMany;
  const found = parts.map(read).filter((label) => label !== undefined);
  return found.length === 0 ? undefined : strictest(found);
}

/** Keywords whose value is a schema, or a list of schemas, for the same value. */
const sameValue = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'];

/** The parts and everything that they refer to for the same value. */
function expanded(parts: readonly JsonObject[], document: JsonObject): JsonObject[] {
  const all = new Set(parts);
  for (const part of all) {
    if (all.size > maxParts) break;
    const reference = ownMember(part, '$ref') ?? ownMember(part, '$dynamicRef');
    const target =
      typeof reference === 'string' ? followReference(reference, part, document) : undefined;
    if (isJsonObject(target)) all.add(target);
    for (const keyword of sameValue) {
      const value = ownMember(part, keyword);
      for (const other of Array.isArray(value) ? value : [value])
        if (isJsonObject(other)) all.add(other);
    }
  }
  return [...all];
}

function partsBelow(part: JsonObject, key: string | number): JsonObject[] {
  const found: JsonObject[] = [];
  const add = (value: unknown): void => {
    if (isJsonObject(value)) found.push(value);
  };
  if (typeof key === 'number') {
    const items = ownMember(part, 'items');
    const tuple = ownMember(part, 'prefixItems') ?? (Array.isArray(items) ? items : undefined);
    const isListed = Array.isArray(tuple) && key < tuple.length;
    if (isListed) add(tuple[key]);
    else add(Array.isArray(items) ? ownMember(part, 'additionalItems') : items);
    add(ownMember(part, 'contains'));
    return found;
  }
  const properties = ownMember(part, 'properties');
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) {
    add(properties[key]);
    return found;
  }
  const patterns = ownMember(part, 'patternProperties');
  // It is unknown which pattern fits, so any of them may describe the value.
  if (isJsonObject(patterns)) for (const value of Object.values(patterns)) add(value);
  add(ownMember(part, 'additionalProperties'));
  return found;
}

function stepsBelow<L>(steps: readonly PathStep<L>[], key: string | number): PathStep<L>[] {
  const found: PathStep<L>[] = [];
  for (const step of steps) {
    const named = step.named.get(String(key));
    if (named !== undefined) found.push(named);
    if (step.each !== undefined) {
      found.push(step.each);
      // A value outside an array is read as an array of one element.
      const inside = typeof key === 'string' ? step.each.named.get(key) : undefined;
      if (inside !== undefined) found.push(inside);
    }
    // A path also enters arrays that it does not mention.
    else if (typeof key === 'number' && named === undefined) found.push(step);
  }
  return found;
}

function stepsOf<L>(paths: Readonly<Record<string, L>> | undefined): PathStep<L> | undefined {
  if (paths === undefined) return undefined;
  const root = newStep<L>();
  for (const [path, label] of Object.entries(paths)) {
    const names = path.split('.');
    if (names.includes(''))
      throw new MisuseError(
        'invalid_option',
        `Expected the path of a label to be non-empty names joined by dots, got ${describe(path)}`,
      );
    let step = root;
    for (const name of names) {
      const next = (name === '*' ? step.each : step.named.get(name)) ?? newStep<L>();
      if (name === '*') step.each = next;
      else step.named.set(name, next);
      step = next;
    }
    step.label = label;
    // A key that contains dots is another reading of the path.
    if (names.length > 1 && !root.named.has(path)) root.named.set(path, step);
  }
  return root;
}

function newStep<L>(): PathStep<L> {
  return { label: undefined, named: new Map(), each: undefined };
}
