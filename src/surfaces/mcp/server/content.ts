/** The outcome of a call as MCP content. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { sanitizeText } from '../../../core/serialize.ts';
import type { JsonObject, LogLevel, ToolSession } from '../../../core.ts';
import { notesOf } from '../../../values/content.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { ShownOutcome, ShownPart } from '../../shared/outcome.ts';

type Block = CallToolResult['content'][number];

/** The key of a failure's code in the `_meta` of a result. */
export const errorMetaKey = 'host-tools/error';

/** The reason of a failure whose text is an MCP server's own. `isError` says that it is one. */
const serversError = 'mcp_tool_error';

/**
 * The result of a tool call: text, or content parts if the output consists of them or a server sent
 * some in addition. The code of a failure is in `_meta`.
 */
export function toCallToolResult(
  { text, isError, error, structured, parts, alongside = {} }: ShownOutcome,
  note?: string,
): CallToolResult {
  const shown = parts ?? alongside.parts;
  const own = error?.reason === serversError ? text.replace(/^Error: /, '') : text;
  const content: Block[] = shown === undefined ? [named(own)] : shown.map(toBlock);
  if (note !== undefined) content.push({ type: 'text', text: note });
  const data = structured ?? alongside.structured;
  const meta = error === undefined ? alongside.meta : { [errorMetaKey]: error };
  return {
    content,
    ...(data === undefined ? {} : { structuredContent: data }),
    ...(isError ? { isError } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/**
 * A part that the protocol would refuse, such as data that is not Base64, becomes a text that names
 * it, so that one bad part does not cost the others.
 */
function toBlock(part: ShownPart): Block {
  const { resource: inner, ...notes } = notesOf(part) ?? {};
  const block = plainBlock(part, isJsonObject(inner) ? inner : {});
  // The members of the protocol that it has were checked when the part was made.
  return { ...block, ...(notes as object) };
}

/** @param inner what a resource says besides its content */
function plainBlock(part: ShownPart, inner: JsonObject): Block {
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
      const about = { uri, ...(mimeType === undefined ? {} : { mimeType }), ...inner };
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
