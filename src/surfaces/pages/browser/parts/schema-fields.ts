/** Fields of a form, from a tool's schema and from an input. What no field can show is JSON. */
import type { JsonObject, JsonValue } from '../../../../values/json/value.ts';
import { readExact } from './exact-json.ts';
import { visibleJson, visibleText } from './visible.ts';

/** A field of a form. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'long' | 'number' | 'integer' | 'yes-no' | 'choice' | 'json';
  readonly required: boolean;
  readonly description: string;
  /** What the schema asks of the value, in words; `""` if it asks nothing. */
  readonly hint: string;
  readonly choices: readonly unknown[];
  /** Its value before it is changed; undefined if the input lacks it. */
  readonly initial: JsonValue | undefined;
}

type Schema = Readonly<Record<string, unknown>>;

const longNames = /body|content|text|message|description|query|code|patch/i;
/** A text with more characters, or with line breaks, needs a field of several lines. */
const maxOfLine = 80;
/** Most fields of a form. An input with more is edited as JSON. */
const maxFields = 60;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a schema; undefined if it does not describe an object with known members. */
export function fieldsOf(schema: unknown): readonly Field[] | undefined {
  const members = membersOf(schema);
  if (members === undefined || members.length > maxFields) return undefined;
  return members.map(({ name, schema: own, required }) =>
    fieldOf(name, own, required, own.default as JsonValue | undefined),
  );
}

/**
 * The fields of an input: first its own members, then those that the schema has in addition.
 * Undefined if there are too many.
 */
export function fieldsFor(schema: unknown, input: JsonObject): readonly Field[] | undefined {
  const members = new Map(membersOf(schema)?.map((member) => [member.name, member]));
  const names = new Set([...Object.keys(input), ...members.keys()]);
  if (names.size > maxFields) return undefined;
  return [...names].map((name) => {
    const { schema: own = {}, required = false } = members.get(name) ?? {};
    return fieldOf(name, own, required, Object.hasOwn(input, name) ? input[name] : undefined);
  });
}

interface SchemaMember {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

function membersOf(schema: unknown): SchemaMember[] | undefined {
  if (!isSchema(schema) || !isSchema(schema.properties)) return undefined;
  for (const word of ['anyOf', 'oneOf', 'allOf', '$ref', 'if'])
    if (Object.hasOwn(schema, word)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, member]) => ({
    name,
    schema: isSchema(member) ? member : {},
    required: required.includes(name),
  }));
}

function fieldOf(
  name: string,
  schema: Schema,
  required: boolean,
  initial: JsonValue | undefined,
): Field {
  const own = notNull(schema);
  const choices = Array.isArray(own.enum)
    ? own.enum
    : Object.hasOwn(own, 'const')
      ? [own.const]
      : [];
  const { description } = schema;
  return {
    name,
    kind: kindOf(name, own, choices, initial),
    required,
    description: typeof description === 'string' ? description : '',
    hint: hintOf(own),
    choices,
    initial,
  };
}

/** What a schema allows beside null, if that is one thing. */
function notNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) {
    const [only, ...more] = type.filter((one) => one !== 'null');
    return more.length === 0 ? { ...schema, type: only } : schema;
  }
  if (!Array.isArray(anyOf)) return schema;
  const [only, ...more] = anyOf.filter((one) => !isSchema(one) || one.type !== 'null');
  return more.length === 0 && isSchema(only) ? only : schema;
}

/** A value that does not fit its schema is JSON, so that it can be seen and corrected. */
function kindOf(
  name: string,
  { type, anyOf, oneOf }: Schema,
  choices: readonly unknown[],
  initial: JsonValue | undefined,
): Field['kind'] {
  const text = JSON.stringify(initial);
  if (choices.length > 0)
    return initial === undefined || choices.some((one) => JSON.stringify(one) === text)
      ? 'choice'
      : 'json';
  if (anyOf !== undefined || oneOf !== undefined) return 'json';
  const wanted = type ?? (initial === undefined ? undefined : typeOf(initial));
  if (initial !== undefined && typeOf(initial) !== (wanted === 'integer' ? 'number' : wanted))
    return 'json';
  if (wanted === 'string') {
    if (initial === undefined) return longNames.test(name) ? 'long' : 'text';
    const given = initial as string;
    // A field would hide such characters, and change some of them.
    if (visibleText(given) !== given) return 'json';
    return given.length > maxOfLine || given.includes('\n') || longNames.test(name)
      ? 'long'
      : 'text';
  }
  if (wanted === 'number' || wanted === 'integer') return wanted;
  return wanted === 'boolean' ? 'yes-no' : 'json';
}

function typeOf(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

const limits: readonly (readonly [name: string, before: string, after: string])[] = [
  ['minimum', 'from ', ''],
  ['exclusiveMinimum', 'above ', ''],
  ['maximum', 'at most ', ''],
  ['exclusiveMaximum', 'below ', ''],
  ['minLength', 'at least ', ' characters'],
  ['maxLength', 'at most ', ' characters'],
  ['minItems', 'at least ', ' entries'],
  ['maxItems', 'at most ', ' entries'],
];

function hintOf(schema: Schema): string {
  const { format } = schema;
  const hints = typeof format === 'string' ? [format.slice(0, 40)] : [];
  for (const [name, before, after] of limits) {
    const limit = schema[name];
    // Bounds that hold for every safe integer say nothing.
    if (typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER)
      hints.push(`${before}${limit}${after}`);
  }
  return hints.join(', ');
}

/** The texts of changed fields. A field that is left out has the text undefined. */
export type Changes = ReadonlyMap<string, string | undefined>;

/** The text of a field in the form; undefined if it is left out. */
export function textIn(
  { name, kind, initial, required }: Field,
  changes: Changes,
): string | undefined {
  if (changes.has(name)) return changes.get(name);
  const isText = kind === 'text' || kind === 'long';
  if (initial === undefined) return required && isText ? '' : undefined;
  if (isText) return initial as string;
  return kind === 'json' ? visibleJson(initial) : JSON.stringify(initial);
}

/** The input that a form describes, or what is wrong, by the names of fields. */
export type FormInput =
  | { readonly input: JsonObject }
  | { readonly faults: ReadonlyMap<string, string> };

export function inputOf(fields: readonly Field[], changes: Changes): FormInput {
  const entries: [string, JsonValue][] = [];
  const faults = new Map<string, string>();
  for (const field of fields) {
    const { name, kind, initial, required } = field;
    const text = textIn(field, changes);
    const isText = kind === 'text' || kind === 'long';
    if (text === undefined || (text.trim() === '' && !isText)) {
      if (required) faults.set(name, 'This is required.');
    } else if (!changes.has(name) && initial !== undefined) entries.push([name, initial]);
    else if (isText) entries.push([name, text]);
    else {
      const read = readValue(text, kind);
      if ('fault' in read) faults.set(name, read.fault);
      else entries.push([name, read.value]);
    }
  }
  return faults.size > 0 ? { faults } : { input: Object.fromEntries(entries) };
}

function readValue(
  text: string,
  kind: Field['kind'],
): { readonly value: JsonValue } | { readonly fault: string } {
  const read = readExact(text);
  if (kind === 'json' || ('fault' in read && read.isJson)) return read;
  const value = 'fault' in read ? undefined : read.value;
  if (kind === 'integer' && !Number.isInteger(value)) return { fault: 'Expected a whole number.' };
  if (kind === 'number' && typeof value !== 'number') return { fault: 'Expected a number.' };
  return read;
}
