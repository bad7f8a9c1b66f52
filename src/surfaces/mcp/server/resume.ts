/**
 * MCP sessions of the 2025 era that outlive their process. A store keeps how each one began, and a
 * process that is asked for a session it does not have begins it again.
 */
import pTimeout from 'p-timeout';
import type { JsonObject } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { isMadeFor, sameActors } from './acting.ts';
import { refusedActors, type Sender } from './authorization.ts';
import type { HandlerSettings, McpSessionRecord } from './options.ts';
import { refusal, rpcCodes } from './rpc.ts';
import type { McpSession } from './session.ts';
import { isSessionId, type McpSessions } from './sessions.ts';
import type { Sourced } from './sourced.ts';

type Source = () => Promise<Sourced>;
/** Whose session it is: a person's, through these agents. */
type Owner = Pick<Sender, 'principal' | 'actors'>;
/**
 * Answers that there is no session. It makes a response for each request, because a response can be
 * read only once. A function can also be distinguished from a session if another server has
 * replaced the global `Response` class.
 */
type Refusal = () => Response;

/** Finds MCP sessions by their ids. */
export interface McpSessionFinder {
  /**
   * Makes a session known after its client's first message. Gives the answer to the client if the
   * store could not keep it.
   */
  began(mcp: McpSession, owner: Owner, initialize: unknown): Promise<Response | undefined>;
  /**
   * The session of an id, begun again if only the store knows it, or the answer to a client that
   * names no session that it may use.
   */
  find(id: string | null, owner: Owner, source: Source): Promise<McpSession | Response>;
  /** Ends a session for its client. `here` ends the session in this process. */
  end(
    id: string | null,
    owner: Owner,
    here: (mcp: McpSession) => Promise<Response>,
  ): Promise<Response>;
}

interface Finder {
  readonly sessions: McpSessions;
  readonly settings: HandlerSettings;
  /** The sessions that are being begun again, by id and owner. */
  readonly resuming: Map<string, Promise<McpSession | Refusal>>;
}

/** Milliseconds that a store may take. */
const storeMs = 10_000;
/** Most sessions that are begun again at once. */
const maxAtOnce = 1_000;
/** Most characters of a record. A session with a larger one is lost with its process. */
const maxChars = 16_384;

export function createSessionFinder(
  sessions: McpSessions,
  settings: HandlerSettings,
): McpSessionFinder {
  const finder: Finder = { sessions, settings, resuming: new Map() };
  return {
    began: (mcp, owner, initialize) => saveSession(settings, mcp, owner, initialize),
    find: (id, owner, source) => findSession(finder, id, owner, source),
    end: (id, owner, here) => endSession(finder, id, owner, here),
  };
}

async function saveSession(
  settings: HandlerSettings,
  { id }: McpSession,
  { principal, actors }: Owner,
  initialize: unknown,
): Promise<Response | undefined> {
  const { sessionStore } = settings;
  const { params } = initialize as { readonly params: JsonObject };
  const record: McpSessionRecord = {
    ...(principal === undefined ? {} : { principal }),
    ...(actors === undefined ? {} : { actors }),
    initialize: params,
  };
  if (sessionStore === undefined || JSON.stringify(record).length > maxChars) return undefined;
  return (await ask(settings, async () => sessionStore.save(id, record))).refused?.();
}

async function findSession(
  finder: Finder,
  id: string | null,
  owner: Owner,
  source: Source,
): Promise<McpSession | Response> {
  const { sessions, settings, resuming } = finder;
  if (id === null) return unnamed();
  const { principal, actors } = owner;
  // The owner is part of the key: a stranger who asks for the id meanwhile gets 404.
  const key = JSON.stringify([id, principal, actors]);
  // Looked up first: a session that is being begun again is in the table before it is ready.
  let work = resuming.get(key);
  if (work === undefined) {
    const found = sessions.find(id, principal);
    // It would act as others do.
    if (found !== undefined)
      return isMadeFor(found.sourced.session, actors) ? found : refusedActors();
    if (settings.sessionStore === undefined || !isSessionId(id)) return unknown();
    if (resuming.size >= maxAtOnce) return tooMany();
    work = resume(finder, id, owner, source).finally(() => resuming.delete(key));
    resuming.set(key, work);
  }
  const given = await work;
  return typeof given === 'function' ? given() : given;
}

async function endSession(
  { sessions, settings }: Finder,
  id: string | null,
  owner: Owner,
  here: (mcp: McpSession) => Promise<Response>,
): Promise<Response> {
  const { sessionStore } = settings;
  if (id === null) return unnamed();
  const mcp = sessions.find(id, owner.principal);
  if (mcp !== undefined && !isMadeFor(mcp.sourced.session, owner.actors)) return refusedActors();
  if (sessionStore === undefined || !isSessionId(id))
    return mcp === undefined ? unknown() : here(mcp);
  if (mcp === undefined) {
    const record = await load(settings, id, owner);
    if (typeof record === 'function') return record();
  }
  // Removed before it ends here, or a request that comes in between would begin it again.
  const { refused } = await ask(settings, async () => sessionStore.remove(id));
  if (refused !== undefined) return refused();
  return mcp === undefined ? new Response(null, { status: 200 }) : here(mcp);
}

async function resume(
  { sessions, settings }: Finder,
  id: string,
  owner: Owner,
  source: Source,
): Promise<McpSession | Refusal> {
  const { report } = settings;
  const record = await load(settings, id, owner);
  if (typeof record === 'function') return record;
  const mcp = await sessions.open(source, owner.principal, id);
  if (mcp === undefined) return tooMany;
  let known: McpSessionRecord | Refusal;
  try {
    await replay(mcp, record.initialize);
    // Its client may have ended it meanwhile.
    known = await load(settings, id, owner);
  } catch (error) {
    report(error);
    known = unknown;
  }
  if (typeof known !== 'function') return mcp;
  await mcp.close().catch(report);
  return known;
}

/** The record of a session, if it belongs to the owner. */
async function load(
  settings: HandlerSettings,
  id: string,
  { principal, actors }: Owner,
): Promise<McpSessionRecord | Refusal> {
  const { given, refused } = await ask(settings, async () => settings.sessionStore?.load(id));
  if (refused !== undefined) return refused;
  if (!isJsonObject(given) || (given?.principal ?? undefined) !== principal) return unknown;
  const record = given as McpSessionRecord;
  return sameActors(record.actors, actors) ? record : refusedActors;
}

/** Asks the store. Gives `refused` if the store fails or does not answer in time. */
async function ask<T>(
  { report, logFault }: HandlerSettings,
  run: () => Promise<T> | undefined,
): Promise<{ readonly given?: T | undefined; readonly refused?: Refusal }> {
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
        refusal(503, rpcCodes.server, 'The session store cannot be reached. Try again.', {
          'Retry-After': '1',
        }),
    };
  }
}

/** Answers a client that there is no room for. */
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
    'Bad Request: the header Mcp-Session-Id is missing. Send `initialize` first.',
  );
}

/** Repeats to a fresh server what the client sent to the first one. */
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
      throw new Error(`An MCP session could not be begun again: HTTP status ${response.status}.`);
  };
  if (!isJsonObject(params))
    throw new Error('An MCP session could not be begun again: its record has no `initialize`.');
  await say({ jsonrpc: '2.0', id: 'begun-again', method: 'initialize', params });
  await say({ jsonrpc: '2.0', method: 'notifications/initialized' });
}
