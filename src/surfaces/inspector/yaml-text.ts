/**
 * Writes JSON values as YAML that people may edit. A text that a reader could take for something
 * else, or in which characters hide, is written in quotes with escapes.
 */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { unseen } from '../../values/text/unseen.ts';

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
