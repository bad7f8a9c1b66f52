/**
 * The governed sessions of this node. Each relay session that an agent uses here has one, and all
 * share one registry of the host's tools.
 */
import type { HostTool, HostToolRegistry, SessionOptions, ToolSession } from '../../../core.ts';
import { inspectRegistry } from '../../../extend.ts';
import { nextTurn } from '../../../values/limits/stretches.ts';
import { nameSkeleton } from '../../../values/text/names.ts';
import type { Hub } from '../hub.ts';
import type { RelaySessionOptions } from '../options.ts';
import type { SessionDocument, ToolsDocument } from '../ports/documents.ts';
import { leaving, sessionNotFound } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import { createRelayedTools } from '../tools/relayed-tools.ts';
import { readTools } from '../tools/tools-document.ts';
import { announceProgress } from './apply-and-wake.ts';
import { announceApprovals } from './approval-log.ts';
import type { Calls } from './calls.ts';
import {
  type LiveEntry,
  type LiveSession,
  type LiveSessionParts,
  type LiveState,
  newEntry,
} from './live-session.ts';
import { closeIdle, closeLive, makeRoom } from './live-session-close.ts';
import { governedSessionOptions, sessionRegistry } from './session-document.ts';

/** The live sessions of a node. */
export interface LiveSessions {
  /** The registry of the host's tools, rules and profiles. */
  readonly registry: HostToolRegistry;
  readonly count: number;
  /**
   * Gets the session of a document, with the tools that the document names. The session is opened
   * on first use. Rejects with a relay error when the session or the node has ended.
   */
  get(document: SessionDocument): Promise<LiveSession>;
  /**
   * Describes the tools that a session shows, and its application's registration. A session that is
   * not open on this node is not kept open.
   */
  describe(document: SessionDocument): Promise<DescribedSession>;
  /** Changes whenever the host changes something that may change the tools that sessions show. */
  readonly epoch: number;
  /**
   * Changes whenever the listed tools of a session change, for example when its agent finds a tool.
   * Undefined for a session that is not open on this node.
   */
  listed(code: string): string | undefined;
  /** Finds the host's tool that has this name or one that is too similar. */
  taken(name: string): string | undefined;
  /** Closes a relay session that has ended. */
  close(code: string): Promise<void>;
  /** Closes all sessions when the node ends, and the registry if the relay made it. */
  closeAll(): Promise<void>;
}

/** The names of the tools that sessions bring, and what means something else in programs. */
function broughtNames({ discovery, code = false }: RelaySessionOptions): readonly string[] {
  const { name = 'run_code' } = typeof code === 'object' ? code : {};
  return [
    ...(discovery === undefined ? [] : ['find_tools']),
    ...(code === false ? [] : [name, 'sleep', 'find', 'then', 'toJSON']),
  ];
}

const sweepMs = 60_000;
/**
 * The most characters of the definitions of all live sessions. The objects that are built from them
 * take ten times as much memory. Above this limit, unused sessions close sooner, longest unused
 * first.
 */
const maxLiveChars = 64 * 1_024 * 1_024;

/**
 * Makes the live sessions of a node.
 * @throws MisuseError if no session can be made with the options
 */
export function createLiveSessions(
  options: RelaySessionOptions,
  settings: RelaySettings,
  hub: Hub,
  calls: Calls,
  maxChars = maxLiveChars,
): LiveSessions {
  const registry = sessionRegistry(options, settings);
  const view = inspectRegistry(registry);
  const brought = broughtNames(options);
  // The options are checked here, so that a mistake shows before an agent's first call.
  view.checkSession(governedSessionOptions(options, 'session') as SessionOptions<never>);
  const state: LiveState = { entries: new Map(), alive: new Map(), sweeping: false, ended: false };
  const parts: LiveSessionParts = { options, settings, hub, calls, registry, maxChars, state };
  const sweep = setInterval(() => closeIdle(parts), sweepMs);
  // The timer must not keep the process alive.
  sweep.unref?.();

  return {
    registry,
    get count() {
      return state.entries.size;
    },
    get: (document) => getLive(parts, document),
    describe: (document) => describeLive(parts, document),
    get epoch() {
      return view.epoch;
    },
    listed: (code) => state.alive.get(code)?.session.effectiveTools().hash,
    taken: (name) =>
      view.taken(name) ?? brought.find((own) => nameSkeleton(own) === nameSkeleton(name)),
    close: (code) => closeLive(parts, code, sessionNotFound()),
    async closeAll() {
      clearInterval(sweep);
      state.ended = true;
      await Promise.all([...state.entries.keys()].map((code) => closeLive(parts, code, leaving())));
      if (options.registry === undefined) await registry.close();
    },
  };
}

// Describes the tools that a session shows, without keeping the session open on this node.

/** If a session has more tools than this, other requests get a turn between the steps. */
const manyTools = 50;

