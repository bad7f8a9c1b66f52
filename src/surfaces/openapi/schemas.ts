/**
 * Makes JSON Schemas of the schemas of a document: each with all that it refers to, in the dialect
 * 2020-12, for one direction.
 */
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { follow, listOf, membersOf, quoted, refusal } from './references.ts';

/** What a schema describes: what is sent, or what is answered. */
export type Direction = 'request' | 'response';

/** The schemas of one operation in one direction. */
export interface SchemaBundle {
  /** A schema; what it refers to is in {@link defs}. @throws MisuseError */
  schema(node: JsonValue): JsonValue;
  /** What the schemas refer to, by name. @throws MisuseError */
  defs(): JsonObject;
}

/** What all operations of a document may cost together, so that a small text is not much work. */
export interface SchemaBudget {
  /** Parts of schemas that may still be read. */
  left: number;
  /** Characters that the finished schemas may still have, as JSON. */
  characters: number;
}

/** The error for what costs more than all operations may together. */
export function overBudget(): Error {
  return refusal(
    'The schemas of the document are too large altogether. Take fewer operations of it.',
  );
}

/** Most schemas of one operation. More than the check of schemas from outside accepts. */
const maxNodes = 6_000;
/** Most characters of a default or an example that is kept for the model. */
const maxShown = 200;
/** How deep compositions are searched for members that are not sent. */
const maxCompositions = 8;

const one = new Set([
  ...['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'],
  ...['unevaluatedItems', 'unevaluatedProperties'],
]);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Keywords that are taken as they are. */
const kept = new Set([
  ...['type', 'enum', 'const', 'format', 'title', 'required', 'dependentRequired'],
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems'],
  ...['maxProperties', 'minProperties', 'minContains', 'maxContains'],
]);
/** Keywords that change what a reference means. */
const refused = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'] as const;

/** @param isOld whether the document is of OpenAPI 3.0 */
export function bundleSchemas(
  document: JsonObject,
  isOld: boolean,
  direction: Direction,
  budget: SchemaBudget,
): SchemaBundle {
  const bundle = new Bundle(document, isOld, direction, budget);
  return {
    schema: (node) => bundle.convert(node),
    defs: () => bundle.defs(),
  };
}

class Bundle {
  readonly #document: JsonObject;
  readonly #isOld: boolean;
  readonly #direction: Direction;
  readonly #budget: SchemaBudget;
  /** The names of references, in `$defs`. */
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #done = new Map<string, JsonValue>();
  #nodes = 0;

  constructor(document: JsonObject, isOld: boolean, direction: Direction, budget: SchemaBudget) {
    this.#budget = budget;
    this.#document = document;
    this.#isOld = isOld;
    this.#direction = direction;
  }

