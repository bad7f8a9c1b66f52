/** What the model sees of a result. */

import type { JsonValue, ToolResult } from '../../core.ts';
import { contentParts, markContent } from '../../values/content.ts';
import { isJsonObject, wellFormedJson } from '../../values/json/index.ts';
import { commonImages, type ShownMedia, type ShownText, shownMedia } from '../shared/media.ts';
import { shownOutcome } from '../shared/outcome.ts';
import type { AiSdkJson, AiSdkOutput, AiSdkPart, AiSdkResult } from './tool.ts';

/**
 * The result with well-formed texts, because applications store it with the conversation. It is
 * marked if its output consists of content parts, and names the approval that it waits for.
 */
export function markedResult(result: ToolResult): AiSdkResult {
  const shown = wellFormedJson(result);
  if (!result.success && result.approval !== undefined) {
    const { approval } = result;
    // It has the token, so it stays out of what a browser gets.
    return Object.defineProperty({ ...shown, approvalId: approval.id }, 'approval', {
      value: approval,
    });
  }
  return result.success && contentParts(result.output) !== undefined
    ? { ...shown, content: true }
    : shown;
}

/**
 * Converts an output for the model. It may come from a stored conversation, so its form is checked.
 * @param declared the tool has an output schema
 * @param tagged files have the form of version 7
 */
export function modelOutput(output: unknown, declared: boolean, tagged: boolean): AiSdkOutput {
  if (!isResult(output))
    return typeof output === 'string'
      ? { type: 'text', value: output.toWellFormed() }
      : json(output);
  if (output.success && output.content === true) markContent(output.output as JsonValue);
  const { text, isError, error, parts } = shownOutcome(output, false);
  if (isError)
    return {
      type: 'error-text',
      value: text,
      providerOptions: { 'host-tools': { error: { ...error } } },
    };
  if (parts === undefined) return declared ? json(output.output) : { type: 'text', value: text };
  const media = shownMedia(parts, acceptedMedia);
  if (media.every(({ kind }) => kind === 'text')) return { type: 'text', value: text };
  return { type: 'content', value: media.map((part) => shownPart(part, tagged)) };
}

function json(value: unknown): AiSdkOutput {
  return { type: 'json', value: wellFormedJson((value ?? null) as AiSdkJson) };
}

function isResult(value: unknown): value is AiSdkResult {
  if (!isJsonObject(value)) return false;
  const { success, error } = value;
  return (
    success === true ||
    (success === false &&
      isJsonObject(error) &&
      typeof error.message === 'string' &&
      typeof error.code === 'string')
  );
}

/** The files that the SDK's providers read. They drop other files with a warning. */
const acceptedMedia = [...commonImages, 'application/pdf'];

function shownPart(part: ShownMedia | ShownText, tagged: boolean): AiSdkPart {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { data, mimeType: mediaType } = part;
  if (tagged)
    return { type: 'file', data: { type: 'data', data }, mediaType } as unknown as AiSdkPart;
  return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType };
}
