/**
 * Turns a server's answer to a call into a handler's outcome. What has no place in the output goes
 * alongside it.
 */
import { okAlongside } from '../../../core/alongside.ts';
import { sanitizeText } from '../../../core/serialize.ts';
import { fail, type JsonObject, type JsonValue } from '../../../core.ts';
import { makePart, markContent } from '../../../values/content.ts';
import type { ContentPart } from '../../../values/content-parts.ts';
import { copyJson, isJsonObject } from '../../../values/json/index.ts';
import { errorText, metaIn } from '../sent.ts';

/** Most characters of a result, as JSON. */
const maxResultChars = 4 * 1_048_576;
/** Most characters of an error's details, which may have 16 KB in all. */
const maxExtraChars = 15_000;

/**
 * The outcome of a call.
 * @param structured true if the tool declares an output schema: its structured content is the
 * output
 * @param maxOutputChars the budget of the output, which what is sent with an error must keep too
 */
export function outcomeOf(
  result: unknown,
  structured: boolean,
  maxOutputChars = Number.POSITIVE_INFINITY,
): unknown {
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
  const parts = ((answer.content ?? []) as readonly JsonValue[]).map(partOf);
  if (answer.isError === true) return failureOf(answer, parts, maxOutputChars);
  const { structuredContent = null, _meta } = answer;
  // Without structured content the output is null, and the output schema decides about that.
  const isData = structured || parts.length === 0;
  const output = isData ? structuredContent : parts.map(makePart);
  const alongside = {
    ...(isData && !(structured && repeats(parts, structuredContent))
      ? { content: markContent(parts as readonly JsonObject[]) as readonly JsonObject[] }
      : {}),
    ...(structured || structuredContent === null ? {} : { structuredContent }),
    ...metaIn(_meta),
  };
  return Object.keys(alongside).length === 0 ? output : okAlongside(output, alongside);
}

/** The details have what the message does not say, so that a client can get all of it. */
function failureOf(
  { structuredContent, _meta }: JsonObject,
  parts: readonly ContentPart[],
  maxOutputChars: number,
): unknown {
  const message = errorText(parts as readonly JsonObject[]);
  const [part] = parts;
  const isMessage = parts.length === 1 && part?.type === 'text' && part.text === message;
  const details = detailsOf(
    {
      content: isMessage && Object.keys(part).length === 2 ? undefined : (parts as JsonValue),
      structuredContent,
      ...metaIn(_meta),
    },
    Math.min(maxExtraChars, maxOutputChars),
  );
  return fail({
    message,
    reason: 'mcp_tool_error',
    ...(details === undefined ? {} : { details }),
  });
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

/** The extras that are present and fit, with the names of those that do not fit. */
function detailsOf(
  extras: Readonly<Record<string, JsonValue | undefined>>,
  mostChars: number,
): JsonObject | undefined {
  const kept: Record<string, JsonValue> = {};
  const leftOut: string[] = [];
  let room = mostChars;
  for (const [name, value] of Object.entries(extras)) {
    if (value === undefined || value === null) continue;
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
 * Whether the parts are only the JSON text that any client gets of structured content, so that they
 * can be made of it again. Another spelling of the same data is passed on.
 */
function repeats(parts: readonly ContentPart[], structuredContent: JsonValue): boolean {
  const [part] = parts;
  return (
    parts.length === 1 &&
    part?.type === 'text' &&
    Object.keys(part).length === 2 &&
    part.text === sanitizeText(JSON.stringify(structuredContent))
  );
}

/**
 * A part as the server sent it. What the protocol defines in another form is dropped, because a
 * client would refuse the whole result for it.
 */
function partOf(part: JsonValue): ContentPart {
  if (!isJsonObject(part)) return unknownPart;
  const { type, resource } = part;
  const kept = followed(part);
  switch (type) {
    case 'text':
    case 'resource_link':
      return kept as ContentPart;
    case 'image':
    case 'audio':
      return { mimeType: 'application/octet-stream', ...kept } as ContentPart;
    case 'resource':
      return { ...kept, resource: followed(resource as JsonObject) } as ContentPart;
    default:
      return unknownPart;
  }
}

const unknownPart: ContentPart = { type: 'text', text: '[content of an unknown kind]' };

const isText = (value: JsonValue): boolean => typeof value === 'string';
/** What the protocol says about members of parts of any kind, of resources and of annotations. */
const forms: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ...['mimeType', 'name', 'title', 'description', 'text', 'blob'].map(
    (name): [string, typeof isText] => [name, isText],
  ),
  ['size', (size) => typeof size === 'number'],
  ['icons', (icons) => Array.isArray(icons) && icons.every(isIcon)],
  ['annotations', isJsonObject],
  ['_meta', isJsonObject],
  [
    'audience',
    (audience) =>
      Array.isArray(audience) && audience.every((one) => one === 'user' || one === 'assistant'),
  ],
  ['priority', (value) => typeof value === 'number' && value >= 0 && value <= 1],
  ['lastModified', (value) => typeof value === 'string' && isTime(value)],
]);

/** The members that follow the protocol, in their order, and those that it does not know. */
function followed(given: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, JsonValue][] => {
      if (forms.get(name)?.(value) === false) return [];
      if (name === 'annotations') return [[name, followed(value as JsonObject)]];
      return name === '_meta' ? Object.entries(metaIn(value)) : [[name, value]];
    }),
  );
}

function isIcon(icon: JsonValue): boolean {
  if (!isJsonObject(icon)) return false;
  const { src, mimeType = '', sizes = [], theme = 'light' } = icon;
  return (
    isText(src as JsonValue) &&
    isText(mimeType) &&
    Array.isArray(sizes) &&
    sizes.every(isText) &&
    (theme === 'light' || theme === 'dark')
  );
}

/** As the package of the protocol reads it: a date and a time with its zone. */
function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  );
}
