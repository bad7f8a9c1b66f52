/** Writes values as the styles of OpenAPI say (RFC 6570), and refuses those that have no form. */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Writing } from './parameters.ts';

/** An argument that cannot be sent. Nothing was sent. */
export class Unsendable extends Error {}

/** Characters that a query may have as they are, except those that end a member or a value. */
const reservedInQuery = /%(?:2F|3A|3F|40|5B|5D|21|24|27|28|29|2A|2C|3B)/gi;

function encoded(text: string, reserved = false): string {
  const safe = encodeURIComponent(text);
  return reserved ? safe.replace(reservedInQuery, decodeURIComponent) : safe;
}

/** @throws Unsendable for null, a list or an object */
function scalar(value: JsonValue, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Unsendable(
    value === null
      ? `\`${name}\` cannot be sent as null. Leave it out.`
      : `\`${name}\` cannot be sent: a list or an object inside it has no form in a parameter.`,
  );
}

/** The members of a list or an object as texts: names and values in turn, for an object. */
function parts(value: readonly JsonValue[] | object, name: string): string[] {
  return Array.isArray(value)
    ? value.map((item: JsonValue) => scalar(item, name))
    : Object.entries(value as Record<string, JsonValue>).flatMap(([key, item]) => [
        key,
        scalar(item, name),
      ]);
}

function isComposite(
  value: JsonValue,
): value is readonly JsonValue[] | { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null;
}

/**
 * A value in the style `simple`, for a path or a header.
 * @param write encodes a text
 */
export function simpleText(
  { name, explode, json }: Writing,
  value: JsonValue,
  write: (text: string) => string,
): string {
  if (json) return write(JSON.stringify(value));
  if (!isComposite(value)) return write(scalar(value, name));
  if (Array.isArray(value) || !explode) return parts(value, name).map(write).join(',');
  return Object.entries(value)
    .map(([key, item]) => `${write(key)}=${write(scalar(item as JsonValue, name))}`)
    .join(',');
}

const separators = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' } as const;

/**
 * The members of a query or a form that a value becomes, encoded.
 * @throws Unsendable
 */
export function queryParts(writing: Writing, value: JsonValue): string[] {
  const { name, style, explode, reserved, json } = writing;
  const pair = (key: string, text: string): string => `${encoded(key)}=${encoded(text, reserved)}`;
  if (json) return [pair(name, JSON.stringify(value))];
  if (style === 'deepObject') {
    if (!isJsonObject(value))
      throw new Unsendable(`\`${name}\` cannot be sent: its style is for objects only.`);
    return deepParts(name, value, pair);
  }
  if (!isComposite(value)) return [pair(name, scalar(value, name))];
  if (explode && Array.isArray(value))
    return value.map((item: JsonValue) => pair(name, scalar(item, name)));
  if (explode)
    return Object.entries(value).map(([key, item]) => pair(key, scalar(item as JsonValue, name)));
  const list = parts(value, name).map((text) => encoded(text, reserved));
  const separator = separators[style as keyof typeof separators];
  return list.length === 0 ? [] : [`${encoded(name)}=${list.join(separator)}`];
}

/** Objects inside objects are written as those who use the style do; lists have no form. */
function deepParts(
  prefix: string,
  value: { readonly [key: string]: JsonValue },
  pair: (key: string, text: string) => string,
): string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const name = `${prefix}[${key}]`;
    return isJsonObject(item) ? deepParts(name, item, pair) : [pair(name, scalar(item, name))];
  });
}
