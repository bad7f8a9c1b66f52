/**
 * The governed sessions of this node. Each relay session that an agent uses here has one, and all
 * share one registry of the host's tools.
 */
import type { HostToolRegistry, SessionOptions } from '../../../core.ts';
import { inspectRegistry } from '../../../extend.ts';
import { nameSkeleton } from '../../../values/text/names.ts';
import type { Hub } from '../hub.ts';
import type { RelaySessionOptions } from '../options.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { leaving, sessionNotFound } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveSession } from './live-session.ts';
import { closeIdle, closeLive } from './live-session-close.ts';
import { type DescribedSession, describeLive } from './live-session-describe.ts';
import { getLive } from './live-session-open.ts';
import type { LiveSessionParts, LiveState } from './live-session-parts.ts';
import { governedSessionOptions, sessionRegistry } from './session-registry.ts';

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

/** The tool that a session with discovery has. */
const findToolsName = 'find_tools';

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
      view.taken(name) ??
      (options.discovery !== undefined && nameSkeleton(name) === nameSkeleton(findToolsName)
        ? findToolsName
        : undefined),
    close: (code) => closeLive(parts, code, sessionNotFound()),
    async closeAll() {
      clearInterval(sweep);
      state.ended = true;
      await Promise.all([...state.entries.keys()].map((code) => closeLive(parts, code, leaving())));
      if (options.registry === undefined) await registry.close();
    },
  };
}
