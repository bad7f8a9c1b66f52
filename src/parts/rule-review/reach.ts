/** Follows the path of a rule through a schema, to everything that may be at its end. */
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import {
  accepts,
  kindOf,
  type Side,
  type Steps,
} from '../../values/json-schema/inclusion-values.ts';
import {
  countOf,
  itemOf,
  namesOf,
  prefixOf,
  requiredOf,
  type View,
  viewOf,
} from '../../values/json-schema/inclusion-view.ts';
import { defaultsOf, memberOf, type Parts } from './members.ts';

/** A range of sizes. */
export interface Sizes {
  readonly min: number;
  readonly max: number;
}

/** Something that may be at the end of a path. */
export interface Leaf {
  /** What is known of it, arrays aside. Undefined for the missing element of an empty array. */
  readonly view: View | undefined;
  /** The sizes of the outermost array that it is in; undefined if it is in none. */
  readonly whole: Sizes | undefined;
}

/** What is known of all values, the path, and how it is read: as `policy/walk.ts` reads it. */
export interface Route {
  readonly side: Side;
  readonly path: readonly string[];
  /** True for the wide reading of a deny or ask, false for the narrow one of an allow. */
  readonly wide: boolean;
  /** Below 0 if the search was cut short. It has then found less than there is. */
  readonly steps: Steps;
}

const nothingTaken: ReadonlySet<JsonValue> = new Set();
const notArray: JsonObject = { type: ['null', 'boolean', 'object', 'string', 'number'] };

/** Whether `test` is true of something at the end of the path. */
export function reaches(route: Route, test: (leaf: Leaf) => boolean): boolean {
  return new Reach(route, test).at([route.side.root], 0);
}

/** Whether a value may have nothing at the path. */
export function mayLack({ side, path, steps }: Route): boolean {
  const lacks = (parts: Parts, at: number): boolean => {
    if (at === path.length) return false;
    const name = path[at] as string;
    for (const view of viewsOf(parts, nothingTaken, side, steps)) {
      if (view.values !== undefined || !view.kinds.has('object') || view.kinds.size > 1)
        return true;
      if (!requiredOf(view).has(name)) return true;
      const member = memberOf(view, name, side);
      if (member !== undefined && lacks(member, at + 1)) return true;
    }
    return false;
  };
  return lacks([side.root], 0) || steps.left < 0;
}

/** The names of members that objects at the end of the path have, by their schemas. */
export function namesAt(route: Route): ReadonlySet<string> {
  const names = new Set<string>();
  reaches(route, ({ view }) => {
    if (view !== undefined) for (const name of namesOf(view)) names.add(name);
    return false;
  });
  return names;
}

/** Each combination of the branches that a value may fit. */
function* viewsOf(
  parts: Parts,
  taken: ReadonlySet<JsonValue>,
  side: Side,
  steps: Steps,
): Generator<View> {
  if (--steps.left < 0) return;
  const view = viewOf(parts, taken, side, steps);
  if (view === undefined) return;
  const [choice] = view.choices;
  if (choice === undefined) {
    const { values } = view;
    if (values === undefined) yield view;
    else for (const value of values) yield* viewsOfValue(value, view, side, steps);
    return;
  }
  const now = new Set([...taken, choice as JsonValue]);
  for (const branch of choice) yield* viewsOf([...view.atoms, branch], now, side, steps);
}

/** One of the values that a schema lists, if nothing else excludes it. */
function* viewsOfValue(value: JsonValue, view: View, side: Side, steps: Steps): Generator<View> {
  if (view.atoms.some((atom) => accepts(atom, value, side, steps) === false)) return;
  if (typeof value !== 'object' || value === null)
    yield { ...view, values: [value], kinds: new Set([kindOf(value)]) };
  else {
    const inner = viewOf([partOf(value)], nothingTaken, side, steps);
    if (inner !== undefined) yield inner;
  }
}

/** The schema that only this object or array fits. */
function partOf(value: JsonObject | readonly JsonValue[]): JsonObject {
  const only = (one: JsonValue): JsonObject => ({ enum: [one] });
  if (Array.isArray(value))
    return {
      type: 'array',
      prefixItems: (value as readonly JsonValue[]).map(only),
      items: false,
      minItems: value.length,
    };
  const members = Object.entries(value) as [string, JsonValue][];
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([key, one]) => [key, only(one)])),
    required: Object.keys(value),
    additionalProperties: false,
  };
}

