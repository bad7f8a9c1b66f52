/**
 * Writes JSON values as YAML that people may edit. A text that a reader could take for something
 * else, or in which characters hide, is written in quotes with escapes.
 */
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../values/json/index.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import { shortened, unseen } from '../../values/text/characters.ts';
import type { FieldTest, RuleField } from '../pages/inspector-make-wire.ts';

/** Most characters of a key as it is written. Readers of YAML refuse a key of more than 1 024. */
export const longestKey = 500;

const plain = /^[A-Za-z_/][\w./*@-]*$/;
const word = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** Whether a name can be a key: with its escapes, it may be several times as long. */
export function fitsKey(name: string): boolean {
  return name.length <= longestKey && scalar(name).length <= longestKey;
}

/** Writes a value as a block. */
export function yamlText(value: JsonValue): string {
  return `${block(value, '')}\n`;
}

function block(value: JsonValue, indent: string): string {
  if (Array.isArray(value) && value.length > 0) {
    const items = value as readonly JsonValue[];
    return items.map((item) => `${indent}- ${inItem(item, `${indent}  `)}`).join('\n');
  }
  if (!isJsonObject(value) || Object.keys(value).length === 0) return indent + inline(value);
  return Object.entries(value)
    .map(([key, member]) =>
      isInline(member)
        ? `${indent}${scalar(key)}: ${inline(member)}`
        : `${indent}${scalar(key)}:\n${block(member as JsonValue, `${indent}  `)}`,
    )
    .join('\n');
}

/** The first line of an item is beside its dash. */
function inItem(item: JsonValue, indent: string): string {
  return isInline(item) ? inline(item) : block(item, indent).slice(indent.length);
}

/** Scalars, lists of scalars, and objects with one scalar, such as a test. */
function isInline(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const members = Object.values(value);
  const isFlat = members.every((member) => typeof member !== 'object' || member === null);
  return isFlat && (Array.isArray(value) || members.length < 2);
}

function inline(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(scalar).join(', ')}]`;
  if (!isJsonObject(value)) return scalar(value);
  const members = Object.entries(value).map(([key, member]) => `${scalar(key)}: ${scalar(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function scalar(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null);
  if (plain.test(value) && !word.test(value)) return value;
  return JSON.stringify(value).replaceAll(unseen, escaped);
}

/** YAML has one escape for a whole character. */
function escaped(character: string): string {
  const code = (character.codePointAt(0) as number).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

// The values of a recorded input that a rule may test.

/** A value, and the path that leads a rule to it. */
export interface InputField {
  readonly path: readonly string[];
  readonly value: JsonPrimitive;
  readonly tests: readonly FieldTest[];
  readonly glob?: string;
  readonly why?: RuleField['why'];
}

/** Most values that are offered. */
const maxFields = 40;
/** Most values that are looked at, and the deepest nesting. */
const [maxValues, maxDepth] = [1_000, 8];
/** Most characters of a text that a rule compares. */
const longest = 1_000;
/** Most characters of a value that are shown. */
const maxShown = 200;

/**
 * Lists the values, in their order.
 * @param input As events have it. A value of which a part was redacted is listed without a test.
 * @param isPossible Whether a call of the tool may have this value at this path.
 */
export function fieldsOf(
  input: JsonValue,
  isPossible: (path: readonly string[], value: JsonPrimitive) => boolean,
): { readonly fields: readonly InputField[]; readonly more: number } {
  const known = new Set<string>();
  const fields: InputField[] = [];
  let [left, more] = [maxValues, 0];
  const add = (path: readonly string[], value: JsonPrimitive): void => {
    const key = JSON.stringify([path, typeof value === 'string' ? value.slice(0, longest) : value]);
    if (known.has(key)) return;
    known.add(key);
    if (fields.length === maxFields) more++;
    else fields.push(fieldOf(path, value, isPossible));
  };
  const walk = (value: JsonValue, path: readonly string[]): void => {
    if (left-- <= 0 || path.length > maxDepth) more++;
    else if (isJsonObject(value)) {
      // A rule reads such a name as a pattern, or its file could not have it as a key.
      for (const [name, member] of Object.entries(value))
        if (name === '*' || !fitsKey(name) || name.includes(redacted)) more++;
        else walk(member, [...path, name]);
    } else if (Array.isArray(value)) {
      // A test of a list is one of its elements. Only a longer path names them.
      for (const item of value as readonly JsonValue[])
        walk(item, isJsonObject(item) ? [...path, '*'] : path);
    } else if (path.length > 0) add(path, value as JsonPrimitive);
  };
  walk(input, []);
  return { fields, more };
}

function fieldOf(
  path: readonly string[],
  value: JsonPrimitive,
  isPossible: (path: readonly string[], value: JsonPrimitive) => boolean,
): InputField {
  const none = (why: RuleField['why']): InputField => ({ path, value, tests: [], why });
  if (typeof value === 'string') {
    if (value.includes(redacted)) return none('redacted');
    if (value.length > longest) return none('long');
  }
  if (!isPossible(path, value)) return none('never');
  if (typeof value === 'number') return { path, value, tests: ['equals', 'gte', 'lte'] };
  if (typeof value !== 'string' || value === '') return { path, value, tests: ['equals'] };
  return { path, value, tests: ['equals', 'glob'], glob: globOf(value) };
}

/** A glob for texts like this one: of the same folder or domain, or with the same beginning. */
function globOf(text: string): string {
  const slash = text.lastIndexOf('/', text.length - 2);
  if (slash >= 0) return `${text.slice(0, slash + 1)}*`;
  const at = text.lastIndexOf('@');
  return at > 0 ? `*${text.slice(at)}` : `${text}*`;
}

/** A value as the page shows it. */
export function shownField({ path, value, tests, glob, why }: InputField): RuleField {
  return {
    path: path.join('.'),
    value: shortened(JSON.stringify(value), maxShown),
    tests,
    ...(glob === undefined ? {} : { glob }),
    ...(why === undefined ? {} : { why }),
  };
}
