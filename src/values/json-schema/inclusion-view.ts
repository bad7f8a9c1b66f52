/** What is known about the values that several schemas accept together. */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { isLoneReference, keyword } from '../schema/dialect.ts';
import { followReference } from '../schema/local-reference.ts';
import { allKinds, type Kind, kindOf, kindsOf, type Side, type Steps } from './inclusion-values.ts';

/** The bound of numbers on one side. */
export interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

/**
 * The values that all of `atoms` and one branch of each of `choices` accept. Constraints that are
 * ignored would only remove values, so whatever is proved of these values holds.
 */
export interface View {
  readonly atoms: readonly JsonObject[];
  /** Lists of `anyOf` and `oneOf`. */
  readonly choices: readonly (readonly JsonValue[])[];
  readonly kinds: ReadonlySet<Kind>;
  /** All values, if there are only a few. */
  readonly values: readonly JsonValue[] | undefined;
  readonly steps: Steps;
  get(atom: JsonObject, name: string): JsonValue | undefined;
}

/** Takes schemas apart. Undefined if no value fits all of them. */
export function viewOf(
  parts: readonly JsonValue[],
  taken: ReadonlySet<JsonValue>,
  side: Side,
  steps: Steps,
): View | undefined {
  const get = (atom: JsonObject, name: string): JsonValue | undefined =>
    keyword(atom, name, side.dialect);
  const atoms = new Set<JsonObject>();
  const choices: (readonly JsonValue[])[] = [];
  const waiting = [...parts];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part === false) return undefined;
    if (!isJsonObject(part) || atoms.has(part) || --steps.left < 0) continue;
    const reference = get(part, '$ref');
    if (typeof reference === 'string') {
      const target = followReference(reference, part, side.root);
      if (target !== undefined) waiting.push(target);
    }
    if (isLoneReference(part, side.dialect)) continue;
    atoms.add(part);
    steps.left -= weightOf(part);
    const all = get(part, 'allOf');
    if (Array.isArray(all)) waiting.push(...(all as JsonValue[]));
    for (const name of ['anyOf', 'oneOf']) {
      const list = get(part, name);
      if (Array.isArray(list) && !taken.has(list)) choices.push(list as readonly JsonValue[]);
    }
  }
  const list = [...atoms];
  const kinds = new Set(
    allKinds.filter((kind) => list.every((atom) => kindsOf(get(atom, 'type')).includes(kind))),
  );
  return kinds.size === 0
    ? undefined
    : { atoms: list, choices, kinds, values: valuesOf(list, kinds, get), steps, get };
}

/** The cost of reading a schema's long lists. */
function weightOf({ required, enum: among, properties }: JsonObject): number {
  const lengthOf = (value: JsonValue | undefined): number =>
    Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
  return (lengthOf(required) + lengthOf(among) + lengthOf(properties)) >> 3;
}

/** Whether an object has members. */
export function hasKeys(value: JsonValue | undefined): boolean {
  for (const _ in value as JsonObject | undefined) return true;
  return false;
}

function valuesOf(
  atoms: readonly JsonObject[],
  kinds: ReadonlySet<Kind>,
  get: View['get'],
): readonly JsonValue[] | undefined {
  for (const atom of atoms) {
    const constant = get(atom, 'const');
    const among = constant === undefined ? get(atom, 'enum') : [constant];
    if (Array.isArray(among))
      return (among as readonly JsonValue[]).filter((value) => kinds.has(kindOf(value)));
  }
  if (![...kinds].every((kind) => kind === 'null' || kind === 'boolean')) return undefined;
  return [...(kinds.has('null') ? [null] : []), ...(kinds.has('boolean') ? [true, false] : [])];
}

