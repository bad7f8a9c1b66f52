/** Reads JSON that is written in texts, within a budget that all texts of one output share. */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { isDigit, withoutLeafEnds } from './text.ts';

/** Most characters of the texts that are read. Parsing more would block the process. */
const maxChars = 1_048_576;
/**
 * Most values in them, keys and containers included. A value costs up to fifty times as much as a
 * character.
 */
const maxValues = 10_000;
/** Values that a text costs at least: one that is malformed makes the parser throw. */
const leastValues = 20;
/** Values that are nested deeper are not read. */
export const maxDepth = 500;

/** A text may be JSON, and the budget does not suffice to read it. */
export const unread = Symbol('unread');

/** Reads the texts of one output or input. */
export class JsonTexts {
  #chars = maxChars;
  #values = maxValues;

  /** The value of a text that is a JSON object or array; undefined for any other text. */
  read(text: string): JsonValue | typeof unread | undefined {
    if (!isInBrackets(text)) return undefined;
    if (text.length > this.#chars) return unread;
    this.#chars -= text.length;
    const found = scan(text, this.#values);
    if (found === undefined) return unread;
    const { values, members, inexact } = found;
    if (values === 0) return undefined;
    this.#values -= Math.max(values, leastValues);
    try {
      const value = JSON.parse(quoted(text, inexact)) as JsonValue;
      // Of two members with the same name, the parser keeps one. The model has seen both.
      return countMembers(value) === members ? value : unread;
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

/** What is in a JSON text. */
interface Scanned {
  /** Values, keys and containers. 0 if it cannot be JSON, since its brackets do not match. */
  values: number;
  /** The number of members of objects. */
  members: number;
  /** Where numbers begin and end that the parser changes. */
  readonly inexact: (readonly [from: number, to: number])[];
}

/**
 * Undefined if there are more values than `most`, or if they are nested too deeply, which takes
 * long to parse.
 */
function scan(text: string, most: number): Scanned | undefined {
  const found: Scanned = { values: 0, members: 0, inexact: [] };
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === backslash) at++;
      else if (code === quote) isString = false;
    } else if (code === quote) isString = true;
    else if (code === comma) found.values++;
    else if (code === colon) {
      found.values++;
      found.members++;
    } else if (code === openArray || code === openObject) {
      found.values++;
      if (++depth > maxDepth) return undefined;
    } else if (code === closeArray || code === closeObject) depth--;
    else if (isDigit(code)) {
      const from = text[at - 1] === '-' ? at - 1 : at;
      while (isInNumber(text.charCodeAt(at + 1))) at++;
      if (isInexact(text, from, at + 1)) found.inexact.push([from, at + 1]);
    }
    if (found.values > most) return undefined;
  }
  if (depth !== 0 || isString) found.values = 0;
  return found;
}

/** Digits, and what else a number of JSON may have. */
function isInNumber(code: number): boolean {
  return isDigit(code) || numberSigns.has(code);
}

const numberSigns = new Set([...'.+-eE'].map((sign) => sign.charCodeAt(0)));

/** Shorter numbers without a zero at their end come back as they were. */
const surelyExact = 15;

/** Whether a number that is written out comes back in other digits. */
function isInexact(text: string, from: number, to: number): boolean {
  if (to - from <= surelyExact && !(text[to - 1] === '0' && text.slice(from, to).includes('.')))
    return false;
  const written = text.slice(from, to);
  const { length } = written;
  return length < longestNumber && plainNumber.test(written) && String(Number(written)) !== written;
}

/** Longer ones are no numbers that someone sends. */
const longestNumber = 1_000;
const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** The text with these numbers as strings, so that they keep their digits. */
function quoted(text: string, numbers: Scanned['inexact']): string {
  if (numbers.length === 0) return text;
  const parts: string[] = [];
  let end = 0;
  for (const [from, to] of numbers) {
    parts.push(text.slice(end, from), '"', text.slice(from, to), '"');
    end = to;
  }
  parts.push(text.slice(end));
  return parts.join('');
}

function countMembers(root: JsonValue): number {
  let count = 0;
  const pending: unknown[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const below = Object.values(value);
    if (!Array.isArray(value)) count += below.length;
    for (const one of below) if (typeof one === 'object') pending.push(one);
  }
  return count;
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

// Takes the texts out of an input, in each form in which an output may repeat them.

/** The texts of an input. */
export interface InputTexts {
  readonly leaves: readonly string[];
  /** Whether these are all. Otherwise some could not be read within the bounds. */
  readonly isComplete: boolean;
}

/** Most places that are percent-encoded. */
const maxEncoded = 20_000;

/**
 * The strings, numbers and keys of an input, each key once. A text that is JSON is followed by what
 * it says, and a text with percent-encoding by the text that is encoded.
 */
export function inputTexts(input: JsonValue): InputTexts {
  const texts = new JsonTexts();
  const leaves: string[] = [];
  const keys = new Set<string>();
  let isComplete = true;
  let encoded = 0;
  const decoded = (run: string): string => {
    if (++encoded > maxEncoded) return run;
    return Buffer.from(run.replaceAll('%', ''), 'hex').toString();
  };
  const take = (text: string): void => {
    if (text === '') return;
    leaves.push(withoutLeafEnds(text));
    if (!text.includes('%')) return;
    const plain = text.replace(/(?:%[\da-f]{2})+/gi, decoded);
    if (plain !== text) leaves.push(withoutLeafEnds(plain));
  };
  const walk = (value: JsonValue, depth: number): void => {
    if (typeof value === 'string') {
      take(value);
      const parsed = texts.read(value);
      if (parsed === unread) isComplete = false;
      else if (parsed !== undefined) walk(parsed, depth + 1);
    } else if (typeof value === 'number') leaves.push(String(value));
    else if (typeof value !== 'object' || value === null) return;
    else if (depth >= maxDepth) isComplete = false;
    else if (Array.isArray(value)) for (const item of value) walk(item as JsonValue, depth + 1);
    else if (isJsonObject(value))
      for (const key of Object.keys(value)) {
        keys.add(key);
        walk(value[key] as JsonValue, depth + 1);
      }
  };
  walk(input, 0);
  for (const key of keys) take(key);
  return { leaves, isComplete: isComplete && encoded <= maxEncoded };
}
