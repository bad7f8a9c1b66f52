/** TypeScript types as text, from JSON Schemas. Nothing that a schema says can leave its place. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';

/** Deepest nesting that is written out. */
const maxDepth = 12;
/** Most types of one tool. A schema that refers to itself in many places would have more. */
const maxTypes = 2_000;

/** Writes the types of one schema. */
export class TypeText {
  readonly #root: JsonObject;
  readonly #open = new Set<string>();
  #left = maxTypes;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** @param indent The spaces before its last line. */
  write(indent: string): string {
    return this.#type(this.#root, indent, 0);
  }

  #type(schema: JsonValue | undefined, indent: string, depth: number): string {
    if (schema === false) return 'never';
    if (!isJsonObject(schema) || depth > maxDepth || --this.#left < 0) return 'unknown';
    const { $ref, enum: choices, anyOf, oneOf, allOf } = schema;
    if (typeof $ref === 'string') return this.#referred($ref, indent, depth);
    if (Object.hasOwn(schema, 'const')) return literal(schema.const as JsonValue);
    if (Array.isArray(choices)) return union(choices.map(literal));
    const some = Array.isArray(anyOf) ? anyOf : oneOf;
    if (Array.isArray(some))
      return union(some.map((one) => this.#type(inherit(schema, one), indent, depth + 1)));
    if (Array.isArray(allOf) && allOf.length > 0) {
      const { allOf: _, ...rest } = schema;
      const all = Object.hasOwn(rest, 'properties') ? [rest, ...allOf] : allOf;
      return all.map((one) => bracket(this.#type(one, indent, depth + 1))).join(' & ');
    }
    const { type } = schema;
    const types = Array.isArray(type) ? type : [type ?? impliedType(schema)];
    return union(types.map((one) => this.#plain(schema, one, indent, depth)));
  }

  #plain(schema: JsonObject, type: JsonValue, indent: string, depth: number): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      case 'number':
      case 'integer':
        return 'number';
      case 'array':
        return this.#array(schema, indent, depth);
      case 'object':
        return this.#object(schema, indent, depth);
      default:
        return 'unknown';
    }
  }

  #array({ items, prefixItems }: JsonObject, indent: string, depth: number): string {
    if (Array.isArray(prefixItems)) {
      const fixed = prefixItems.map((one) => this.#type(one, indent, depth + 1));
      const rest = items === false ? [] : [`...${this.#each(items, indent, depth)}`];
      return `[${[...fixed, ...rest].join(', ')}]`;
    }
    return this.#each(items, indent, depth);
  }

  #each(items: JsonValue | undefined, indent: string, depth: number): string {
    return `${bracket(this.#type(items, indent, depth + 1))}[]`;
  }

  #object(schema: JsonObject, indent: string, depth: number): string {
    const { properties, required, additionalProperties: more } = schema;
    const known = isJsonObject(properties) ? Object.entries(properties) : [];
    const isRequired = (name: string): boolean =>
      Array.isArray(required) && required.includes(name);
    const inner = `${indent}  `;
    if (known.length === 0)
      return more === false
        ? '{}'
        : `{ [name: string]: ${this.#type(isJsonObject(more) ? more : true, indent, depth + 1)} }`;
    const lines = known.map(([name, one]) => {
      const { description } = isJsonObject(one) ? one : {};
      const type = this.#type(one, inner, depth + 1);
      const mark = isRequired(name) ? '' : '?';
      return `${comment(description, inner)}${inner}${memberName(name)}${mark}: ${type};\n`;
    });
    // An index of another type would have to fit the other members.
    if (more === true || isJsonObject(more)) lines.push(`${inner}[name: string]: unknown;\n`);
    return `{\n${lines.join('')}${indent}}`;
  }

  /** A type that contains itself is written out once. */
  #referred(reference: string, indent: string, depth: number): string {
    if (reference === '#' || this.#open.has(reference)) return 'unknown';
    this.#open.add(reference);
    const type = this.#type(this.#found(reference), indent, depth + 1);
    this.#open.delete(reference);
    return type;
  }

  /** What a reference inside the schema points to. */
  #found(reference: string): JsonValue | undefined {
    if (!reference.startsWith('#')) return undefined;
    let at: JsonValue | undefined = this.#root;
    for (const part of reference.slice(1).split('/').slice(1)) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as JsonObject)[key];
    }
    return at;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A choice has the members of the schema around it, as far as it says nothing else. */
function inherit({ anyOf: _, oneOf: _other, ...around }: JsonObject, choice: JsonValue): JsonValue {
  const { properties, required, type } = around;
  if (!isJsonObject(choice) || properties === undefined) return choice;
  return {
    ...(type === undefined ? {} : { type }),
    ...choice,
    properties: { ...(properties as JsonObject), ...(choice.properties as JsonObject | undefined) },
    required: [
      ...(Array.isArray(required) ? required : []),
      ...(Array.isArray(choice.required) ? choice.required : []),
    ],
  };
}

function impliedType(schema: JsonObject): string | null {
  if (Object.hasOwn(schema, 'properties')) return 'object';
  return Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems') ? 'array' : '';
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  if (all.length === 0) return 'never';
  if (all.includes('unknown')) return 'unknown';
  return all.length === 1 ? (all[0] as string) : all.map(bracket).join(' | ');
}

/** Around a type that another operator follows. */
function bracket(type: string): string {
  return /^(?:[\w$]+|\{[^&|]*\}|"(?:[^"\\]|\\.)*")(?:\[\])*$/s.test(type) ? type : `(${type})`;
}

function literal(value: JsonValue): string {
  if (typeof value === 'object' && value !== null) return 'unknown';
  return quoted(value);
}

/** JSON is TypeScript, but for two separators that end a line there. */
function quoted(value: JsonValue): string {
  return JSON.stringify(value).replace(unseen, escaped);
}

/** The name of a member: as it is, or quoted if it is no identifier. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** Lines, control characters, and what changes the direction of text. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escaped(char: string): string {
  return [...char]
    .flatMap((one) => one.split(''))
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** A doc comment with its line break; empty for a text that is none. No text can end it early. */
export function comment(text: JsonValue | undefined, indent: string): string {
  if (typeof text !== 'string') return '';
  const lines = text
    .replaceAll('*/', '* /')
    .split(/\r\n|[\n\r\u2028\u2029\v\f\u0085]/)
    .map((line) => line.replace(unseen, ' ').trim())
    .filter((line) => line !== '');
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${safe(lines[0] as string)} */\n`;
  const inside = lines.map((line) => `${indent} * ${safe(line)}\n`).join('');
  return `${indent}/**\n${inside}${indent} */\n`;
}

/** A line that begins with a slash would end the comment with the star before it. */
function safe(line: string): string {
  return line.replaceAll('*/', '* /').replace(/^\//, ' /');
}
