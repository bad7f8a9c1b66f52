/** What the SDK's model is shown of a result. */

import { contentParts, markContent } from '../../content.ts';
import type { JsonValue, ToolResult } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { commonImages, type ShownMedia, type ShownText, shownMedia } from '../shared/media.ts';
import { shownOutcome } from '../shared/outcome.ts';
import type { AiSdkJson, AiSdkOutput, AiSdkPart, AiSdkResult } from './tool.ts';

/** Marks a result whose output was made of content parts. */
export function markedResult(result: ToolResult): AiSdkResult {
  return result.success && contentParts(result.output) !== undefined
    ? { ...result, content: true }
    : result;
}

/**
 * Shows an output. It may come out of a stored conversation, so that nothing of its shape is taken
 * for granted. `declared`: the tool has an output schema. `tagged`: files as version 7 has them.
 */
export function modelOutput(output: unknown, declared: boolean, tagged: boolean): AiSdkOutput {
  if (!isResult(output))
    return typeof output === 'string' ? { type: 'text', value: output } : json(output);
  if (output.success && output.content === true) markContent(output.output as JsonValue);
  const { text, isError, error, parts } = shownOutcome(output, declared);
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
  return { type: 'json', value: (value ?? null) as AiSdkJson };
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

/** What the SDK's providers read in a tool's answer; they drop other files with a warning. */
const acceptedMedia = [...commonImages, 'application/pdf'];

function shownPart(part: ShownMedia | ShownText, tagged: boolean): AiSdkPart {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { data, mimeType: mediaType } = part;
  if (tagged)
    return { type: 'file', data: { type: 'data', data }, mediaType } as unknown as AiSdkPart;
  return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType };
}
