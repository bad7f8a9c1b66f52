/**
 * The `Mcp-Param-*` headers of the protocol version 2026-07-28. A client repeats in them the
 * arguments that a schema marks with `x-mcp-header`, so that a gateway can judge a call without its
 * body. A server must refuse a call whose headers and body disagree. Otherwise the gateway would
 * have judged a different call from the one that runs.
 */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';

/** An argument that a header repeats. */
interface MarkedParam {
  /** The keys that lead from the arguments to it. */
  readonly path: readonly string[];
  /** The header's name without `Mcp-Param-`. */
  readonly header: string;
  /** True if its values are compared as numbers. */
  readonly numeric: boolean;
}

/** A header name, by RFC 9110. */
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
 * How the headers of a call disagree with its arguments; undefined if they agree.
 * @param schema the tool's input schema, as it is listed
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
 * The arguments that are marked. The protocol allows marks only on plain properties; clients leave
 * out a tool with marks elsewhere.
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
  // A header without its argument disagrees too: the gateway has not seen the default that may fill
  // the argument in.
  if (value === undefined || value === null)
    return sent === null
      ? undefined
      : `the header ${name} is sent, but the body has no such argument`;
  // Clients send no header for such a number, because JSON and text may round it differently.
  if (typeof value === 'number' && isRounded(value))
    return sent === null ? undefined : 'the body has a number that a header cannot repeat exactly';
  if (sent === null) {
    const expected = `the body has an argument that the header ${name} must repeat`;
    return `${expected}, but the header is missing`;
  }
  const text = decoded(sent);
  if (text === undefined) return `the header ${name} is not valid Base64 of UTF-8 text`;
  // A list or an object never equals a header. Converted to text it might, and input repair could
  // then turn it into an argument that the gateway did not see.
  const same =
    numeric && typeof value === 'number' && decimal.test(text)
      ? Number(text) === value
      : typeof value !== 'object' && text === String(value);
  return same ? undefined : `the header ${name} differs from the body`;
}

/**
 * The argument at a path; null if there is none. A value on the way that is not an object is
 * returned itself: input repair may turn it into an object later, so no header can match it.
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

/** Whether a number may have been rounded from a different one. */
function isRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** The text of a header; undefined if it is malformed. */
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
