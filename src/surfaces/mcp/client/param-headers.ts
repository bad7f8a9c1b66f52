/**
 * The `Mcp-Param-*` headers of a call in the 2026 era. They repeat the arguments that a schema
 * marks with `x-mcp-header`, for gateways that do not read bodies.
 */
import { type JsonObject, type JsonValue, MisuseError } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';

/** A header name, by RFC 9110. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const markedTypes: ReadonlySet<JsonValue | undefined> = new Set(['string', 'integer', 'boolean']);
/** A value that needs no encoding: visible ASCII, with spaces and tabs only inside. */
const plain = /^[!-~](?:[\t -~]*[!-~])?$/;
const base64 = /^=\?base64\?.*\?=$/;

/** A mark in the schema, with the argument that it belongs to. */
interface Mark {
  readonly header: JsonValue;
  readonly type: JsonValue | undefined;
  readonly value: JsonValue | undefined;
}

/**
 * The headers by name. Empty if any mark does not follow the protocol: such a tool was not written
 * for that era.
 */
export function paramHeaders(schema: JsonObject, input: JsonObject): Record<string, string> {
  const marks: Mark[] = [];
  collect(schema, input, marks);
  if (faultIn(marks) !== undefined) return {};
  const headers: Record<string, string> = {};
  for (const { header, value } of marks) {
    const text = textOf(value);
    if (text !== undefined)
      headers[`Mcp-Param-${header}`] =
        plain.test(text) && !base64.test(text)
          ? text
          : `=?base64?${Buffer.from(text).toString('base64')}?=`;
  }
  return headers;
}

/**
 * Refuses a tool with a mark that does not follow the protocol: a gateway would judge another call
 * than the server makes. Over stdio there are no headers, but such a mark is wrong there as well.
 * @param raw An entry of a listing.
 * @throws MisuseError `invalid_schema`.
 */
export function checkHeaders(raw: unknown): void {
  const schema = isJsonObject(raw) ? raw.inputSchema : undefined;
  const marks: Mark[] = [];
  if (isJsonObject(schema)) collect(schema, undefined, marks);
  const fault = faultIn(marks);
  if (fault !== undefined) throw new MisuseError('invalid_schema', fault);
}

function faultIn(marks: readonly Mark[]): string | undefined {
  const names = new Set<string>();
  for (const { header, type } of marks) {
    if (typeof header !== 'string' || !token.test(header))
      return 'Its `x-mcp-header` is not the name of a header.';
    if (!markedTypes.has(type))
      return `Its \`x-mcp-header\` ${header} marks what is no string, integer or boolean.`;
    if (names.has(header.toLowerCase())) return `It has two parameters for the header ${header}.`;
    names.add(header.toLowerCase());
  }
  return undefined;
}

function collect({ properties }: JsonObject, input: JsonValue | undefined, marks: Mark[]): void {
  if (!isJsonObject(properties)) return;
  for (const [key, property] of Object.entries(properties)) {
    if (!isJsonObject(property)) continue;
    const value = isJsonObject(input) && Object.hasOwn(input, key) ? input[key] : undefined;
    if (Object.hasOwn(property, 'x-mcp-header'))
      marks.push({ header: property['x-mcp-header'] as JsonValue, type: property.type, value });
    collect(property, value, marks);
  }
}

/**
 * The text of a header. Undefined for what no header can repeat: a missing value, a list, an
 * object, or an integer beyond the safe range, whose digits may differ.
 */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined;
}
