/**
 * Turns a server's answer to a call into a handler's outcome. Parts without a place in the output
 * become metadata.
 */
import { content, fail, type JsonObject, type JsonValue, ok } from '../../../index.ts';
import { canonicalJson, copyJson, isJsonObject } from '../../../json/index.ts';
import { cleanText } from '../../shared/outside-text.ts';

/** Most characters of a result, as JSON. */
const maxResultChars = 4 * 1_048_576;
/** Most bytes of a server's error message. */
export const maxErrorBytes = 8_000;
/** Most characters of the metadata. The metadata of a result may have 16 KB in all. */
const maxExtraChars = 15_000;

/**
 * The outcome of a call.
 * @param structured true if the tool declares an output schema: its structured content is the
 * output
 */
export function outcomeOf(result: unknown, structured: boolean): unknown {
  const copy = copyJson(result, { maxDepth: 72, maxValues: 200_000, maxChars: maxResultChars });
  if (!copy.ok && copy.fault !== 'too_large')
    return fail({
      message: `The MCP server returned a result that is not valid JSON: ${copy.message}.`,
      reason: 'mcp_invalid_result',
    });
  if (!copy.ok || copy.overflow)
    return fail({
      message:
        `The MCP server returned more than ${maxResultChars} characters. Ask for less at a ` +
        'time.',
      reason: 'result_too_large',
    });
  const answer = copy.value;
  if (!isJsonObject(answer))
    return fail({
      message: 'The MCP server returned a result that is not an object.',
      reason: 'mcp_invalid_result',
    });
  const fault = faultOf(answer);
  if (fault !== undefined)
    return fail({
      message: `The MCP server returned a result that does not follow the protocol: ${fault}.`,
      reason: 'mcp_invalid_result',
    });
  const parts = (answer.content ?? []) as readonly JsonValue[];
  const { structuredContent = null, _meta } = answer;
  if (answer.isError === true) {
    const extra = metadataOf({
      structuredContent,
      content: parts.some((part) => typeOf(part) !== 'text') ? parts : [],
      _meta,
    });
    return fail({
      message: errorText(parts),
      reason: 'mcp_tool_error',
      ...(extra === undefined ? {} : { details: extra }),
    });
  }
  // Without structured content the output is null, and the output schema decides about that.
  const isData = structured || parts.length === 0;
  const extra = metadataOf({
    structuredContent: isData ? null : structuredContent,
    content: isData
      ? repeats(parts, structuredContent)
        ? []
        : parts
      : parts.some(saysMore)
        ? parts
        : [],
    _meta,
  });
  const output = isData ? structuredContent : parts.map(partOf);
  return extra === undefined ? output : ok(output, { mcp: extra });
}

/** The first violation of the protocol in a result. Naming one is enough. */
function faultOf({
  content: parts = [],
  isError = false,
  _meta = {},
}: JsonObject): string | undefined {
  if (!Array.isArray(parts)) return '`content` is not an array';
  if (typeof isError !== 'boolean') return '`isError` is not a boolean';
  if (!isJsonObject(_meta)) return '`_meta` is not an object';
  const wrong = parts.findIndex((part: JsonValue) => !isPart(part));
  return wrong === -1 ? undefined : `part ${wrong} of \`content\` is malformed`;
}

/**
 * Whether a part has the members that its kind requires. An unknown kind is accepted: it may belong
 * to a later protocol.
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

/** What a server may send in addition to the output. */
interface Extras {
  readonly structuredContent: JsonValue;
  readonly content: readonly JsonValue[];
  readonly _meta: JsonValue | undefined;
}

/** The extras that are present and fit, with the names of those that do not fit. */
function metadataOf(extras: Extras): JsonObject | undefined {
  const kept: Record<string, JsonValue> = {};
  const leftOut: string[] = [];
  let room = maxExtraChars;
  for (const [name, value] of Object.entries(extras) as [string, JsonValue | undefined][]) {
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

/** Whether the parts only repeat the structured content as text. Many servers send both. */
function repeats(parts: readonly JsonValue[], structuredContent: JsonValue): boolean {
  const [part] = parts;
  if (
    parts.length !== 1 ||
    !isJsonObject(part) ||
    part.type !== 'text' ||
    typeof part.text !== 'string' ||
    saysMore(part)
  )
    return parts.length === 0;
  // Most texts are not JSON, and an error that the parser throws takes longer than the rest of a
  // call.
  if (isJsonObject(structuredContent) && !/^\s*\{/.test(part.text)) return false;
  try {
    return canonicalJson(JSON.parse(part.text) as JsonValue) === canonicalJson(structuredContent);
  } catch {
    // The text is not JSON.
    return false;
  }
}

/** The members of a server's part that our content parts keep. */
const keptMembers: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ['text', ['type', 'text']],
  ['image', ['type', 'data', 'mimeType']],
  ['audio', ['type', 'data', 'mimeType']],
  ['resource_link', ['type', 'uri', 'name', 'mimeType']],
  ['resource', ['type', 'resource']],
]);
const keptOfResource = ['uri', 'mimeType', 'text', 'blob'];

/** Whether a part has members that ours do not keep, such as annotations or the size of a link. */
function saysMore(part: JsonValue): boolean {
  if (!isJsonObject(part)) return true;
  const kept = keptMembers.get(part.type);
  if (kept === undefined || Object.keys(part).some((key) => !kept.includes(key))) return true;
  return (
    isJsonObject(part.resource) &&
    Object.keys(part.resource).some((key) => !keptOfResource.includes(key))
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
    'The MCP server reported that the tool failed, but gave no reason.'
  );
}
