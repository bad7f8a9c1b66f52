/**
 * What the schemas of a document say about one place of a value. A place is computed once, however
 * many values of the input are there.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { followReference } from './local-reference.ts';

// Whether a schema accepts null as a value of its own.

/** Most references that are followed from one place. Only a circle makes a longer chain. */
const maxReferences = 16;

/**
 * What a schema says about null: that it is a value, that only other values are allowed, or
 * nothing. A schema that says nothing accepts anything.
 */
type NullVerdict = 'value' | 'other' | 'anything';

/**
 * Whether the schema accepts null as a value of its own. A schema that says nothing accepts
 * anything.
 */
export function takesNull(schema: JsonValue, root: JsonObject): boolean {
  return nullReader(root)(schema);
}

/** {@link takesNull} for many schemas of one document. Each is read once. */
export function nullReader(root: JsonObject): (schema: JsonValue) => boolean {
  const known = new Map<JsonObject, NullVerdict>();
  return (schema) => {
    const read = new Map<JsonObject, NullVerdict | undefined>();
    let whole = true;
    const verdict = verdictOf(schema, maxReferences);
    // If a circle or the limit stopped the reading, the inner verdicts hold only for this place.
    if (whole) for (const [one, said] of read) if (said !== undefined) known.set(one, said);
    if (verdict !== undefined && isJsonObject(schema)) known.set(schema, verdict);
    return verdict !== 'other';

    function verdictOf(one: JsonValue | undefined, left: number): NullVerdict | undefined {
      if (!isJsonObject(one)) return one === false ? 'other' : 'anything';
      const before = known.get(one) ?? read.get(one);
      if (before !== undefined) return before;
      if (left === 0 || read.has(one)) {
        whole = false;
        return undefined;
      }
      read.set(one, undefined);
      const verdict = judge(one, left - 1);
      read.set(one, verdict);
      return verdict;
    }

    /** Undefined if only schemas whose reading was stopped say something. */
    function judge(one: JsonObject, left: number): NullVerdict | undefined {
      const verdicts: (NullVerdict | undefined)[] = [ownVerdict(one)];
      if (typeof one.$ref === 'string')
        verdicts.push(verdictOf(followReference(one.$ref, one, root), left));
      for (const part of listOf(one, 'allOf')) verdicts.push(verdictOf(part, left));
      // One branch that accepts anything is enough, unless the keywords beside it accept less.
      for (const keyword of ['anyOf', 'oneOf']) {
        const branches = listOf(one, keyword).map((branch) => verdictOf(branch, left));
        if (branches.length > 0)
          verdicts.push(
            (['value', 'anything', 'other'] as const).find((verdict) => branches.includes(verdict)),
          );
      }
      return (
        (['value', 'other'] as const).find((verdict) => verdicts.includes(verdict)) ??
        (verdicts.includes(undefined) ? undefined : 'anything')
      );
    }
  };
}

/**
 * The verdict of a schema's own keywords. `properties` and the like only apply to objects, so they
 * say nothing about null.
 */
function ownVerdict(schema: JsonObject): NullVerdict {
  const { type, enum: values, const: constant } = schema;
  const fixed = Object.hasOwn(schema, 'const');
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return 'value';
  if ((Array.isArray(values) && values.includes(null)) || (fixed && constant === null))
    return 'value';
  return type !== undefined || values !== undefined || fixed ? 'other' : 'anything';
}

/** The array that a keyword holds, or an empty one. */
function listOf(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const list = schema[keyword];
  return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
}

/**
 * Most schemas and members that are looked at for one input. Nulls beyond this limit stay in the
 * input, and validation refuses them.
 */
const maxSteps = 400_000;

export interface Place {
  /** The schemas, with everything that they consist of. */
  readonly all: readonly JsonObject[];
  /** The members that any of the schemas declares. */
  readonly members: ReadonlyMap<string, Member>;
  readonly required: ReadonlySet<JsonValue>;
  /** From this index on, all elements of a list have the same schemas. */
  readonly rest: number;
  /** The places of elements, by their index. */
  readonly items: Map<number, Place | undefined>;
}

/** A declared member. Its optional fields are computed when an input has the member. */
export interface Member {
  /** A set: with duplicates, a level reached in k ways would have k times the schemas above it. */
  readonly schemas: Set<JsonValue>;
  dropsNull?: boolean;
  place?: { readonly at: Place | undefined };
}

