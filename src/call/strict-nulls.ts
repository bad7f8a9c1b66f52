/**
 * Strict dialects make every optional property nullable and required: a null in such a place means
 * "not given", and is taken out again before the call.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { followReference } from '../schema/local-reference.ts';

/** References followed from one place; a chain is never this long but in a circle. */
const mostReferences = 16;

/**
 * Schemas and their members that are looked at for one input, at most. What is deeper keeps its
 * nulls, which validation then refuses.
 */
const mostSteps = 400_000;

/**
 * What the schemas of one place say together. Worked out once, however many values of the input
 * stand there.
 */
interface Place {
  /** The schemas with all that they are made of. */
  readonly all: readonly JsonObject[];
  /** The members that any of them declares. */
  readonly members: ReadonlyMap<string, Member>;
  readonly required: ReadonlySet<JsonValue>;
  /** From this index on, all elements of a list have the same schemas. */
  readonly rest: number;
  /** The places of elements, by their index. */
  readonly items: Map<number, Place | undefined>;
}

/** A declared member. What is worked out only where an input has it, is undefined until then. */
interface Member {
  /**
   * Distinct, or each level that is reached in k ways would have k times the schemas of the one
   * above.
   */
  readonly schemas: Set<JsonValue>;
  dropsNull?: boolean;
  place?: { readonly at: Place | undefined };
}

/**
 * The value without nulls that stand for "not given", and the places where they stood. What holds
 * none stays the same object.
 */
export function withoutStrictNulls(
  input: JsonObject,
  root: JsonObject,
  dropped: (path: string) => void,
): JsonObject {
  const asValue = nullReader(root);
  const ids = new Map<JsonObject, number>();
  const places = new Map<string, Place>();
  let left = mostSteps;
  return strip(input, placeOf([root]), '') as JsonObject;

  function strip(value: JsonValue, place: Place | undefined, path: string): JsonValue {
    if (typeof value !== 'object' || value === null || place === undefined) return value;
    const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`);
    if (Array.isArray(value)) {
      const items = value.map((item: JsonValue, index) =>
        typeof item === 'object' ? strip(item, itemPlace(place, index), at(index)) : item,
      );
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const kept = new Map<string, JsonValue>();
    let changed = false;
    for (const [name, given] of Object.entries(value as JsonObject)) {
      const member = typeof given === 'object' ? place.members.get(name) : undefined;
      if (member !== undefined && given === null && dropsNull(place, name, member)) {
        dropped(at(name));
        changed = true;
        continue;
      }
      const after = member === undefined ? given : strip(given, memberPlace(member), at(name));
      changed ||= after !== given;
      kept.set(name, after);
    }
    return changed ? Object.fromEntries(kept) : value;
  }

  function dropsNull({ required }: Place, name: string, member: Member): boolean {
    member.dropsNull ??= !required.has(name) && ![...member.schemas].some(asValue);
    return member.dropsNull;
  }

  function memberPlace(member: Member): Place | undefined {
    member.place ??= { at: placeOf([...member.schemas].filter(isJsonObject)) };
    return member.place.at;
  }

  function itemPlace(place: Place, index: number): Place | undefined {
    const key = Math.min(index, place.rest);
    if (!place.items.has(key)) {
      left -= place.all.length;
      place.items.set(key, left < 0 ? undefined : placeOf(itemsOf(place.all, key)));
    }
    return place.items.get(key);
  }

  /** Undefined where nothing is said, and where there are no steps left to find out. */
  function placeOf(schemas: readonly JsonObject[]): Place | undefined {
    if (schemas.length === 0 || left < 0) return undefined;
    left -= schemas.length;
    const key = schemas.map(idOf).join(' ');
    const known = places.get(key);
    if (known !== undefined) return known;
    const all = alternativesOf(schemas, root);
    const members = new Map<string, Member>();
    const required = new Set<JsonValue>();
    let rest = 0;
    for (const schema of all) {
      const { properties, prefixItems } = schema;
      const needed = listOf(schema, 'required');
      const declared = isJsonObject(properties) ? Object.entries(properties) : [];
      left -= 1 + declared.length + needed.length;
      for (const name of needed) required.add(name);
      for (const [name, member] of declared) {
        const same = members.get(name);
        if (same === undefined) members.set(name, { schemas: new Set([member]) });
        else same.schemas.add(member);
      }
      if (Array.isArray(prefixItems)) rest = Math.max(rest, prefixItems.length);
    }
    const place: Place = { all, members, required, rest, items: new Map() };
    places.set(key, place);
    return place;
  }

  function idOf(schema: JsonObject): number {
    const known = ids.get(schema);
    if (known !== undefined) return known;
    ids.set(schema, ids.size);
    return ids.size - 1;
  }
}

/** What one place of a list has to be, by schemas that are taken apart already. */
function itemsOf(all: readonly JsonObject[], index: number): JsonObject[] {
  const places = all.map(({ prefixItems, items }) =>
    Array.isArray(prefixItems) && index < prefixItems.length
      ? (prefixItems[index] as JsonValue)
      : (items ?? null),
  );
  return [...new Set(places.filter(isJsonObject))];
}

/**
 * A schema with what it refers to and is made of, so that a property is found wherever it is
 * declared.
 */
export function alternatives(schema: JsonObject, root: JsonObject): JsonObject[] {
  return alternativesOf([schema], root);
}

/** The same of several at once. Each schema is there once, in however many ways it is reached. */
function alternativesOf(schemas: readonly JsonObject[], root: JsonObject): JsonObject[] {
  const found = new Set<JsonObject>(schemas);
  let level: readonly JsonObject[] = [...found];
  for (let left = mostReferences; left > 1 && level.length > 0; left--) {
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

function listOf(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const list = schema[keyword];
  return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
}

/**
 * What a schema says of null: that it is a value, that others are, or nothing, so that anything is.
 */
type NullVerdict = 'value' | 'other' | 'anything';

/** Whether null is a value of its own there. A schema that says nothing takes anything. */
export function takesNull(schema: JsonValue, root: JsonObject): boolean {
  return nullReader(root)(schema);
}

/** {@link takesNull} for many schemas of one document: each is read once. */
export function nullReader(root: JsonObject): (schema: JsonValue) => boolean {
  const known = new Map<JsonObject, NullVerdict>();
  return (schema) => {
    const read = new Map<JsonObject, NullVerdict | undefined>();
    let whole = true;
    const verdict = verdictOf(schema, mostReferences);
    // What a circle or the limit cut short holds for this place alone.
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

    /** Undefined where nothing is said but by what was cut short. */
    function judge(one: JsonObject, left: number): NullVerdict | undefined {
      const verdicts: (NullVerdict | undefined)[] = [ownVerdict(one)];
      if (typeof one.$ref === 'string')
        verdicts.push(verdictOf(followReference(one.$ref, one, root), left));
      for (const part of listOf(one, 'allOf')) verdicts.push(verdictOf(part, left));
      // One alternative that takes anything is enough, unless what stands beside them takes less.
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
 * By the schema's own keywords. `properties` and the like say nothing of a value that is no object.
 */
function ownVerdict(schema: JsonObject): NullVerdict {
  const { type, enum: values, const: constant } = schema;
  const fixed = Object.hasOwn(schema, 'const');
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return 'value';
  if ((Array.isArray(values) && values.includes(null)) || (fixed && constant === null))
    return 'value';
  return type !== undefined || values !== undefined || fixed ? 'other' : 'anything';
}