/** The tools that a session shows. */
interface DescribedSession {
  /** The effective tools, in their order. */
  readonly tools: readonly HostTool[];
  /** Changes when the listed tools change, like `LiveSessions.listed`. */
  readonly listing: string;
  /** The registration of the application. */
  readonly registered: ToolsDocument | undefined;
}

/**
 * Describes a session. If the session is not open on this node, one is opened and closed again,
 * because only a session knows which tools its profile and rules allow. If it stayed open, it would
 * take a hundred kilobytes for ten minutes.
 */
async function describeLive(
  parts: LiveSessionParts,
  document: SessionDocument,
): Promise<DescribedSession> {
  const { options, settings, registry, state } = parts;
  const { code } = document;
  if (state.ended) throw leaving();
  if (state.entries.has(code)) {
    const entry = await getLive(parts, document);
    const release = entry.retain();
    try {
      const found = await readTools(settings.store, code);
      return await shownBy(entry.session, found?.document);
    } finally {
      release();
    }
  }
  const found = await readTools(settings.store, code);
  const session = registry.createSession(governedSessionOptions(options, code));
  try {
    const relayed = createRelayedTools({
      code,
      session,
      requestTimeoutMs: settings.requestTimeoutMs,
      logger: settings.logger,
      run: () => Promise.reject(new Error('A description runs no calls.')),
    });
    if (found !== undefined) await relayed.show(found.document);
    return await shownBy(session, found?.document);
  } finally {
    await session.close();
  }
}

/** Reads the tools of a session. If there are many, other requests get a turn between the steps. */
async function shownBy(
  session: ToolSession,
  registered: ToolsDocument | undefined,
): Promise<DescribedSession> {
  if ((registered?.definitions.length ?? 0) > manyTools) {
    await nextTurn();
    // This step finds out which tools are shown, which is half of the work.
    session.effectiveTools();
    await nextTurn();
  }
  return { tools: session.tools(), listing: session.effectiveTools().hash, registered };
}

// Opens live sessions, and keeps their tools up to date with the documents in the store.

/**
 * Gets the session of a document and opens it if necessary. Its tools are at least as new as the
 * document requires.
 */
async function getLive(parts: LiveSessionParts, document: SessionDocument): Promise<LiveSession> {
  const { entries } = parts.state;
  const { code, toolsRevision } = document;
  for (;;) {
    if (parts.state.ended) throw leaving();
    const opening = entries.get(code) ?? beginOpening(parts, document);
    const entry = await opening;
    // The session must not be closed to free memory while its tools are read.
    const release = entry.retain();
    try {
      if (entry.revision < toolsRevision) await follow(parts, entry, toolsRevision);
    } finally {
      release();
    }
    if (entries.get(code) === opening) return entry;
    if (entry.over !== undefined) throw entry.over;
  }
}

function beginOpening(parts: LiveSessionParts, document: SessionDocument): Promise<LiveEntry> {
  const { entries } = parts.state;
  const { code } = document;
  const opening = open(parts, document);
  entries.set(code, opening);
  opening.catch(() => {
    if (entries.get(code) === opening) entries.delete(code);
  });
  return opening;
}

async function open(parts: LiveSessionParts, document: SessionDocument): Promise<LiveEntry> {
  const { options, settings, hub, calls, registry } = parts;
  const { code } = document;
  const session = registry.createSession(governedSessionOptions(options, code));
  const tools = createRelayedTools({
    code,
    session,
    requestTimeoutMs: settings.requestTimeoutMs,
    logger: settings.logger,
    run: (input, context, idempotent) => calls.run(code, input, context, idempotent),
  });
  const entry = newEntry(document, session, tools);
  announceApprovals(session, code, settings);
  announceProgress(session, code, hub);
  try {
    entry.stop = await hub.watch(code, (wake) => {
      // A client that only listens, such as an MCP client, must get the change too.
      if (wake === 'tools' || wake === undefined)
        follow(parts, entry, Number.POSITIVE_INFINITY).catch(() => {});
      if (wake === 'closed') void closeLive(parts, code, sessionNotFound());
    });
  } catch (error) {
    await session.close();
    throw error;
  }
  parts.state.alive.set(code, entry);
  return entry;
}

/** Updates the tools to a revision, once earlier updates have finished. */
function follow(parts: LiveSessionParts, entry: LiveEntry, wanted: number): Promise<void> {
  entry.syncing = entry.syncing.catch(() => {}).then(() => sync(parts, entry, wanted));
  return entry.syncing;
}

async function sync(parts: LiveSessionParts, entry: LiveEntry, wanted: number): Promise<void> {
  if (entry.revision >= wanted) return;
  const found = await readTools(parts.settings.store, entry.code);
  if (found === undefined || found.document.revision <= entry.revision) return;
  const { document } = found;
  await entry.tools.show(document);
  entry.revision = document.revision;
  entry.chars = entry.tools.chars;
  makeRoom(parts).catch(() => {});
}
