/** The texts of a result that the model is shown, as values that are remembered. */

import type { OutputOrigin } from '../../api/origins.ts';
import type { ResultMetadata, ToolResult } from '../../api/result.ts';
import type { Call, FoundCall } from '../../core/call/call.ts';
import { markStart } from '../../core/call/stages/output-limits.ts';
import { longestMessage } from '../../core/call/thrown-error.ts';
import { Slot } from '../../core/slot.ts';
import { notesOf, ownText, withText } from '../../values/content.ts';
import { type ContentPart, contentParts } from '../../values/content-parts.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { EchoFilter } from './echo-filter.ts';
import { withoutPieces } from './whole-words.ts';

/** Finds all marks in a text, and texts that look like one. */
const cutMarks = new RegExp(
  String.raw`\n?\[output cut: (?:more than |the first \d+ of )?\d+ characters` +
    String.raw`(?:, limit \d+|\. Read on with read_tool_output \{[^}\n]*\})\]`,
  'g',
);

/** All of them, also the pieces of words at which something was cut. */
export function shownTexts(result: ToolResult): JsonValue {
  return result.success ? outputTexts(result.output) : errorTexts(result.error);
}

/**
 * What a trusted output or failure vouches for: the same without pieces of words. Whoever may
 * choose where a text is cut must not choose its words.
 */
export function wholeTexts(call: FoundCall, result: ToolResult): JsonValue {
  if (!result.success) return wholeError(call, result.error);
  const { output, metadata } = result;
  const readBack = readBackBy(call);
  if (readBack !== undefined) return readBack.words;
  const { truncated } = metadata;
  if (typeof output === 'string') return wholeText(output, truncated);
  const parts = contentParts(output);
  return parts === undefined ? (output as JsonValue) : wholeParts(parts, truncated);
}

function wholeParts(
  parts: readonly ContentPart[],
  truncated: ResultMetadata['truncated'],
): JsonValue {
  // The part that was cut is the last one with a text.
  const last = parts.findLastIndex((part) => ownText(part) !== undefined);
  return parts.map((part, index) => {
    const text = ownText(part);
    if (text === undefined) return partTexts(part);
    return partTexts(withText(part, wholeText(text, index === last ? truncated : undefined)));
  });
}

/**
 * The texts that were sent in addition to the output; undefined if there are none.
 * @param onlyWhole without pieces of words, as {@link wholeTexts}
 */
export function textsAlongside(
  { metadata: { alongside } }: ToolResult,
  onlyWhole: boolean,
): JsonValue | undefined {
  if (alongside === undefined) return undefined;
  const { content, structuredContent = '', _meta = '', truncated } = alongside;
  const parts = contentParts(content) ?? [];
  const texts = onlyWhole ? wholeParts(parts, truncated) : parts.map(partTexts);
  return [texts, structuredContent, _meta];
}

/** A text that is hardly longer than a mark may have been cut without one. */
const surelyMarked = 200;

function wholeText(text: string, truncated: ResultMetadata['truncated']): string {
  const isEndCut =
    truncated !== undefined &&
    (!truncated.exact || text.length < surelyMarked || text.search(cutMarks) === -1);
  return isEndCut || text.includes(markStart) ? withoutPieces(text, cutMarks, isEndCut) : text;
}

/** The library's own errors quote texts, and shorten what they quote. */
function wholeError(call: FoundCall, error: ToolError): JsonValue {
  if (error.code !== 'handler_error') return [];
  const most = Math.min(longestMessage, call.binding.maxOutputChars);
  return mapTexts(errorTexts(error), (text) => withoutPieces(text, hidden, text.length >= most));
}

const hidden = /\[redacted\]/g;

function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapTexts(item, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapTexts(item as JsonValue, change)]),
  );
}

/** Content parts as their texts. The bytes of an image contain no text. */
function outputTexts(output: unknown): JsonValue {
  const parts = contentParts(output);
  return parts === undefined ? (output as JsonValue) : parts.map(partTexts);
}

function partTexts(part: ContentPart): JsonValue {
  const notes = notesOf(part);
  return notes === undefined ? ownTexts(part) : [ownTexts(part), notes];
}

function ownTexts(part: ContentPart): JsonValue {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'resource':
      return [part.resource.uri, part.resource.text ?? '', part.resource.mimeType ?? ''];
    case 'resource_link':
      return [part.uri, part.name ?? '', part.mimeType ?? ''];
    default:
      return part.mimeType;
  }
}

function errorTexts({ message, reason, details }: ToolError): JsonValue {
  return [message, reason ?? '', details ?? ''];
}

// An output that a call reads back, after another call has returned it.

/** What is known about the output. */
export interface ReadBack {
  /** The tool that returned it. */
  readonly tool: string;
  readonly origin: OutputOrigin;
  readonly echoes: EchoFilter | undefined;
  /** What the model is shown of it, without pieces of words. */
  words: string;
}

export const ofReader = new Slot<ReadBack>();

/** What the call reads back; undefined if it reads nothing back. */
export function readBackBy({ extra }: Call): ReadBack | undefined {
  return extra === undefined ? undefined : ofReader.of(extra);
}
