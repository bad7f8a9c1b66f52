/** Converts a result to a LangChain message. */
import type { ToolMessage } from '@langchain/core/messages';
import type { ToolResult } from '../../core.ts';
import { wellFormedJson } from '../../values/json/index.ts';
import { commonImages, shownMedia } from '../shared/media.ts';
import { type ShownOutcome, shownOutcome } from '../shared/outcome.ts';
import type { LangChainCore } from './core.ts';

/** What the model sees: a text, or blocks if the output has images or documents. */
export type ShownContent = string | LangChainBlock[];

/** A content block that LangChain's model packages convert for their providers. */
type LangChainBlock =
  | { type: 'text'; text: string }
  | { type: 'image' | 'file'; source_type: 'base64'; mime_type: string; data: string };

const acceptedMedia = [...commonImages, 'application/pdf'];

/** The content of a result. */
export function contentOf({ text, parts }: ShownOutcome): ShownContent {
  const media = parts === undefined ? [] : shownMedia(parts, acceptedMedia);
  if (media.every(({ kind }) => kind === 'text')) return text;
  return media.map((one): LangChainBlock => {
    if (one.kind === 'text') return { type: 'text', text: one.text };
    return {
      type: one.mimeType.startsWith('image/') ? 'image' : 'file',
      source_type: 'base64',
      mime_type: one.mimeType,
      data: one.data,
    };
  });
}

/** The message that answers a call. Its artifact is the session's result, which no model sees. */
export function toToolMessage(
  core: LangChainCore,
  { callId, name, result }: { callId: string; name: string; result: ToolResult },
): ToolMessage {
  const outcome = shownOutcome(result, false);
  return new core.ToolMessage({
    status: outcome.isError ? 'error' : 'success',
    content: contentOf(outcome),
    artifact: wellFormedJson(result),
    tool_call_id: callId,
    name,
  });
}
