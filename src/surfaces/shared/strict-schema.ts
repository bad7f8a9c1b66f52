/**
 * Strict mode: the subset of JSON Schema to which a provider holds its model. What can be said in
 * it is said; what cannot makes the tool a non-strict one.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { canonicalJson, escapePointer, isJsonObject } from '../../json.ts';
import { followReference, pointerOf } from '../../schema/local-reference.ts';
import { alternatives, nullReader } from '../../surface-port.ts';
import type { ConvertedSchema, SchemaLoss } from './listing.ts';
import { toObjectRoot } from './object-root.ts';
import { beyondLimits } from './strict-limits.ts';
import { budgetOf, mergedParts } from './strict-parts.ts';
import type { StrictRules } from './strict-rules.ts';
import { isLinearPattern, toNullable, typesOf } from './strict-values.ts';

/** Keywords that say something to a reader and nothing about a value. */
const annotations = ['title', 'description'];
/**
 * Places, keywords and values that are looked at for one schema, counted with repetition: what
 * stands behind references in `allOf` is told again wherever it is taken in.
 */
const mostWork = 50_000;
/** Places within places, so that the conversion keeps within its stack. */
const mostNested = 400;
/**
 * Keywords that are gone without a loss: they name the dialect or hold what is referred to, which
 * moves.
 */
const silent = ['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', 'type'];

/**
 * The schema in a strict mode: every object closed, every property required (those that were
 * optional take null, where the rules say so), references kept, the rest of JSON Schema taken out
 * with a loss for each place. Where the subset cannot say what the tool takes, the schema is the
 * plain one and `strict` is false.
 */
