/** Reads JSON that is written in texts, within a budget that all texts of one output share. */
import type { JsonValue } from '../json/index.ts';

/** Most characters of the texts that are read. Parsing more would block the process. */
const mostChars = 1_048_576;
/**
 * Most values in them, keys and containers included. A value costs up to fifty times as much as a
 * character.
 */
const mostValues = 10_000;
/** Values that a text costs at least: one that is malformed makes the parser throw. */
const leastValues = 20;
/** Values that are nested deeper are not read. */
export const maxDepth = 500;

/** A text may be JSON, and the budget does not suffice to read it. */
export const unread = Symbol('unread');

/** Reads the texts of one output or input. */
export class JsonTexts {
  #chars = mostChars;
  #values = mostValues;

  /** The value of a text that is a JSON object or array; undefined for any other text. */
  read(text: string): JsonValue | typeof unread | undefined {
    if (!isInBrackets(text)) return undefined;
    if (text.length > this.#chars) return unread;
    this.#chars -= text.length;
    const values = countValues(text, this.#values);
    if (values === undefined) return unread;
    if (values === 0) return undefined;
    this.#values -= Math.max(values, leastValues);
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      return undefined;
    }
  }
}

/** Whether the first and the last sign of a text are a pair of brackets. */
function isInBrackets(text: string): boolean {
  let start = 0;
  while (isJsonSpace(text.charCodeAt(start))) start++;
  const first = text[start];
  if (first !== '[' && first !== '{') return false;
  let end = text.length - 1;
  while (isJsonSpace(text.charCodeAt(end))) end--;
  return text[end] === (first === '[' ? ']' : '}');
}

function isJsonSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

const [quote, backslash, comma, colon] = [34, 92, 44, 58];
const [openArray, openObject, closeArray, closeObject] = [91, 123, 93, 125];

/**
 * The values in a JSON text; undefined if there are more than `most`, or if they are nested too
 * deeply, which takes long to parse. 0 if the text cannot be JSON, since its brackets do not match.
 */
function countValues(text: string, most: number): number | undefined {
  let [values, depth] = [0, 0];
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === backslash) at++;
      else if (code === quote) isString = false;
    } else if (code === quote) isString = true;
    else if (code === comma || code === colon) values++;
    else if (code === openArray || code === openObject) {
      values++;
      if (++depth > maxDepth) return undefined;
    } else if (code === closeArray || code === closeObject) depth--;
    if (values > most) return undefined;
  }
  return depth === 0 && !isString ? values : 0;
}

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The text with what the escapes of JSON stand for. It need not be JSON. */
export function unescaped(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', from)) {
    parts.push(text.slice(from, at));
    const sign = text[at + 1] ?? '';
    const code = sign === 'u' ? text.slice(at + 2, at + 6) : '';
    const isCode = /^[\da-f]{4}$/i.test(code);
    parts.push(isCode ? String.fromCharCode(Number.parseInt(code, 16)) : (controls[sign] ?? sign));
    from = at + 2 + (isCode ? 4 : 0);
  }
  parts.push(text.slice(from));
  return parts.join('');
}
