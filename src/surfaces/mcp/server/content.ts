/** The outcome of a call as MCP content. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { sanitizeText } from '../../../serialize.ts';
import type { ShownOutcome, ShownPart } from '../../shared/outcome.ts';

type Block = CallToolResult['content'][number];

/** The key of a failure's code in the `_meta` of a result. */
export const errorMetaKey = 'host-tools/error';

/**
 * The result of a tool call: text, or content parts if the output consists of them. The code of a
 * failure is in `_meta`.
 */
export function toCallToolResult(
  { text, isError, error, structured, parts }: ShownOutcome,
  note?: string,
): CallToolResult {
  const content: Block[] = parts === undefined ? [{ type: 'text', text }] : parts.map(toBlock);
  if (note !== undefined) content.push({ type: 'text', text: note });
  return {
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isError ? { isError } : {}),
    ...(error === undefined ? {} : { _meta: { [errorMetaKey]: error } }),
  };
}

/**
 * A part that the protocol would refuse, such as data that is not Base64, becomes a text that names
 * it, so that one bad part does not cost the others.
 */
function toBlock(part: ShownPart): Block {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: sanitizeText(part.text) };
    case 'image':
    case 'audio':
      return isBase64(part.data)
        ? { type: part.type, data: part.data, mimeType: part.mimeType }
        : named(`[${part.type}: ${part.mimeType}]`);
    case 'resource': {
      const { uri, mimeType, text, blob } = part.resource;
      const about = { uri, ...(mimeType === undefined ? {} : { mimeType }) };
      if (text !== undefined)
        return { type: 'resource', resource: { ...about, text: sanitizeText(text) } };
      if (blob !== undefined && isBase64(blob))
        return { type: 'resource', resource: { ...about, blob } };
      return { type: 'resource_link', name: uri, ...about };
    }
    case 'resource_link':
      return {
        type: 'resource_link',
        uri: part.uri,
        name: part.name ?? part.uri,
        ...(part.mimeType === undefined ? {} : { mimeType: part.mimeType }),
      };
  }
}

function named(text: string): Block {
  return { type: 'text', text };
}

/** Decides as the protocol's package does, which accepts missing padding. */
function isBase64(text: string): boolean {
  try {
    atob(text);
    return true;
  } catch {
    return false;
  }
}
