/**
 * A session's tools over MCP. Each live session has one handler, made at its first use and closed
 * with the session.
 */

import { isMisuseError, type JsonValue } from '../../../core.ts';
import { rawHeadersOf } from '../../../values/http/direct-body.ts';
import { repeatedParam } from '../../../values/http/node-request.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { createMcpHandler, McpAuthorization, McpHandler, McpToken } from '../../mcp/index.ts';
import type { Sender } from '../../mcp/server/authorization.ts';
import type { LiveSession } from '../calls/live-session.ts';
import type { RelayAccess } from '../read-options.ts';
import { relayError } from '../relay-error.ts';
import { checkText, readText } from './bodies.ts';
import { mcpSessionStore } from './mcp-sessions.ts';
import type { NodeParts, SessionHandlers } from './node-parts.ts';

/** Makes the handler of the route. */
export function mcpRoute({
  live,
  limits,
  report,
  origins: { authorization },
  settings: { store },
}: NodeParts): Pick<SessionHandlers, 'mcp'> {
  const own = new WeakMap<LiveSession, McpHandler>();
  const others = new WeakMap<LiveSession, McpHandler>();
  /** Who sends a request that has been admitted with an access token. */
  const senders = new WeakMap<Request, Sender>();
  const handlerOf = (
    session: LiveSession,
    create: typeof createMcpHandler,
    sender: Sender | undefined,
  ): McpHandler => {
    const handlers = sender === undefined ? own : others;
    const before = handlers.get(session);
    if (before !== undefined) return before;
    const made = create(session.session, {
      maxSessions: 20,
      // An agent must not approve what it asks for itself.
      approvals: 'host',
      sessionStore: mcpSessionStore(store, session.code),
      authorization: sender && authorization && known(authorization, senders),
      onError: (error) => report('mcp', error),
    });
    handlers.set(session, made);
    session.onClose(() => made.close());
    return made;
  };
  return {
    async mcp({ request, bounds, document, sender }) {
      const twice = repeatedParam({ rawHeaders: rawHeadersOf(request) });
      if (twice !== undefined)
        throw relayError(400, 'invalid_request', `The header ${twice} is sent twice.`);
      const text = request.method === 'POST' ? await readText(request, bounds.maxBytes) : undefined;
      if (text !== undefined) checkText(text, bounds);
      const { messages, calls } = countOf(text);
      if (request.method === 'GET') await limits.takeBySide('stream', document.code, 'agent');
      else for (let left = messages; left > 0; left--) await limits.take('mcp', document.code);
      for (let left = calls; left > 0; left--) await limits.take('request', document.code);
      // A relay without MCP clients does not load it.
      const mcp = await import('../../mcp/server/handler.ts');
      const session = await live.get(document);
      const release = session.retain();
      try {
        const handler = handlerOf(session, mcp.createMcpHandler, sender);
        const asked = inside(request, text, sender !== undefined);
        if (sender !== undefined) senders.set(asked, sender);
        return whenDone(await handler.fetch(asked), release);
      } catch (error) {
        release();
        if (isMisuseError(error) && error.code === 'missing_dependency')
          throw relayError(501, 'missing_dependency', noMcp, { cause: error });
        throw error;
      }
    },
  };
}

/** Requests whose tokens were verified when they were admitted. */
function known(
  { resource, servers, scopes }: RelayAccess,
  senders: WeakMap<Request, Sender>,
): McpAuthorization {
  return {
    resource,
    authorizationServers: servers,
    scopes: scopes.map((name) => ({ name })),
    verify: (_token, request) => senders.get(request) as McpToken | undefined,
  };
}

/** The import error contains paths on the server, so only the log gets it. */
const noMcp =
  'The package `@modelcontextprotocol/server` cannot be loaded on the server; run `npm ' +
  'install @modelcontextprotocol/server` there.';

/** Makes the request for the MCP handler. The relay has checked host, origin and token. */
function inside(request: Request, text: string | undefined, keepsToken: boolean): Request {
  const headers = new Headers(request.headers);
  for (const name of ['host', 'origin', 'content-length']) headers.delete(name);
  if (!keepsToken) headers.delete('authorization');
  return new Request('http://localhost/mcp', {
    method: request.method,
    headers,
    signal: request.signal,
    ...(text === undefined ? {} : { body: text }),
  });
}

/**
 * Counts the messages in a body, and how many of them call a tool. A body that is not JSON counts
 * as one message, because the MCP handler answers it; so does a request without a body.
 */
function countOf(text: string | undefined): { readonly messages: number; readonly calls: number } {
  // A single message without the word `tools` calls no tool and need not be parsed. Letters may be
  // written as escapes.
  if (text === undefined || (!/^\s*\[/.test(text) && !/tools|\\u/.test(text)))
    return { messages: 1, calls: 0 };
  try {
    const body = JSON.parse(text) as JsonValue;
    const all = Array.isArray(body) ? body : [body];
    return {
      messages: Math.max(1, all.length),
      calls: all.filter((one) => isJsonObject(one) && one.method === 'tools/call').length,
    };
  } catch {
    return { messages: 1, calls: 0 };
  }
}

/** Returns the same response. Calls `run` once, when its body has ended or is no longer read. */
function whenDone(response: Response, run: () => void): Response {
  if (response.body === null) {
    run();
    return response;
  }
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      run();
    },
    cancel(reason) {
      run();
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
