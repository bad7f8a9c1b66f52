/**
 * The `Mcp-Param-*` headers of the protocol of 2026-07-28: a client repeats in them the arguments
 * that a schema marks with `x-mcp-header`, so that a gateway can judge a call without its body. A
 * server must refuse a call whose headers and body disagree, or the gateway has judged another call
 * than the one that runs.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { isJsonObject } from '../../json.ts';

/** An argument that a header repeats. */
interface MarkedParam {
  /** The keys that lead to it from the arguments. */
  readonly path: readonly string[];
  /** The header's name, without what all begin with. */
  readonly header: string;
  /** Whether its values are compared as numbers. */
  readonly numeric: boolean;
}

/** What a header may be called, by RFC 9110. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const markedTypes: ReadonlySet<JsonValue | undefined> = new Set([
  'string',
  'integer',
  'boolean',
  'number',
]);
const decimal = /^-?\d+(?:\.\d+)?$/;
const base64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

const known = new WeakMap<object, readonly MarkedParam[]>();

/**
 * How the headers of a call disagree with its arguments; undefined where they agree. @param schema
 * the tool's input schema, as it is listed
 */
export function paramHeaderMismatch(
  schema: JsonObject,
  input: unknown,
  headers: Headers,
): string | undefined {
  let marked = known.get(schema);
  if (marked === undefined) {
    marked = markedParams(schema);
    known.set(schema, marked);
  }
  for (const param of marked) {
    const fault = mismatchOf(param, input, headers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * The marks that stand on plain properties. Elsewhere the protocol allows none, and clients leave
 * such a tool out.
 */
function markedParams(schema: JsonObject): readonly MarkedParam[] {
  const marked: MarkedParam[] = [];
  const visit = ({ properties }: JsonObject, path: readonly string[]): void => {
    if (!isJsonObject(properties)) return;
    for (const [key, property] of Object.entries(properties)) {
      if (!isJsonObject(property)) continue;
      const header = Object.hasOwn(property, 'x-mcp-header') ? property['x-mcp-header'] : undefined;
      if (typeof header === 'string' && token.test(header) && markedTypes.has(property.type))
        marked.push({
          path: [...path, key],
          header,
          numeric: property.type === 'integer' || property.type === 'number',
        });
      visit(property, [...path, key]);
    }
  };
  visit(schema, []);
  return marked;
}

function mismatchOf(
  { path, header, numeric }: MarkedParam,
  input: unknown,
  headers: Headers,
): string | undefined {
  const name = `Mcp-Param-${header}`;
  const sent = headers.get(name);
  const value = valueAt(input, path);
  // A default that fills in a missing argument is none that the gateway has seen: a header alone
  // disagrees, too.
  if (value === undefined || value === null)
    return sent === null
      ? undefined
      : `the header ${name} is sent, but the body has no such argument`;
  // Clients send no header for such a number: JSON and text may round it differently.
  if (typeof value === 'number' && isRounded(value))
    return sent === null ? undefined : 'the body has a number that no header can repeat';
  if (sent === null)
    return `the body has an argument that the header ${name} must repeat, but the header is missing`;
  const text = decoded(sent);
  if (text === undefined) return `the header ${name} is not valid Base64 of UTF-8 text`;
  // A list or an object is refused, not read as text: a schema may mend it into the very argument
  // that the gateway did not see.
  const same =
    numeric && typeof value === 'number' && decimal.test(text)
      ? Number(text) === value
      : typeof value !== 'object' && text === String(value);
  return same ? undefined : `the header ${name} says something else than the body`;
}

/**
 * Null where there is no such argument. What is no object on the way may be mended into one later:
 * then it is an argument that no header can repeat.
 */
function valueAt(input: unknown, path: readonly string[]): unknown {
  let at = input;
  for (const key of path) {
    if (at === undefined || at === null) return null;
    if (!isJsonObject(at as JsonValue)) return at;
    at = Object.hasOwn(at as object, key) ? (at as JsonObject)[key] : null;
  }
  return at;
}

/** Whether a number may stand for others that were sent. */
function isRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** What a header says; undefined for a malformed one. */
function decoded(sent: string): string | undefined {
  if (!sent.startsWith('=?base64?') || !sent.endsWith('?=')) return sent;
  const [, data] = base64.exec(sent) ?? [];
  if (data === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(data, 'base64'),
    );
  } catch {
    return undefined;
  }
}