class Reach {
  readonly #route: Route;
  readonly #test: (leaf: Leaf) => boolean;
  readonly #ids = new Map<JsonValue, number>();
  readonly #seen = new Set<string>();

  constructor(route: Route, test: (leaf: Leaf) => boolean) {
    this.#route = route;
    this.#test = test;
  }

  at(parts: Parts, at: number): boolean {
    const { side, steps } = this.#route;
    for (const view of viewsOf(parts, nothingTaken, side, steps))
      if (this.#in(view, at)) return true;
    return false;
  }

  #in(view: View, at: number): boolean {
    if (this.#wasSeen(view, `${at}`)) return false;
    const { path } = this.#route;
    if (at === path.length)
      return (
        this.#test({ view, whole: undefined }) ||
        (view.kinds.has('array') && this.#elements(view, undefined))
      );
    return (
      (view.kinds.has('array') && this.#inArray(view, at)) ||
      (view.kinds.has('object') && this.#inObject(view, at)) ||
      // A value outside an array is read as an array of one.
      (this.#isPlace(at) && this.at([...view.atoms, notArray], at + 1))
    );
  }

  #inArray(view: View, at: number): boolean {
    const { path, wide } = this.#route;
    const name = path[at] as string;
    if (isIndex(name) && this.at(itemOf(view, Number(name)), at + 1)) return true;
    return itemsOf(view).some(
      (parts) => (name === '*' && this.at(parts, at + 1)) || (wide && this.at(parts, at)),
    );
  }

  #inObject(view: View, at: number): boolean {
    const { path, wide, side, steps } = this.#route;
    for (let end = at; end < (wide ? path.length : at + 1); end++) {
      if (--steps.left < 0) return false;
      const key = path.slice(at, end + 1).join('.');
      if (key === '*' && !wide) continue;
      const member = memberOf(view, key, side);
      if (member !== undefined && this.at(member, end + 1)) return true;
      // An absent member gets its default, which need not fit its schema.
      for (const parts of defaultsOf(view, key, side)) if (this.at(parts, end + 1)) return true;
    }
    return false;
  }

  /** An array at the end of the path, searched at every depth. */
  #elements(view: View, outer: Sizes | undefined): boolean {
    const { side, steps } = this.#route;
    const sizes = sizesOf(view);
    const whole = outer ?? sizes;
    const nothing = outer ?? { min: 0, max: 0 };
    if (sizes.min === 0 && this.#test({ view: undefined, whole: nothing })) return true;
    const inside = { ...whole, min: Math.max(1, whole.min) };
    for (const parts of itemsOf(view))
      for (const item of viewsOf(parts, nothingTaken, side, steps)) {
        if (this.#wasSeen(item, `in ${inside.min} ${inside.max}`)) continue;
        if (this.#test({ view: item, whole: inside })) return true;
        if (item.kinds.has('array') && this.#elements(item, inside)) return true;
      }
    return false;
  }

  #isPlace(at: number): boolean {
    const name = this.#route.path[at];
    return name === '*' || name === '0';
  }

  /** A schema that comes up again inside itself, as in a list of lists, leads to nothing new. */
  #wasSeen({ atoms, values }: View, where: string): boolean {
    const ids = atoms.map((atom) => {
      let id = this.#ids.get(atom);
      if (id === undefined) {
        id = this.#ids.size;
        this.#ids.set(atom, id);
      }
      return id;
    });
    const only = values === undefined ? '' : JSON.stringify(values);
    const key = `${where} ${ids.sort((a, b) => a - b).join()} ${only}`;
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    return false;
  }
}

function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(name);
}

/** The schemas of the elements: each place that has its own, and all further ones. */
function itemsOf(view: View): Parts[] {
  const { max } = sizesOf(view);
  const listed = prefixOf(view);
  const items: Parts[] = [];
  for (let index = 0; index < Math.min(listed, max); index++) items.push(itemOf(view, index));
  if (max > listed) items.push(itemOf(view, undefined));
  return items;
}

function sizesOf(view: View): Sizes {
  let max = countOf(view, 'maxItems') ?? Number.POSITIVE_INFINITY;
  for (const atom of view.atoms) {
    if (view.get(atom, 'items') !== false) continue;
    const prefix = view.get(atom, 'prefixItems');
    max = Math.min(max, Array.isArray(prefix) ? prefix.length : 0);
  }
  return { min: countOf(view, 'minItems') ?? 0, max };
}
