/**
 * What a surface shows of a result: always a text, the error's code for a failure, structured
 * content if the tool declares an output schema, and content parts if the output has them.
 */

import { sanitizeText } from '../../core/serialize.ts';
import { type JsonObject, type JsonValue, serializeOutput, type ToolResult } from '../../core.ts';
import { partText } from '../../values/content.ts';
import { contentParts } from '../../values/content-parts.ts';
import { isJsonObject, wellFormedJson } from '../../values/json/index.ts';
import { head } from '../../values/text/characters.ts';
import { isOfObjects } from './shown-output.ts';

/** A part of an output, made by `content.*`. */
export type ShownPart = NonNullable<ReturnType<typeof contentParts>>[number];

/** One result as surfaces show it. */
export interface ShownOutcome {
  /** The text that the model sees. */
  readonly text: string;
  readonly isError: boolean;
  /** The error, for protocols that have a place for it; absent for a success. */
  readonly error?: { readonly code: string; readonly reason?: string; readonly ruleId?: string };
  /**
   * The output of a tool that declares an output schema. If it is not an object, it is wrapped as
   * `{ result }`.
   */
  readonly structured?: JsonObject;
  /** The content parts of the output, if it was made from parts. */
  readonly parts?: readonly ShownPart[];
  /** What an MCP server sent in addition to the output, for clients of the same protocol. */
  readonly alongside?: ShownAlongside;
}

/** Content parts, structured content and metadata of a result, each if there is one. */
export interface ShownAlongside {
  readonly parts?: readonly ShownPart[];
  readonly structured?: JsonObject;
  readonly meta?: JsonObject;
}

/**
 * What to show of a result, with well-formed texts. `declared` is the tool's output schema, which
 * decides about the wrapping as in the schema that clients are shown, or whether the tool has one.
 */
export function shownOutcome(result: ToolResult, declared: boolean | JsonObject): ShownOutcome {
  const text = serializeOutput(result);
  if (!result.success) {
    const { code, reason, ruleId } = result.error;
    const error = {
      code,
      ...(reason === undefined ? {} : { reason }),
      ...(ruleId === undefined ? {} : { ruleId }),
    };
    return { text, isError: true, error: wellFormedJson(error) };
  }
  const parts = contentParts(result.output);
  const sent = alongsideOf(result);
  const more = sent === undefined ? {} : { alongside: wellFormedJson(sent) };
  if (parts !== undefined) return { text, isError: false, parts: wellFormedJson(parts), ...more };
  if (declared === false) return { text, isError: false, ...more };
  const output = wellFormedJson(result.output as JsonValue);
  return {
    text,
    isError: false,
    structured:
      isJsonObject(output) && (declared === true || isOfObjects(declared))
        ? output
        : { result: output },
    ...more,
  };
}

function alongsideOf({ metadata }: ToolResult): ShownAlongside | undefined {
  // A stored result that an application passes may have no metadata.
  if (metadata?.alongside === undefined) return undefined;
  const { content, structuredContent, _meta } = metadata.alongside;
  const parts = contentParts(content);
  return {
    ...(parts === undefined ? {} : { parts }),
    ...(isJsonObject(structuredContent) ? { structured: structuredContent } : {}),
    ...(_meta === undefined ? {} : { meta: _meta }),
  };
}

// Converts content parts for providers: some kinds of media as they are, and all other parts as
// text.

/** Bytes, as base64, that a provider may accept. */
export interface ShownMedia {
  readonly kind: 'media';
  readonly data: string;
  /** The MIME type, in lower case and without parameters. */
  readonly mimeType: string;
  /** The name of a file, if the part has one. */
  readonly name?: string;
}

/** The text of a part that is not shown as media. */
export interface ShownText {
  readonly kind: 'text';
  readonly text: string;
}

/** The types of images that all providers read. */
export const commonImages: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
];

/**
 * Converts each part to media if its type is one of `accepted` and its bytes are base64, and to
 * text otherwise. Empty texts are left out.
 */
export function shownMedia(
  parts: readonly ShownPart[],
  accepted: readonly string[],
): (ShownMedia | ShownText)[] {
  return parts.flatMap((part): (ShownMedia | ShownText)[] => {
    const media = mediaOf(part);
    if (media !== undefined && accepted.includes(media.mimeType) && isBase64(media.data))
      return [media];
    const text = sanitizeText(partText(part));
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}

function mediaOf(part: ShownPart): ShownMedia | undefined {
  if (part.type === 'image' || part.type === 'audio')
    return { kind: 'media', data: part.data, mimeType: plainType(part.mimeType) };
  if (part.type !== 'resource') return undefined;
  const { uri, mimeType, blob } = part.resource;
  if (typeof blob !== 'string' || typeof mimeType !== 'string') return undefined;
  const name = head(sanitizeText(uri.split(/[/\\]/).at(-1) ?? ''), 200);
  return {
    kind: 'media',
    data: blob,
    mimeType: plainType(mimeType),
    ...(name === '' ? {} : { name }),
  };
}

function plainType(mimeType: string): string {
  return (mimeType.split(';')[0] as string).trim().toLowerCase();
}

/** A provider refuses the whole request if the data is not valid base64. */
function isBase64(data: string): boolean {
  return data !== '' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}
