/**
 * MCP sessions of the 2025 era that outlive their process: how each began is written down, and
 * whoever is asked for one that it does not have begins it again.
 */
import pTimeout from 'p-timeout';
import type { JsonObject } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import type { HandlerSettings, McpSessionRecord } from './options.ts';
import { refusal } from './refusal.ts';
import { rpcCodes } from './rpc.ts';
import { isSessionId, type McpSession, type McpSessions, type Sourced } from './sessions.ts';

type Source = () => Promise<Sourced>;
/**
 * Why there is none. Made for each who asks: a response is read once, and its class may be one that
 * another server has put in the place of the global one.
 */
type Refusal = () => Response;

/** Finds MCP sessions by their ids. */
export interface McpSessionFinder {
  /**
   * Of a client's first message: the session is known from now on. The answer where it could not be
   * written down.
   */
  began(mcp: McpSession, initialize: unknown): Promise<Response | undefined>;
  /**
   * The session of an id, begun again where only the store knows it, or the answer to a client that
   * names none.
   */
  find(
    id: string | null,
    principal: string | undefined,
    source: Source,
  ): Promise<McpSession | Response>;
  /** Ends one for its client. `here` ends what of it is here. */
  end(
    id: string | null,
    principal: string | undefined,
    here: (mcp: McpSession) => Promise<Response>,
  ): Promise<Response>;
}

/** Milliseconds that a store may take. */
const storeMs = 10_000;
/** Sessions that are begun again at once. */
const mostAtOnce = 1_000;
/** Characters of what a client says of itself. One that says more stays with its process. */
const mostChars = 16_384;

export function createSessionFinder(
  sessions: McpSessions,
  { sessionStore, report, logFault }: HandlerSettings,
): McpSessionFinder {
  const resuming = new Map<string, Promise<McpSession | Refusal>>();

  /** `refused` where the store did not answer. */
  const ask = async <T>(
    run: () => Promise<T> | undefined,
  ): Promise<{ readonly given?: T | undefined; readonly refused?: Refusal }> => {
    try {
      return {
        given: await pTimeout(Promise.resolve(run()), {
          milliseconds: storeMs,
          message: 'The store of MCP sessions did not answer in time.',
        }),
      };
    } catch (error) {
      logFault(error, 'sessionStore');
      report(error);
      return {
        refused: () =>
          refusal(503, rpcCodes.server, 'The store of sessions cannot be reached. Try again.', {
            'Retry-After': '1',
          }),
      };
    }
  };
  /** What the store knows of a session, if it is the principal's. */
  const load = async (
    id: string,
    principal: string | undefined,
  ): Promise<McpSessionRecord | Refusal> => {
    const { given, refused } = await ask(async () => sessionStore?.load(id));
    if (refused !== undefined) return refused;
    return isJsonObject(given as unknown as JsonObject) &&
      (given?.principal ?? undefined) === principal
      ? (given as McpSessionRecord)
      : unknown;
  };
  const resume = async (
    id: string,
    principal: string | undefined,
    source: Source,
  ): Promise<McpSession | Refusal> => {
    const record = await load(id, principal);
    if (typeof record === 'function') return record;
    const mcp = await sessions.open(source, principal, id);
    if (mcp === undefined) return tooMany;
    let there: McpSessionRecord | Refusal;
    try {
      await replay(mcp, record.initialize);
      // Its client may have ended it meanwhile.
      there = await load(id, principal);
    } catch (error) {
      report(error);
      there = unknown;
    }
    if (typeof there !== 'function') return mcp;
    await mcp.close().catch(report);
    return there;
  };
  return {
    async began({ id, principal }, initialize) {
      const { params } = initialize as { readonly params: JsonObject };
      const record: McpSessionRecord = {
        ...(principal === undefined ? {} : { principal }),
        initialize: params,
      };
      if (sessionStore === undefined || JSON.stringify(record).length > mostChars) return undefined;
      return (await ask(async () => sessionStore.save(id, record))).refused?.();
    },
    async find(id, principal, source) {
      if (id === null) return unnamed();
      // By the principal, too: a stranger who asks for it meanwhile is told what strangers are
      // told.
      const key = JSON.stringify([id, principal]);
      // One that is being begun again is not ready before that is done.
      let work = resuming.get(key);
      if (work === undefined) {
        const found = sessions.find(id, principal);
        if (found !== undefined) return found;
        if (sessionStore === undefined || !isSessionId(id)) return unknown();
        if (resuming.size >= mostAtOnce) return tooMany();
        work = resume(id, principal, source).finally(() => resuming.delete(key));
        resuming.set(key, work);
      }
      const given = await work;
      return typeof given === 'function' ? given() : given;
    },
    async end(id, principal, here) {
      if (id === null) return unnamed();
      const mcp = sessions.find(id, principal);
      if (sessionStore === undefined || !isSessionId(id))
        return mcp === undefined ? unknown() : here(mcp);
      if (mcp === undefined) {
        const record = await load(id, principal);
        if (typeof record === 'function') return record();
      }
      // Before it goes here: else a request that comes between would begin it again.
      const { refused } = await ask(async () => sessionStore.remove(id));
      if (refused !== undefined) return refused();
      return mcp === undefined ? new Response(null, { status: 200 }) : here(mcp);
    },
  };
}

/** For a client that there is no room for. */
export function tooMany(): Response {
  return refusal(503, rpcCodes.server, 'Too many sessions are open.', { 'Retry-After': '30' });
}

function unknown(): Response {
  return refusal(404, rpcCodes.sessionNotFound, 'Session not found.');
}

function unnamed(): Response {
  return refusal(
    400,
    rpcCodes.server,
    'Bad Request: the header Mcp-Session-Id is needed; send `initialize` first.',
  );
}

/** Says to a fresh server what the client has said to the first one. */
async function replay(mcp: McpSession, params: JsonObject): Promise<void> {
  const say = async (message: JsonObject): Promise<void> => {
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Session-Id': mcp.id,
    };
    const response = await mcp.handle(
      new Request('http://localhost/', { method: 'POST', headers, body: JSON.stringify(message) }),
      message,
    );
    await response.text();
    if (!response.ok)
      throw new Error(`An MCP session could not be begun again: ${response.status}.`);
  };
  if (!isJsonObject(params))
    throw new Error('An MCP session could not be begun again: its record has no `initialize`.');
  await say({ jsonrpc: '2.0', id: 'begun-again', method: 'initialize', params });
  await say({ jsonrpc: '2.0', method: 'notifications/initialized' });
}