/** The places of one document, for one input. */
export class SchemaPlaces {
  readonly #root: JsonObject;
  readonly #takesNull: (schema: JsonValue) => boolean;
  readonly #ids = new Map<JsonObject, number>();
  readonly #places = new Map<string, Place>();
  #left = maxSteps;

  constructor(root: JsonObject) {
    this.#root = root;
    this.#takesNull = nullReader(root);
  }

  /** The place of the whole input. */
  root(): Place | undefined {
    return this.#placeOf([this.#root]);
  }

  /** Whether a null in this member means "not given". */
  dropsNull({ required }: Place, name: string, member: Member): boolean {
    member.dropsNull ??= !required.has(name) && ![...member.schemas].some(this.#takesNull);
    return member.dropsNull;
  }

  member(member: Member): Place | undefined {
    member.place ??= { at: this.#placeOf([...member.schemas].filter(isJsonObject)) };
    return member.place.at;
  }

  item(place: Place, index: number): Place | undefined {
    const key = Math.min(index, place.rest);
    if (!place.items.has(key)) {
      this.#left -= place.all.length;
      place.items.set(key, this.#left < 0 ? undefined : this.#placeOf(itemsOf(place.all, key)));
    }
    return place.items.get(key);
  }

  /** Undefined if no schema applies, or if all steps are used up. */
  #placeOf(schemas: readonly JsonObject[]): Place | undefined {
    if (schemas.length === 0 || this.#left < 0) return undefined;
    this.#left -= schemas.length;
    const key = schemas.map((schema) => this.#idOf(schema)).join(' ');
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const all = alternativesOf(schemas, this.#root);
    const members = new Map<string, Member>();
    const required = new Set<JsonValue>();
    let rest = 0;
    for (const schema of all) {
      const { properties, prefixItems } = schema;
      const needed = listOf(schema, 'required');
      const declared = isJsonObject(properties) ? Object.entries(properties) : [];
      this.#left -= 1 + declared.length + needed.length;
      for (const name of needed) required.add(name);
      for (const [name, member] of declared) {
        const same = members.get(name);
        if (same === undefined) members.set(name, { schemas: new Set([member]) });
        else same.schemas.add(member);
      }
      if (Array.isArray(prefixItems)) rest = Math.max(rest, prefixItems.length);
    }
    const place: Place = { all, members, required, rest, items: new Map() };
    this.#places.set(key, place);
    return place;
  }

  #idOf(schema: JsonObject): number {
    const known = this.#ids.get(schema);
    if (known !== undefined) return known;
    this.#ids.set(schema, this.#ids.size);
    return this.#ids.size - 1;
  }
}

/** What the schemas of a list say about the element at an index. */
function itemsOf(all: readonly JsonObject[], index: number): JsonObject[] {
  const places = all.map(({ prefixItems, items }) =>
    Array.isArray(prefixItems) && index < prefixItems.length
      ? (prefixItems[index] as JsonValue)
      : (items ?? null),
  );
  return [...new Set(places.filter(isJsonObject))];
}

/**
 * A schema with everything that it refers to and consists of, so that a property is found wherever
 * it is declared.
 */
export function alternatives(schema: JsonObject, root: JsonObject): JsonObject[] {
  return alternativesOf([schema], root);
}

/** The same for several schemas. Each is listed once, even if it is reached in several ways. */
function alternativesOf(schemas: readonly JsonObject[], root: JsonObject): JsonObject[] {
  const found = new Set<JsonObject>(schemas);
  let level: readonly JsonObject[] = [...found];
  for (let left = maxReferences; left > 1 && level.length > 0; left--) {
    const next: JsonObject[] = [];
    for (const one of level) {
      for (const part of partsOf(one, root)) {
        if (!isJsonObject(part) || found.has(part)) continue;
        found.add(part);
        next.push(part);
      }
    }
    level = next;
  }
  return [...found];
}

function partsOf(schema: JsonObject, root: JsonObject): (JsonValue | undefined)[] {
  const target =
    typeof schema.$ref === 'string' ? [followReference(schema.$ref, schema, root)] : [];
  return [...target, ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listOf(schema, keyword))];
}
