/** A relay session that agents use on this node. */
import type { HostToolRegistry, ToolSession } from '../../../core.ts';
import type { Hub } from '../hub.ts';
import type { RelaySessionOptions } from '../options.ts';
import type { SessionDocument } from '../ports/documents.ts';
import type { RelayError } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import type { RelayedTools } from '../tools/relayed-tools.ts';
import type { Calls } from './calls.ts';

/** A relay session that is open on this node. */
export interface LiveSession {
  readonly code: string;
  /** The governed session that every call from an agent goes through. */
  readonly session: ToolSession;
  /** Whether a tool belongs to the application. */
  isRelayed(name: string): boolean;
  /**
   * Keeps the session from being closed as idle.
   * @returns a function that releases it; idempotent
   */
  retain(): () => void;
  /** Adds a function that runs when the session closes on this node. */
  onClose(run: () => void | Promise<void>): void;
}

/** A live session with the members that only {@link LiveSessions} uses. */
export interface LiveEntry extends LiveSession {
  readonly tools: RelayedTools;
  readonly closers: (() => void | Promise<void>)[];
  /** The end of the session, as far as this node knows. The host may have extended it. */
  expiresAt: number;
  /** Stops listening for wake-ups. */
  stop: () => void;
  /** The revision of the tools that the session has. */
  revision: number;
  /**
   * Settles when the last update of the tools that was started has ended. Updates run one by one.
   */
  syncing: Promise<void>;
  /** How many callers retain it. */
  held: number;
  /** When it was last used, on the clock of `performance.now()`. */
  usedAt: number;
  /** Characters of its definitions. */
  chars: number;
  /** Why the session must not be opened again; undefined while it may be. */
  over: RelayError | undefined;
}

export function newEntry(
  { code, expiresAt }: Pick<SessionDocument, 'code' | 'expiresAt'>,
  session: ToolSession,
  tools: RelayedTools,
): LiveEntry {
  const closers: LiveEntry['closers'] = [];
  const entry: LiveEntry = {
    code,
    session,
    tools,
    closers,
    expiresAt,
    isRelayed: tools.has,
    retain() {
      let holds = true;
      entry.held++;
      return () => {
        if (!holds) return;
        holds = false;
        entry.held--;
        entry.usedAt = performance.now();
      };
    },
    onClose: (run) => void closers.push(run),
    stop: () => {},
    revision: 0,
    syncing: Promise.resolve(),
    held: 0,
    usedAt: performance.now(),
    chars: 0,
    over: undefined,
  };
  return entry;
}

/** True for an entry that is not retained and was last used at least `ms` milliseconds ago. */
export function isUnused({ held, usedAt }: LiveEntry, ms: number): boolean {
  return held === 0 && performance.now() - usedAt >= ms;
}

// The parts of a node that its live sessions use, and the state that they share.

/** The live sessions of a node. */
export interface LiveState {
  /** Sessions by code, from when they begin to open until they begin to close. */
  readonly entries: Map<string, Promise<LiveEntry>>;
  /** Sessions by code that have opened and have not begun to close. */
  readonly alive: Map<string, LiveEntry>;
  /** True while sessions that have expired or are idle are closed. */
  sweeping: boolean;
  /** True once the node opens no further sessions. */
  ended: boolean;
}

/** The parts of a node that its live sessions use. */
export interface LiveSessionParts {
  readonly options: RelaySessionOptions;
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly calls: Calls;
  readonly registry: HostToolRegistry;
  /** The most characters of the definitions of all live sessions. */
  readonly maxChars: number;
  readonly state: LiveState;
}
