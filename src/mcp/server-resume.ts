/** MCP sessions of the 2025 era that outlive their process: how each began is written down, and whoever is asked for one that it does not have begins it again. */
import type { JsonObject } from '../index.ts';
import { isJsonObject } from '../internal.ts';
import { refusal } from './server-door.ts';
import type { HandlerSettings, McpSessionRecord } from './server-options.ts';
import { rpcCodes } from './server-rpc.ts';
import type { McpSession, McpSessions, Sourced } from './server-sessions.ts';

/** Finds MCP sessions by their ids. */
export interface McpSessionFinder {
  /** Of a client's first message: the session is known from now on. The answer where it could not be written down. */
  began(mcp: McpSession, initialize: unknown): Promise<Response | undefined>;
  /** The session of an id, begun again where only the store knows it, or the answer to a client that names none. */
  find(id: string | null, principal: string | undefined, source: () => Promise<Sourced>): Promise<McpSession | Response>;
  /** The client has ended it. The answer where that could not be written down. */
  ended(id: string): Promise<Response | undefined>;
}

/** Characters of an id that the store is asked for. Ours have 32. */
const mostIdChars = 200;

export function createSessionFinder(sessions: McpSessions, { sessionStore, report }: HandlerSettings): McpSessionFinder {
  const resuming = new Map<string, Promise<McpSession | Response>>();
  /** Undefined once it is done. */
  const asked = async (work: Promise<unknown> | undefined): Promise<Response | undefined> => {
    try {
      await work;
      return undefined;
    } catch (error) {
      report(error);
      return refusal(503, rpcCodes.server, 'The store of sessions cannot be reached. Try again.', { 'Retry-After': '1' });
    }
  };
  const unknown = (): Response => refusal(404, rpcCodes.sessionNotFound, 'Session not found.');

  const resume = async (id: string, principal: string | undefined, source: () => Promise<Sourced>): Promise<McpSession | Response> => {
    let record: McpSessionRecord | undefined;
    const failed = await asked(sessionStore?.load(id).then((found) => (record = found)));
    if (failed !== undefined) return failed;
    if (record === undefined || record.principal !== principal) return unknown();
    const mcp = await sessions.open(source, principal, id);
    if (mcp === undefined) return tooMany();
    try {
      await replay(mcp, record.initialize);
    } catch (error) {
      report(error);
      await mcp.close().catch(report);
      return unknown();
    }
    return mcp;
  };
  return {
    began({ id, principal }, initialize) {
      const { params } = initialize as { readonly params: JsonObject };
      return asked(sessionStore?.save(id, { ...(principal === undefined ? {} : { principal }), initialize: params }));
    },
    async find(id, principal, source) {
      if (id === null) return refusal(400, rpcCodes.server, 'Bad Request: the header Mcp-Session-Id is needed; send `initialize` first.');
      const found = sessions.find(id, principal);
      if (found !== undefined) return found;
      if (sessionStore === undefined || id === '' || id.length > mostIdChars) return unknown();
      // By the principal, too: a stranger who asks for it meanwhile is told what strangers are told.
      const key = JSON.stringify([id, principal]);
      let work = resuming.get(key);
      if (work === undefined) {
        work = resume(id, principal, source).finally(() => resuming.delete(key));
        resuming.set(key, work);
      }
      const given = await work;
      return given instanceof Response ? given.clone() : given;
    },
    ended: (id) => asked(sessionStore?.remove(id)),
  };
}

/** For a client that there is no room for. */
export function tooMany(): Response {
  return refusal(503, rpcCodes.server, 'Too many sessions are open.', { 'Retry-After': '30' });
}

/** Says to a fresh server what the client has said to the first one. */
async function replay(mcp: McpSession, params: JsonObject): Promise<void> {
  const say = async (message: JsonObject): Promise<void> => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': mcp.id };
    const response = await mcp.handle(new Request('http://localhost/', { method: 'POST', headers, body: JSON.stringify(message) }), message);
    await response.text();
    if (!response.ok) throw new Error(`An MCP session could not be begun again: ${response.status}.`);
  };
  if (!isJsonObject(params)) throw new Error('An MCP session could not be begun again: its record has no `initialize`.');
  await say({ jsonrpc: '2.0', id: 'begun-again', method: 'initialize', params });
  await say({ jsonrpc: '2.0', method: 'notifications/initialized' });
}
