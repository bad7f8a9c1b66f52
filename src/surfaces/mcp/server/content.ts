/** The outcome of a call as MCP content. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { sanitizeText } from '../../../core/serialize.ts';
import type { JsonObject, LogLevel, ToolError, ToolResult, ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { markContent, ownPart, ownText, withText } from '../../../values/content.ts';
import { contentParts } from '../../../values/content-parts.ts';
import { isJsonObject, wellFormedJson } from '../../../values/json/index.ts';
import { type ShownAlongside, type ShownPart, shownOutcome } from '../../shared/outcome.ts';
import { errorText } from '../sent.ts';

type Block = CallToolResult['content'][number];

/** The key of a failure's code in the `_meta` of a result. */
export const errorMetaKey = 'host-tools/error';

/** The reason of a failure that an MCP server has reported itself. */
const serversError = 'mcp_tool_error';

/**
 * The result of a tool call: text, or content parts if the output consists of them or a server sent
 * some. The code of a failure is in `_meta`, unless a server has reported it itself.
 */
export function toCallToolResult(
  session: ToolSession,
  result: ToolResult,
  note?: string,
): CallToolResult {
  // A result that an application has kept may have no metadata.
  const toolName: string | undefined = result.metadata?.toolName;
  const tool =
    result.success && toolName !== undefined
      ? (session.tool(toolName) ??
        inspectSession(session).appTools.find(({ name }) => name === toolName))
      : undefined;
  const declared = (tool?.outputSchema as JsonObject | undefined) ?? false;
  // A client gets what a server sent as it is. A host's own texts lose control characters.
  const clean = result.success && tool?.source.startsWith('mcp:') !== true;
  const { text, isError, error, structured, parts, alongside } = shownOutcome(result, declared);
  const reported = result.success ? undefined : reportedWith(result.error, text);
  const sent = reported ?? alongside ?? {};
  const shown = parts ?? sent.parts;
  const content: Block[] =
    shown === undefined ? [named(text)] : shown.map((part) => toBlock(part, clean));
  if (note !== undefined) content.push({ type: 'text', text: note });
  const data = structured ?? sent.structured;
  const meta =
    error === undefined || reported !== undefined ? sent.meta : { [errorMetaKey]: error };
  return {
    content,
    ...(data === undefined ? {} : { structuredContent: data }),
    ...(isError ? { isError } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/**
 * What a server sent with an error of its own; undefined for any other error. Of an error whose
 * text a gate has changed, the new text alone is left.
 */
function reportedWith(
  { reason, message, details }: ToolError,
  shown: string,
): ShownAlongside | undefined {
  if (reason !== serversError) return undefined;
  const { content, structuredContent, _meta } = isJsonObject(details) ? details : {};
  const plain = [{ type: 'text', text: shown.replace(/^Error: /, '') }] as const;
  const list = Array.isArray(content) ? content : plain;
  const parts = contentParts(markContent(list));
  if (parts === undefined || errorText(list) !== message) return { parts: plain };
  return wellFormedJson({
    parts,
    ...(isJsonObject(structuredContent) ? { structured: structuredContent } : {}),
    ...(isJsonObject(_meta) ? { meta: _meta } : {}),
  });
}

/**
 * A part as it is. One that the protocol would refuse, such as data that is not Base64, becomes a
 * text that names it, so that one bad part does not cost the others.
 */
function toBlock(given: ShownPart, clean: boolean): Block {
  const text = ownText(given);
  const part = ownPart(
    clean && text !== undefined ? withText(given, sanitizeText(text)) : given,
  ) as ShownPart;
  switch (part.type) {
    case 'text':
      return part;
    case 'image':
    case 'audio':
      return isBase64(part.data) ? part : named(`[${part.type}: ${part.mimeType}]`);
    case 'resource_link':
      return { ...part, name: part.name ?? part.uri };
    case 'resource': {
      const { resource, ...rest } = part;
      const { blob, ...about } = resource;
      if (text === undefined && blob !== undefined && isBase64(blob)) return part as Block;
      if (text !== undefined)
        return (blob === undefined ? part : { ...rest, resource: about }) as Block;
      return { ...rest, name: about.uri, ...about, type: 'resource_link' };
    }
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

// Passes what running calls report to the requests that they came with. There is one subscription
// for each session, and none while no call is followed.

/** What a request receives from its call. */
export interface CallFollower {
  /** Progress of the call itself, not of its child calls. */
  progress?(done: number, total: number | undefined, message: string | undefined): void;
  /** Log messages of the call and of its child calls. */
  log?(level: LogLevel, data: unknown, toolName: string): void;
}

interface Hub {
  readonly followers: Map<string, CallFollower>;
  stop: (() => void) | undefined;
}

const hubs = new WeakMap<ToolSession, Hub>();
const levels: ReadonlySet<unknown> = new Set<LogLevel>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
]);

/** Follows one call until the returned function is called. */
export function followCall(
  session: ToolSession,
  callId: string,
  follower: CallFollower,
): () => void {
  const hub = hubs.get(session) ?? { followers: new Map<string, CallFollower>(), stop: undefined };
  hubs.set(session, hub);
  hub.followers.set(callId, follower);
  hub.stop ??= subscribe(session, hub.followers);
  return () => {
    if (hub.followers.get(callId) === follower) hub.followers.delete(callId);
    if (hub.followers.size > 0) return;
    hub.stop?.();
    hub.stop = undefined;
  };
}

function subscribe(session: ToolSession, followers: ReadonlyMap<string, CallFollower>): () => void {
  const stops = [
    session.events.on('tool:progress', ({ callId, done, total, message }) =>
      followers.get(callId)?.progress?.(done, total, message),
    ),
    session.events.on('tool:event', ({ callId, toolName, name, data }) => {
      if (name !== 'log' || typeof data !== 'object' || data === null) return;
      const { level, data: said } = data as { level?: unknown; data?: unknown };
      if (levels.has(level))
        followerOf(followers, callId)?.log?.(level as LogLevel, said ?? null, toolName);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The follower of a call or of its nearest followed parent. Ids of child calls are `parent/1`. */
function followerOf(
  followers: ReadonlyMap<string, CallFollower>,
  callId: string,
): CallFollower | undefined {
  for (let id = callId; ; id = id.slice(0, id.lastIndexOf('/'))) {
    const follower = followers.get(id);
    if (follower !== undefined || !id.includes('/')) return follower;
  }
}
