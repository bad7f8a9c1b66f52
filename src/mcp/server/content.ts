/** A call's outcome as MCP content. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { sanitizeText } from '../../serialize.ts';
import type { ShownOutcome, ShownPart } from '../../surfaces/shared/outcome.ts';

type Block = CallToolResult['content'][number];

/** Where a failure's code stands in a result. */
export const errorMetaKey = 'host-tools/error';

/**
 * The result of a tool call: text always, or the content parts where the output was made of such;
 * the code of a failure in `_meta`.
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
 * What the protocol would refuse, such as data that is no base64, is named in text: one bad part
 * must not cost the others.
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

/** By the protocol's own reading, which forgives missing padding. */
function isBase64(text: string): boolean {
  try {
    atob(text);
    return true;
  } catch {
    return false;
  }
}
