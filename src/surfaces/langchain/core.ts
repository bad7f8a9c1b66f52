/**
 * Loads the optional package with LangChain's classes on first use. It loads synchronously, because
 * tools are listed synchronously.
 */

import type { ToolMessage } from '@langchain/core/messages';
import type { ToolResult } from '../../core.ts';
import { wellFormedJson } from '../../values/json/index.ts';
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';
import { commonImages, type ShownOutcome, shownMedia, shownOutcome } from '../shared/outcome.ts';

/** The parts of `@langchain/core` that are used. */
export interface LangChainCore {
  readonly DynamicStructuredTool: typeof import('@langchain/core/tools').DynamicStructuredTool;
  readonly ToolMessage: typeof import('@langchain/core/messages').ToolMessage;
}

/**
 * Loads the package.
 * @throws MisuseError `missing_dependency` if it is not installed.
 * @param load Loads a module of the package.
 */
export function loadCore(load: (specifier: string) => unknown = requirePackage): LangChainCore {
  try {
    const { DynamicStructuredTool } = load('@langchain/core/tools') as LangChainCore;
    const { ToolMessage } = load('@langchain/core/messages') as LangChainCore;
    return { DynamicStructuredTool, ToolMessage };
  } catch (error) {
    throw packageFault('@langchain/core', 'has the classes of tools and messages', error);
  }
}

// Converts a result to a LangChain message.

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