/** The tightest lower or upper bound of the numbers; undefined without one. */
export function boundOf(view: View, end: 'minimum' | 'maximum'): Bound | undefined {
  let bound: Bound | undefined;
  const isTighter = (value: number, exclusive: boolean, old: Bound): boolean =>
    value === old.value ? exclusive : end === 'minimum' ? value > old.value : value < old.value;
  const exclusiveName = end === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  for (const atom of view.atoms)
    for (const [name, exclusive] of [
      [end, false],
      [exclusiveName, true],
    ] as const) {
      const value = view.get(atom, name);
      if (typeof value === 'number' && (bound === undefined || isTighter(value, exclusive, bound)))
        bound = { value, exclusive };
    }
  if (bound === undefined || view.kinds.has('fraction')) return bound;
  // For whole numbers, above 0 means from 1.
  const { value, exclusive } = bound;
  const whole =
    end === 'minimum'
      ? exclusive
        ? Math.floor(value) + 1
        : Math.ceil(value)
      : exclusive
        ? Math.ceil(value) - 1
        : Math.floor(value);
  return { value: whole, exclusive: false };
}

/** The largest of a count such as `minLength`, or the smallest of one such as `maxLength`. */
export function countOf(view: View, name: string): number | undefined {
  const counts = view.atoms
    .map((atom) => view.get(atom, name))
    .filter((count): count is number => typeof count === 'number');
  if (counts.length === 0) return undefined;
  return counts.reduce((a, b) => (name.startsWith('max') ? Math.min(a, b) : Math.max(a, b)));
}

/** The names of members that every object has. */
export function requiredOf(view: View): ReadonlySet<string> {
  return new Set(
    view.atoms.flatMap((atom) => (view.get(atom, 'required') ?? []) as readonly string[]),
  );
}

/** The names that some schema lists. */
export function namesOf(view: View): ReadonlySet<string> {
  return new Set(view.atoms.flatMap((atom) => Object.keys(view.get(atom, 'properties') ?? {})));
}

/** The schemas of a property. Without a name, those of a property that no schema lists. */
export function propertyOf(view: View, name: string | undefined): readonly JsonValue[] {
  return view.atoms.flatMap((atom) => {
    const properties = view.get(atom, 'properties');
    if (name !== undefined && isJsonObject(properties) && Object.hasOwn(properties, name))
      return [properties[name] as JsonValue];
    // A name that a pattern matches is not additional.
    if (hasKeys(view.get(atom, 'patternProperties'))) return [];
    const rest = view.get(atom, 'additionalProperties');
    return rest === undefined ? [] : [rest];
  });
}

/** How many of the first elements have their own schemas. */
export function prefixOf(view: View): number {
  return Math.max(0, ...view.atoms.map((atom) => prefixItems(view, atom).length));
}

/**
 * The schemas of the element at an index. Without an index, those of an element after all prefixes.
 */
export function itemOf(view: View, index: number | undefined): readonly JsonValue[] {
  return view.atoms.flatMap((atom) => {
    const prefix = prefixItems(view, atom);
    if (index !== undefined && index < prefix.length) return [prefix[index] as JsonValue];
    const items = view.get(atom, 'items');
    return items === undefined || Array.isArray(items) ? [] : [items];
  });
}

function prefixItems(view: View, atom: JsonObject): readonly JsonValue[] {
  const prefix = view.get(atom, 'prefixItems');
  return Array.isArray(prefix) ? (prefix as readonly JsonValue[]) : [];
}

/**
 * Whether some schema has the same values for these keywords. A reference in them may lead to
 * something else, so values with references count as different.
 */
export function hasEqual(view: View, wanted: JsonObject, names: readonly string[]): boolean {
  const text = textOf(wanted, names);
  view.steps.left -= (text.length >> 6) * (view.atoms.length + 1);
  return (
    view.steps.left >= 0 &&
    !text.includes('"$ref"') &&
    !text.includes('"$dynamicRef"') &&
    view.atoms.some((atom) => textOf(atom, names) === text)
  );
}

function textOf(schema: JsonObject, names: readonly string[]): string {
  return canonicalJson(
    names.map((name) => (Object.hasOwn(schema, name) ? [schema[name]] : [])) as JsonValue,
  );
}