  defs(): JsonObject {
    // Iterating a Map also reaches the entries that are added meanwhile.
    for (const [reference, name] of this.#names)
      if (!this.#done.has(name))
        this.#done.set(name, this.convert(follow(this.#document, reference)));
    return Object.fromEntries(this.#done);
  }

  /** @param hidden members of the enclosing composition that are not sent in this direction */
  convert(node: JsonValue, hidden: ReadonlySet<string> = new Set()): JsonValue {
    if (!isJsonObject(node)) {
      if (typeof node === 'boolean') return node;
      throw refusal('A schema is neither an object nor a boolean.');
    }
    if (++this.#nodes > maxNodes)
      throw refusal(`Its schemas have more than ${maxNodes} parts altogether.`);
    this.#spend(Object.keys(node).length);
    for (const name of refused)
      if (Object.hasOwn(node, name))
        throw refusal(`A schema uses ${quoted(name)}, which is not supported.`);
    const made = this.#members(node, new Set([...hidden, ...this.#hiddenIn(node, 0)]));
    return this.#isOld && node.nullable === true ? nullable(made) : made;
  }

  #spend(parts: number): void {
    this.#budget.left -= parts;
    if (this.#budget.left < 0) throw overBudget();
  }

  #members(node: JsonObject, hidden: ReadonlySet<string>): JsonObject {
    const reference = Object.hasOwn(node, '$ref') ? { $ref: this.#refer(node.$ref) } : {};
    // In 3.0, what stands beside a reference means nothing.
    if (this.#isOld && Object.hasOwn(node, '$ref')) return reference;
    const made = new Map<string, JsonValue>(Object.entries(reference));
    for (const [key, value] of Object.entries(node)) {
      if (one.has(key)) made.set(key, this.convert(value));
      else if (lists.has(key))
        made.set(
          key,
          listOf(value).map((part) => this.convert(part, key === 'allOf' ? hidden : undefined)),
        );
      else if (maps.has(key)) made.set(key, this.#map(key, membersOf(value)));
      else if (key === 'required')
        made.set(
          key,
          listOf(value).filter((name) => typeof name !== 'string' || !hidden.has(name)),
        );
      else if (kept.has(key)) made.set(key, value);
    }
    bounds(made);
    unions(made);
    if (this.#direction === 'request') shown(node, made);
    else if (typeof node.description === 'string') made.set('description', node.description);
    return Object.fromEntries(made);
  }

  #map(key: string, value: JsonObject): JsonObject {
    const entries = Object.entries(value).filter(
      ([, part]) => key !== 'properties' || !this.#isHidden(part),
    );
    return Object.fromEntries(entries.map(([name, part]) => [name, this.convert(part)]));
  }

  /** The members of a schema that are not sent in this direction. */
  #hiddenIn(node: JsonObject, depth: number): string[] {
    const properties = Object.entries(membersOf(node.properties));
    const parts = listOf(node.allOf).filter(isJsonObject);
    this.#spend(properties.length + parts.length);
    const own = properties.filter(([, part]) => this.#isHidden(part)).map(([name]) => name);
    if (depth === maxCompositions) return own;
    return [...own, ...parts.flatMap((part) => this.#hiddenIn(part, depth + 1))];
  }

  #isHidden(part: JsonValue): boolean {
    const word = this.#direction === 'request' ? 'readOnly' : 'writeOnly';
    let at: JsonValue = part;
    for (let steps = 0; isJsonObject(at) && steps < maxCompositions; steps++) {
      if (at[word] === true) return true;
      if (!Object.hasOwn(at, '$ref')) return false;
      at = follow(this.#document, at.$ref as JsonValue);
    }
    return false;
  }

  #refer(reference: JsonValue | undefined): string {
    follow(this.#document, reference as JsonValue);
    const pointer = reference as string;
    let name = this.#names.get(pointer);
    if (name === undefined) {
      const plain = (pointer.split('/').at(-1) as string).replace(/[^\w.-]/g, '_') || '_';
      name = plain;
      for (let number = 2; this.#taken.has(name) || name === '__proto__'; number++)
        name = `${plain}_${number}`;
      this.#taken.add(name);
      this.#names.set(pointer, name);
    }
    return `#/$defs/${name}`;
  }
}

/** In 3.0, `exclusiveMinimum: true` belongs to `minimum`. */
function bounds(made: Map<string, JsonValue>): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const given = made.get(exclusive);
    if (typeof given !== 'boolean') continue;
    made.delete(exclusive);
    const value = made.get(bound);
    if (!given || value === undefined) continue;
    made.set(exclusive, value);
    made.delete(bound);
  }
}

/**
 * `oneOf` is checked as `anyOf`: the branches of many documents overlap, or differ only in their
 * formats, and their servers do not mind.
 */
function unions(made: Map<string, JsonValue>): void {
  const branches = made.get('oneOf');
  if (branches === undefined) return;
  made.delete('oneOf');
  if (made.has('anyOf')) made.set('allOf', [...listOf(made.get('allOf')), { anyOf: branches }]);
  else made.set('anyOf', branches);
}

/**
 * What the model reads of a schema. A default is told and not filled in: it says what the server
 * does without the member, and a default that is sent may overwrite what is there.
 */
function shown(node: JsonObject, made: Map<string, JsonValue>): void {
  const said = describedBy(node.description, node.default);
  if (said !== undefined) made.set('description', said);
  const [instance = node.example] = listOf(node.examples);
  if (brief(instance) !== undefined) made.set('examples', [instance as JsonValue]);
}

/** A description, and the default if that is short. */
export function describedBy(
  description: JsonValue | undefined,
  given: JsonValue | undefined,
): string | undefined {
  const text = typeof description === 'string' ? description.trim() : '';
  const note = brief(given);
  const said = [text, note === undefined ? '' : `Default: ${note}.`].filter(Boolean).join(' ');
  return said === '' ? undefined : said;
}

function brief(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const copy = copyJson(value, { maxDepth: 8, maxValues: 50, maxChars: maxShown });
  return copy.ok && !copy.overflow ? JSON.stringify(copy.value) : undefined;
}

/** The same schema, which also accepts null. */
function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values, const: only } = schema;
  const isPlain = typeof type === 'string' && only === undefined;
  if (!isPlain || ['allOf', 'anyOf', 'oneOf', 'not'].some((word) => Object.hasOwn(schema, word)))
    return { anyOf: [schema, { type: 'null' }] };
  const all = Array.isArray(values) && !values.includes(null) ? [...values, null] : values;
  return { ...schema, type: [type, 'null'], ...(all === undefined ? {} : { enum: all }) };
}
