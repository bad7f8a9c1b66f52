/**
 * Fills `default`s of absent members into a value that its schema has accepted. Filling comes after
 * validation, so a default that breaks its own schema does no harm. It follows only the keywords
 * that always apply (properties, items, allOf and $ref), never a branch of anyOf, oneOf, not or if.
 */
import {
  canonicalJson,
  cloneJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../json/index.ts';
import { type Dialect, isLoneReference, keyword } from '../schema/dialect.ts';
import { type Context, charge } from './compile-context.ts';
import { chargedText } from './keywords-value.ts';

/**
 * Fills defaults into a value in place. With `remove`, it removes optional members that equal their
 * default.
 */
export type Fill = (value: JsonValue, context: Context, remove: boolean) => void;

/** What the compiler knows about a schema document. */
export interface DefaultsSource {
  readonly dialect: Dialect;
  /** The schema that the `$ref` of a schema leads to. */
  target(schema: JsonObject): JsonValue | undefined;
}

interface Filler {
  /**
   * Undefined while the schema is still being read, so that a loop of schemas can refer to this
   * node. It remains undefined if nothing can be filled.
   */
  fill: Fill | undefined;
}

/** Reads the defaults of a schema; undefined when it has none that could be filled. */
export function compileDefaults(schema: JsonValue, source: DefaultsSource): Fill | undefined {
  return fillerOf(schema, source, new Map())?.fill;
}

function fillerOf(
  schema: JsonValue,
  source: DefaultsSource,
  known: Map<JsonObject, Filler | undefined>,
): Filler | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (known.has(schema)) return known.get(schema);
  const filler: Filler = { fill: undefined };
  known.set(schema, filler);
  const parts = partsOf(schema, source, known);
  if (parts.length === 0) {
    known.set(schema, undefined);
    return undefined;
  }
  filler.fill =
    parts.length === 1
      ? (parts[0] as Fill)
      : (value, context, remove) => {
          for (const part of parts) part(value, context, remove);
        };
  return filler;
}

function partsOf(
  schema: JsonObject,
  source: DefaultsSource,
  known: Map<JsonObject, Filler | undefined>,
): Fill[] {
  const parts: Fill[] = [];
  const { dialect } = source;
  const lone = isLoneReference(schema, dialect);
  const add = (part: Filler | undefined): void => {
    if (part !== undefined)
      parts.push((value, context, remove) => part.fill?.(value, context, remove));
  };
  if (!lone) {
    const properties = keyword(schema, 'properties', dialect);
    if (isJsonObject(properties)) {
      for (const name of Object.keys(properties)) {
        const part = memberFill(name, properties[name] as JsonValue, source, known);
        if (part !== undefined) parts.push(part);
      }
    }
    const additional = additionalFill(schema, properties, source, known);
    if (additional !== undefined) parts.push(additional);
    const items = itemsFill(schema, source, known);
    if (items !== undefined) parts.push(items);
    const all = keyword(schema, 'allOf', dialect);
    if (Array.isArray(all)) for (const item of all) add(fillerOf(item, source, known));
  }
  const target = source.target(schema);
  if (target !== undefined) add(fillerOf(target, source, known));
  return parts;
}

function memberFill(
  name: string,
  schema: JsonValue,
  source: DefaultsSource,
  known: Map<JsonObject, Filler | undefined>,
): Fill | undefined {
  const value = defaultOf(schema, source);
  const inner = fillerOf(schema, source, known);
  if (value === undefined && inner === undefined) return undefined;
  /** The completed default, and the number of steps that a copy of it takes. */
  let template: { readonly value: JsonValue; readonly steps: number } | undefined;
  let bareText: string | undefined;
  let expanding = false;
  /**
   * The default, with the defaults inside it filled or removed. A default that leads back to itself
   * is used as written.
   */
  const complete = (context: Context, remove: boolean): JsonValue => {
    const fresh = cloneJson(value as JsonValue);
    if (inner === undefined || expanding) return fresh;
    expanding = true;
    try {
      inner.fill?.(fresh, context, remove);
    } finally {
      expanding = false;
    }
    return fresh;
  };
  const equalsDefault = (item: JsonValue, context: Context): boolean => {
    const text = chargedText(item, context);
    if (expanding) return text === canonicalJson(value as JsonValue);
    bareText ??= canonicalJson(complete(context, true));
    return text === bareText;
  };
  return (holder, context, remove) => {
    if (!isJsonObject(holder)) return;
    charge(context, 1);
    if (Object.hasOwn(holder, name)) {
      const item = holder[name] as JsonValue;
      inner?.fill?.(item, context, remove);
      if (remove && value !== undefined && equalsDefault(item, context))
        Reflect.deleteProperty(holder, name);
    } else if (value !== undefined && !remove) {
      if (template === undefined) {
        const made = complete(context, false);
        if (expanding) {
          setMember(holder, name, made);
          return;
        }
        // Four characters hold at least one value, and each value is copied.
        template = { value: made, steps: 1 + (JSON.stringify(made).length >> 2) };
      }
      charge(context, template.steps);
      setMember(holder, name, cloneJson(template.value));
    }
  };
}

/** The `default` of a schema, or of the schema that it refers to. */
function defaultOf(schema: JsonValue, source: DefaultsSource): JsonValue | undefined {
  let current: JsonValue | undefined = schema;
  // This ends, because loops of references have been refused. Chains of references are short.
  while (isJsonObject(current)) {
    if (!isLoneReference(current, source.dialect) && Object.hasOwn(current, 'default'))
      return current.default;
    current = source.target(current);
  }
  return undefined;
}

function additionalFill(
  schema: JsonObject,
  properties: JsonValue | undefined,
  source: DefaultsSource,
  known: Map<JsonObject, Filler | undefined>,
): Fill | undefined {
  const { dialect } = source;
  const additional = keyword(schema, 'additionalProperties', dialect);
  const inner = additional === undefined ? undefined : fillerOf(additional, source, known);
  if (inner === undefined || keyword(schema, 'patternProperties', dialect) !== undefined)
    return undefined;
  const names = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
  return (value, context, remove) => {
    if (!isJsonObject(value)) return;
    for (const key of Object.keys(value)) {
      charge(context, 1);
      if (!names.has(key)) inner.fill?.(value[key] as JsonValue, context, remove);
    }
  };
}

function itemsFill(
  schema: JsonObject,
  source: DefaultsSource,
  known: Map<JsonObject, Filler | undefined>,
): Fill | undefined {
  const { dialect } = source;
  const items = keyword(schema, 'items', dialect);
  const listed = Array.isArray(items) ? items : keyword(schema, 'prefixItems', dialect);
  const prefix = Array.isArray(listed)
    ? listed.map((item: JsonValue) => fillerOf(item, source, known))
    : [];
  const after = Array.isArray(items) ? keyword(schema, 'additionalItems', dialect) : items;
  const rest = after === undefined ? undefined : fillerOf(after, source, known);
  if (rest === undefined && prefix.every((part) => part === undefined)) return undefined;
  return (value, context, remove) => {
    if (!Array.isArray(value)) return;
    for (const [index, item] of (value as readonly JsonValue[]).entries()) {
      charge(context, 1);
      const part = index < prefix.length ? prefix[index] : rest;
      part?.fill?.(item, context, remove);
    }
  };
}

function setMember(holder: JsonObject, name: string, value: JsonValue): void {
  // The value is the library's own copy. Defining makes `__proto__` a member; assigning would set
  // the prototype.
  Object.defineProperty(holder, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
