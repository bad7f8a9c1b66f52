/**
 * A server's answer to a call, as a handler's outcome. What the output has no room for goes along
 * as metadata.
 */
import { content, fail, type JsonObject, type JsonValue, ok } from '../../index.ts';
import { canonicalJson, copyJson, isJsonObject } from '../../json.ts';
import { cleanText } from '../../surfaces/shared/outside-text.ts';

/** Most characters of a result, as JSON. */
const maxResultChars = 4 * 1_048_576;
/** Most bytes of a server's words about a failure. */
export const maxErrorBytes = 8_000;
/** Most characters of what goes along; the metadata of a result have 16 KB at most. */
const maxAlongChars = 15_000;

/** @param structured the tool declares an output schema: its structured content is the output */
export function outcomeOf(result: unknown, structured: boolean): unknown {
  const copy = copyJson(result, { maxDepth: 72, maxValues: 200_000, maxChars: maxResultChars });
  if (!copy.ok && copy.fault !== 'too_large')
    return fail({
      message: `The MCP server answered what is no JSON: ${copy.message}.`,
      reason: 'mcp_invalid_result',
    });
  if (!copy.ok || copy.overflow)
    return fail({
      message: `The MCP server answered more than ${maxResultChars} characters. Ask for less at once.`,
      reason: 'result_too_large',
    });
  const answer = copy.value;
  if (!isJsonObject(answer))
    return fail({ message: 'The MCP server answered no result.', reason: 'mcp_invalid_result' });
  const fault = faultOf(answer);
  if (fault !== undefined)
    return fail({
      message: `The MCP server answered no result of the protocol: ${fault}.`,
      reason: 'mcp_invalid_result',
    });
  const parts = (answer.content ?? []) as readonly JsonValue[];
  const { structuredContent = null, _meta } = answer;
  if (answer.isError === true) {
    const along = goesAlong({
      structuredContent,
      content: parts.some((part) => typeOf(part) !== 'text') ? parts : [],
      _meta,
    });
    return fail({
      message: errorText(parts),
      reason: 'mcp_tool_error',
      ...(along === undefined ? {} : { details: along }),
    });
  }
  // Where nothing is structured the output is null, which the output schema then judges.
  const isData = structured || parts.length === 0;
  const along = goesAlong({
    structuredContent: isData ? null : structuredContent,
    content: isData
      ? says(parts, structuredContent)
        ? []
        : parts
      : parts.some(saysMore)
        ? parts
        : [],
    _meta,
  });
  const output = isData ? structuredContent : parts.map(partOf);
  return along === undefined ? output : ok(output, { mcp: along });
}

/** The first thing about a result that is not as the protocol has it: one is enough to say. */
function faultOf({
  content: parts = [],
  isError = false,
  _meta = {},
}: JsonObject): string | undefined {
  if (!Array.isArray(parts)) return '`content` is no list';
  if (typeof isError !== 'boolean') return '`isError` is neither true nor false';
  if (!isJsonObject(_meta)) return '`_meta` is no object';
  const wrong = parts.findIndex((part: JsonValue) => !isPart(part));
  return wrong === -1 ? undefined : `part ${wrong} of \`content\` is malformed`;
}

/**
 * Whether a part has what its kind must have. A kind that is not known may be one of a later
 * protocol.
 */
function isPart(part: JsonValue): boolean {
  if (!isJsonObject(part) || typeof part.type !== 'string') return false;
  const { type, text, data, uri, resource } = part;
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'image':
    case 'audio':
      return typeof data === 'string';
    case 'resource_link':
      return typeof uri === 'string';
    case 'resource':
      return (
        isJsonObject(resource) &&
        typeof resource.uri === 'string' &&
        (typeof resource.text === 'string' || typeof resource.blob === 'string')
      );
    default:
      return true;
  }
}

/** What a server may send beside an output. */
interface Beside {
  readonly structuredContent: JsonValue;
  readonly content: readonly JsonValue[];
  readonly _meta: JsonValue | undefined;
}

/** Those of them that are there and fit, and the names of those that do not. */
function goesAlong(beside: Beside): JsonObject | undefined {
  const kept: Record<string, JsonValue> = {};
  const leftOut: string[] = [];
  let room = maxAlongChars;
  for (const [name, value] of Object.entries(beside) as [string, JsonValue | undefined][]) {
    if (
      value === undefined ||
      value === null ||
      (typeof value === 'object' && Object.keys(value).length === 0)
    )
      continue;
    const copy = copyJson(value, { maxDepth: 60, maxValues: 5_000, maxChars: room });
    const chars =
      copy.ok && !copy.overflow ? JSON.stringify(copy.value).length : Number.POSITIVE_INFINITY;
    if (chars > room) {
      leftOut.push(name);
      continue;
    }
    kept[name] = value;
    room -= chars;
  }
  if (leftOut.length > 0) kept.leftOut = leftOut;
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/**
 * Whether the parts are nothing but the structured content once more, as text: many servers send
 * both.
 */
function says(parts: readonly JsonValue[], structuredContent: JsonValue): boolean {
  const [part] = parts;
  if (
    parts.length !== 1 ||
    !isJsonObject(part) ||
    part.type !== 'text' ||
    typeof part.text !== 'string' ||
    saysMore(part)
  )
    return parts.length === 0;
  try {
    return canonicalJson(JSON.parse(part.text) as JsonValue) === canonicalJson(structuredContent);
  } catch {
    // Words, and not data.
    return false;
  }
}

/** What a content part of ours holds of a server's. */
const heldMembers: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ['text', ['type', 'text']],
  ['image', ['type', 'data', 'mimeType']],
  ['audio', ['type', 'data', 'mimeType']],
  ['resource_link', ['type', 'uri', 'name', 'mimeType']],
  ['resource', ['type', 'resource']],
]);
const heldOfResource = ['uri', 'mimeType', 'text', 'blob'];

/**
 * Whether a part has members that ours have no place for, such as annotations or the size of a
 * link.
 */
function saysMore(part: JsonValue): boolean {
  if (!isJsonObject(part)) return true;
  const held = heldMembers.get(part.type);
  if (held === undefined || Object.keys(part).some((key) => !held.includes(key))) return true;
  return (
    isJsonObject(part.resource) &&
    Object.keys(part.resource).some((key) => !heldOfResource.includes(key))
  );
}

function typeOf(part: JsonValue): JsonValue | undefined {
  return isJsonObject(part) ? part.type : undefined;
}

function partOf(part: JsonValue): unknown {
  if (!isJsonObject(part)) return content.text('[content of an unknown kind]');
  const { type, text, data, mimeType, resource, uri, name } = part;
  const mime = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  if (type === 'text' && typeof text === 'string') return content.text(text);
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return content[type](data, mime);
  if (type === 'resource_link' && typeof uri === 'string')
    return content.link({
      uri,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
    });
  if (type === 'resource' && isJsonObject(resource) && typeof resource.uri === 'string') {
    const { uri: place, mimeType: kind, text: body, blob } = resource;
    return content.resource({
      uri: place as string,
      ...(typeof kind === 'string' ? { mimeType: kind } : {}),
      ...(typeof body === 'string' ? { text: body } : {}),
      ...(typeof blob === 'string' ? { blob } : {}),
    });
  }
  return content.text('[content of an unknown kind]');
}

function errorText(parts: readonly JsonValue[]): string {
  const texts = parts.flatMap((part) =>
    isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return (
    cleanText(texts.join('\n'), maxErrorBytes) ||
    'The MCP server says that the tool failed, and not why.'
  );
}