export function toStrictSchema(schema: JsonObject, rules: StrictRules): ConvertedSchema {
  const root = toObjectRoot(schema);
  if (root.losses.length > 0)
    return loose(root, rules, 'the root of its input is made of alternatives', '');
  const losses: SchemaLoss[] = [];
  const refusals: SchemaLoss[] = [];
  /**
   * By what is referred to, in whatever words. Reserved before it is converted, so that a
   * definition may refer to itself.
   */
  const names = new Map<JsonObject, string>();
  const definitions = new Map<string, JsonObject>();
  const open = new Set<JsonObject>([schema]);
  const takesNull = nullReader(schema);
  const spend = budgetOf(mostWork);
  let nullable = false;
  let depth = 0;

  const lose = (path: string, message: string): void => void losses.push({ path, message });
  const refuse = (path: string, message: string): JsonObject => {
    refusals.push({ path, message });
    return {};
  };

  const converted = convert(root.schema, '');
  if (!spend(0))
    return loose(
      root,
      rules,
      `it has more than ${mostWork} places, keywords and values, counted wherever they are ` +
        'repeated',
      '',
    );
  const made: JsonObject =
    definitions.size === 0 ? converted : { ...converted, $defs: Object.fromEntries(definitions) };
  const [first] = refusals;
  if (first !== undefined) return loose(root, rules, first.message, first.path);
  const large = beyondLimits(made, rules.limits);
  if (large !== undefined) return loose(root, rules, large, '');
  return { schema: made, losses, nullable, strict: true };

  function convert(value: JsonValue | undefined, path: string): JsonObject {
    // One refusal decides: what would be made from here on is never shown.
    if (refusals.length > 0) return {};
    if (!spend(isJsonObject(value) ? 1 + Object.keys(value).length : 1) || depth >= mostNested)
      return refuse(path, 'it is nested too deeply');
    depth++;
    const made = convertPlace(value, path);
    depth--;
    return made;
  }

  function convertPlace(value: JsonValue | undefined, path: string): JsonObject {
    if (!isJsonObject(value))
      return refuse(path, value === false ? 'nothing is taken here' : 'anything is taken here');
    const said = Object.fromEntries(
      annotations.flatMap((keyword) =>
        value[keyword] === undefined ? [] : [[keyword, value[keyword] as JsonValue]],
      ),
    );
    const own = Object.keys(value).filter(
      (keyword) => !annotations.includes(keyword) && !silent.includes(keyword),
    );
    if (typeof value.$ref === 'string') {
      if (own.length > 1 || value.type !== undefined)
        return refuse(path, 'a reference stands beside other keywords');
      const reference: JsonObject = { $ref: refer(value.$ref, value, path) };
      return Object.keys(said).length === 0 ? reference : { ...said, anyOf: [reference] };
    }
    if (value.allOf !== undefined) {
      const merged = mergedParts(value, schema, spend);
      return merged === undefined
        ? refuse(path, '`allOf` cannot be said otherwise')
        : convert(merged, path);
    }
    if (value.anyOf !== undefined || value.oneOf !== undefined)
      return convertUnion(value, own, said, path);
    if (value.enum !== undefined || Object.hasOwn(value, 'const'))
      return convertValues(value, own, said, path);
    const types = typesOf(value);
    const [type, second] = types.filter((one) => one !== 'null');
    if (type === undefined)
      return types.length > 0
        ? { ...said, type: 'null' }
        : refuse(path, 'no type is given, so that anything is taken here');
    if (second !== undefined) {
      const parts = types.map((one) => convertType(value, one, {}, path));
      return { ...said, anyOf: parts };
    }
    const one = convertType(value, type, said, path);
    return types.includes('null') ? toNullable(one) : one;
  }

  function convertType(
    value: JsonObject,
    type: string,
    said: JsonObject,
    path: string,
  ): JsonObject {
    switch (type) {
      case 'object':
        return convertObject(value, said, path);
      case 'array':
        return convertArray(value, said, path);
      case 'string':
      case 'number':
      case 'integer':
        return withConstraints(
          value,
          { ...said, type },
          type === 'string' ? 'string' : 'number',
          path,
          [],
        );
      default:
        return withConstraints(value, { ...said, type }, undefined, path, []);
    }
  }

  function convertObject(value: JsonObject, said: JsonObject, path: string): JsonObject {
    const { additionalProperties: additional, patternProperties } = value;
    const declared = isJsonObject(value.properties) ? Object.entries(value.properties) : [];
    const required = new Set<JsonValue>(
      Array.isArray(value.required) ? (value.required as readonly JsonValue[]) : [],
    );
    const anyName =
      additional === true || (isJsonObject(additional) && Object.keys(additional).length === 0);
    if (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0)
      return refuse(path, 'names of properties are open (`patternProperties`)');
    if (additional !== undefined && additional !== false && !anyName)
      return refuse(path, 'names of properties are open (`additionalProperties`)');
    if (
      declared.length === 0 &&
      additional !== false &&
      (anyName || value.properties === undefined)
    )
      return refuse(path, 'any properties are taken here');
    if (anyName)
      lose(
        `${path}/additionalProperties`,
        'Closed: no properties but those that are named can be given.',
      );
    const properties = declared.map(([name, property]): [string, JsonObject] => {
      const at = `${path}/properties/${escapePointer(name)}`;
      const inner = convert(property, at);
      return [
        name,
        required.delete(name) || !rules.allRequired ? inner : optional(property, inner, at),
      ];
    });
    if (required.size > 0)
      return refuse(path, `\`${String([...required][0])}\` is required and has no schema`);
    const kept = rules.allRequired ? declared.map(([name]) => name) : (value.required ?? []);
    const made: JsonObject = {
      ...said,
      type: 'object',
      properties: Object.fromEntries(properties),
      required: kept,
      additionalProperties: false,
    };
    return withConstraints(value, made, undefined, path, [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'unevaluatedProperties',
    ]);
  }

  /**
   * A property that may be left out: null says that it is. Where null is a value of its own,
   * nothing says it.
   */
  function optional(property: JsonValue, inner: JsonObject, path: string): JsonObject {
    if (!takesNull(property)) {
      nullable = true;
      return toNullable(inner);
    }
    if (
      Array.isArray(inner.type)
        ? !inner.type.includes('null')
        : typeof inner.type === 'string' && inner.type !== 'null'
    )
      return refuse(path, 'it is optional, and can neither be left out nor be null');
    lose(
      path,
      'It is always given: null is one of its values, and so cannot say that it is left out.',
    );
    return inner;
  }

  function convertArray(value: JsonObject, said: JsonObject, path: string): JsonObject {
    const { prefixItems, items } = value;
    if (Array.isArray(items)) return refuse(path, 'the places of a tuple are given by `items`');
    const handled = ['items', 'prefixItems', 'unevaluatedItems'];
    if (!Array.isArray(prefixItems))
      return withConstraints(
        value,
        { ...said, type: 'array', items: convert(items, `${path}/items`) },
        'array',
        path,
        handled,
      );
    lose(`${path}/prefixItems`, 'Each place takes what any of them takes.');
    const places = (prefixItems as readonly JsonValue[]).map((place, index) =>
      convert(place, `${path}/prefixItems/${index}`),
    );
    if (isJsonObject(items)) places.push(convert(items, `${path}/items`));
    const distinct = [...new Map(places.map((place) => [canonicalJson(place), place])).values()];
    const several: JsonObject =
      distinct.length === 1 ? (distinct[0] as JsonObject) : { anyOf: distinct };
    const bounded: JsonObject =
      items === false && value.maxItems === undefined
        ? { ...value, maxItems: prefixItems.length }
        : value;
    return withConstraints(
      bounded,
      { ...said, type: 'array', items: several },
      'array',
      path,
      handled,
    );
  }

  function convertUnion(
    value: JsonObject,
    own: readonly string[],
    said: JsonObject,
    path: string,
  ): JsonObject {
    const keyword = value.anyOf === undefined ? 'oneOf' : 'anyOf';
    const list = value[keyword];
    if (own.length > 1 || !Array.isArray(list) || list.length === 0)
      return refuse(path, `\`${keyword}\` stands beside other keywords`);
    const mixed = rules.allRequired ? nullInOneOnly(value) : undefined;
    if (mixed !== undefined)
      return refuse(path, `\`${mixed}\` may be left out in one alternative, and not in another`);
    if (keyword === 'oneOf')
      lose(
        `${path}/oneOf`,
        '`anyOf` stands for it: that exactly one alternative holds is not said.',
      );
    const branches = (list as readonly JsonValue[]).map((branch, index) => {
      const inherits =
        value.type !== undefined && isJsonObject(branch) && branch.type === undefined;
      return convert(
        inherits ? { ...branch, type: value.type as JsonValue } : branch,
        `${path}/${keyword}/${index}`,
      );
    });
    return { ...said, anyOf: branches };
  }

  /**
   * A name for which null means "left out" in one alternative and a value in another: a null could
   * not be told apart when it comes back.
   */
  function nullInOneOnly(union: JsonObject): string | undefined {
    const all = alternatives(union, schema);
    const required = new Set(
      all.flatMap((one) =>
        Array.isArray(one.required) ? (one.required as readonly JsonValue[]) : [],
      ),
    );
    if (!spend(all.length + required.size)) return undefined;
    const declared = new Map<string, { readonly schemas: Set<JsonValue>; optional: boolean }>();
    for (const one of all) {
      if (!isJsonObject(one.properties)) continue;
      const demanded = new Set(
        Array.isArray(one.required) ? (one.required as readonly JsonValue[]) : [],
      );
      for (const [name, property] of Object.entries(one.properties)) {
        if (!spend()) return undefined;
        const known = declared.get(name) ?? { schemas: new Set(), optional: false };
        declared.set(name, known);
        known.schemas.add(property);
        known.optional ||= !demanded.has(name);
      }
    }
    for (const [name, { schemas, optional: left }] of declared)
      if (left && (required.has(name) || new Set([...schemas].map(takesNull)).size > 1))
        return name;
    return undefined;
  }

  function convertValues(
    value: JsonObject,
    own: readonly string[],
    said: JsonObject,
    path: string,
  ): JsonObject {
    const constant = Object.hasOwn(value, 'const') ? (value.const as JsonValue) : undefined;
    const listed = Array.isArray(value.enum) ? (value.enum as readonly JsonValue[]) : undefined;
    if (!spend(listed?.length ?? 1)) return refuse(path, 'it has too many values');
    const types = typesOf(value);
    const values = (listed ?? [constant as JsonValue]).filter(
      (one) => (constant === undefined || one === constant) && fitsTypes(one, types),
    );
    if (values.length === 0 || values.some((one) => typeof one === 'object' && one !== null))
      return refuse(path, 'its values are no plain texts, numbers, booleans and null');
    const kinds = [...new Set(values.map((one) => (one === null ? 'null' : typeof one)))];
    const type: JsonValue = kinds.length === 1 ? (kinds[0] as string) : kinds;
    for (const keyword of own)
      if (keyword !== 'enum' && keyword !== 'const') drop(value, keyword, path);
    return { ...said, type, enum: values };
  }

  /**
   * Adds what the mode takes of a value's constraints, and takes out the rest. What is taken out
   * stands in the description, where it is short.
   */
  function withConstraints(
    value: JsonObject,
    made: JsonObject,
    kind: keyof StrictRules['keywords'] | undefined,
    path: string,
    handled: readonly string[],
  ): JsonObject {
    const kept: Record<string, JsonValue> = {};
    const notes: string[] = [];
    const several = typesOf(value).filter((one) => one !== 'null').length > 1;
    for (const [keyword, constraint] of Object.entries(value)) {
      if (annotations.includes(keyword) || silent.includes(keyword) || handled.includes(keyword))
        continue;
      if (
        kind !== undefined &&
        rules.keywords[kind].includes(keyword) &&
        takes(keyword, constraint)
      )
        kept[keyword] = constraint;
      // Of several types, each leaves the others' keywords alone; one of them says what is lost.
      else if (!several || typesOf(value)[0] === made.type) {
        drop(value, keyword, path);
        if (typeof constraint !== 'object' && String(constraint).length <= 200)
          notes.push(`${keyword}: ${String(constraint)}`);
      }
    }
    if (notes.length === 0) return { ...made, ...kept };
    const described = typeof made.description === 'string' ? `${made.description} ` : '';
    return { ...made, ...kept, description: `${described}(${notes.join(', ')})` };
  }

  function takes(keyword: string, constraint: JsonValue): boolean {
    if (keyword === 'format') return rules.formats.includes(String(constraint));
    if (keyword === 'pattern') return isLinearPattern(String(constraint));
    return (
      typeof constraint === 'number' && (keyword !== 'minItems' || constraint <= rules.mostMinItems)
    );
  }

  function drop(value: JsonObject, keyword: string, path: string): void {
    const shownValue =
      keyword === 'format' || keyword === 'pattern' ? ` ${JSON.stringify(value[keyword])}` : '';
    lose(
      `${path}/${escapePointer(keyword)}`,
      `\`${keyword}\`${shownValue} was removed: ${rules.mode} does not take it. Calls are ` +
        'still checked against it.',
    );
  }

  function refer(reference: string, holder: JsonObject, path: string): string {
    const target = followReference(reference, holder, schema);
    if (!isJsonObject(target)) {
      refuse(path, `\`${reference}\` leads to no schema in this one`);
      return reference;
    }
    if (!rules.recursion && open.has(target)) {
      refuse(path, 'the schema refers to itself');
      return reference;
    }
    if (target === schema) return '#';
    const known = names.get(target);
    if (known !== undefined) return `#/$defs/${known}`;
    const name = freeName(reference);
    names.set(target, name);
    // In the order of first use, and not of what is ready first.
    definitions.set(name, {});
    open.add(target);
    definitions.set(name, convert(target, pointerOf(target, schema) ?? path));
    open.delete(target);
    return `#/$defs/${name}`;
  }

  function freeName(reference: string): string {
    const base =
      (reference.split(/[/#]/).at(-1) ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'definition';
    let name = base;
    for (let count = 2; definitions.has(name); count++) name = `${base}_${count}`;
    return name;
  }
}

function fitsTypes(value: JsonValue, types: readonly string[]): boolean {
  if (types.length === 0) return true;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return (
    types.includes(type) ||
    (type === 'number' && types.includes('integer') && Number.isInteger(value))
  );
}

/** The plain schema: calls are checked all the same, the model is merely not held to it. */
function loose(
  root: ConvertedSchema,
  { mode }: StrictRules,
  why: string,
  path: string,
): ConvertedSchema {
  return {
    ...root,
    losses: [
      ...root.losses,
      { path, message: `Shown without ${mode}, which cannot say it: ${why}.` },
    ],
    strict: false,
  };
}
