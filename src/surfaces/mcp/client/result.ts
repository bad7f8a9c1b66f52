/**
 * Turns a server's answer to a call into a handler's outcome. What has no place in the output goes
 * alongside it.
 */
import { okAlongside } from '../../../core/result.ts';
import { fail, type JsonObject, type JsonValue } from '../../../core.ts';
import { type ContentPart, makePart, markContent } from '../../../values/content.ts';
import { copyJson, isJsonObject } from '../../../values/json/index.ts';
import { cleanText } from '../../shared/outside-text.ts';

/** Most characters of a result, as JSON. */
const maxResultChars = 4 * 1_048_576;
/** Most bytes of a server's error message. */
export const maxErrorBytes = 8_000;
/** Most characters of an error's details, which may have 16 KB in all. */
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
    const details = detailsOf({
      structuredContent,
      content: parts.some((part) => typeOf(part) !== 'text') ? parts : [],
      _meta,
    });
    return fail({
      message: errorText(parts),
      reason: 'mcp_tool_error',
      ...(details === undefined ? {} : { details }),
    });
  }
  // Without structured content the output is null, and the output schema decides about that.
  const isData = structured || parts.length === 0;
  const output = isData ? structuredContent : parts.map((part) => makePart(partOf(part)));
  const alongside = {
    ...(isData && !repeats(parts, structuredContent)
      ? { content: markContent(parts.map(partOf)) as readonly JsonObject[] }
      : {}),
    ...(isData || structuredContent === null ? {} : { structuredContent }),
    ...metaIn(_meta),
  };
  return Object.keys(alongside).length === 0 ? output : okAlongside(output, alongside);
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

/** What a server may send in addition to the text of an error. */
interface Extras {
  readonly structuredContent: JsonValue;
  readonly content: readonly JsonValue[];
  readonly _meta: JsonValue | undefined;
}

/** The extras that are present and fit, with the names of those that do not fit. */
function detailsOf(extras: Extras): JsonObject | undefined {
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

/**
 * Whether the parts are only the JSON text that any client gets of structured content. Another
 * spelling of the same data is passed on, because a model may have to quote it.
 */
function repeats(parts: readonly JsonValue[], structuredContent: JsonValue): boolean {
  const [part] = parts;
  if (part === undefined) return true;
  if (parts.length > 1 || !isJsonObject(part) || part.type !== 'text') return false;
  return Object.keys(part).length === 2 && part.text === JSON.stringify(structuredContent);
}

function typeOf(part: JsonValue): JsonValue | undefined {
  return isJsonObject(part) ? part.type : undefined;
}

function partOf(part: JsonValue): ContentPart {
  if (!isJsonObject(part)) return unknownPart;
  const { type, text, data, mimeType, resource, uri, name } = part;
  const mime = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  const notes = notesIn(part);
  if (type === 'text' && typeof text === 'string') return { type, text, ...notes };
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return { type, data, mimeType: mime, ...notes };
  if (type === 'resource_link' && typeof uri === 'string')
    return {
      type,
      uri,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
      ...notes,
      ...notesOfLink(part),
    };
  if (type === 'resource' && isJsonObject(resource) && typeof resource.uri === 'string') {
    const { uri: place, mimeType: kind, text: body, blob } = resource;
    return {
      type,
      resource: {
        uri: place as string,
        ...(typeof kind === 'string' ? { mimeType: kind } : {}),
        ...(typeof body === 'string' ? { text: body } : {}),
        ...(typeof blob === 'string' ? { blob } : {}),
        ...metaIn(resource._meta),
      },
      ...notes,
    };
  }
  return unknownPart;
}

const unknownPart: ContentPart = { type: 'text', text: '[content of an unknown kind]' };

function errorText(parts: readonly JsonValue[]): string {
  const texts = parts.flatMap((part) =>
    isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return (
    cleanText(texts.join('\n'), maxErrorBytes) ||
    'The MCP server reported that the tool failed, but gave no reason.'
  );
}

// What a server says about a result or a part in addition to its content. Members that do not
// follow the protocol are dropped, because a client would refuse the whole result.

/**
 * The metadata of a result, without keys of the protocol, which are about this connection, and
 * without those of this library.
 */
function metaIn(meta: JsonValue | undefined): { readonly _meta?: JsonObject } {
  if (!isJsonObject(meta)) return {};
  const own = Object.entries(meta).filter(
    ([key]) =>
      key !== 'progressToken' &&
      !/^(?:host-tools|(?:[^/]*\.)?(?:mcp|modelcontextprotocol)(?:\.[^/]*)?)\//.test(key),
  );
  return own.length === 0 ? {} : { _meta: Object.fromEntries(own) };
}

/** The members that a part of any kind may have. */
function notesIn(part: JsonObject): JsonObject {
  const { annotations, _meta } = part;
  const kept = isJsonObject(annotations) ? annotationsIn(annotations) : {};
  return {
    ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }),
    ...metaIn(_meta),
  };
}

/** The further members of a link. */
function notesOfLink({ title, description, size }: JsonObject): JsonObject {
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof size === 'number' ? { size } : {}),
  };
}

function annotationsIn({ audience, priority, lastModified }: JsonObject): JsonObject {
  const isAudience =
    Array.isArray(audience) && audience.every((one) => one === 'user' || one === 'assistant');
  const isPriority = typeof priority === 'number' && priority >= 0 && priority <= 1;
  return {
    ...(isAudience ? { audience } : {}),
    ...(isPriority ? { priority } : {}),
    ...(typeof lastModified === 'string' && isTime(lastModified) ? { lastModified } : {}),
  };
}

/** As the package of the protocol reads it: a date and a time with its zone. */
function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  );
}
