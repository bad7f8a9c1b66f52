/** One relay session that agents use on this node. */
import type { ToolSession } from '../../index.ts';
import type { SessionDocument } from '../ports/documents.ts';
import type { RelayError } from '../relay-error.ts';
import type { RelayedTools } from '../tools/relayed-tools.ts';

/** A relay session as this node holds it. */
export interface LiveSession {
  readonly code: string;
  /** The governed session that every call of an agent goes through. */
  readonly session: ToolSession;
  /** Whether a tool is the application's. */
  isRelayed(name: string): boolean;
  /** Keeps the session from being closed as idle. @returns ends that; idempotent */
  retain(): () => void;
  /** Runs when the session closes here. */
  onClose(run: () => void | Promise<void>): void;
}

/** The same, with what only {@link LiveSessions} uses. */
export interface LiveEntry extends LiveSession {
  readonly tools: RelayedTools;
  readonly closers: (() => void | Promise<void>)[];
  readonly expiresAt: number;
  /** Ends the watch for wakes. */
  stop: () => void;
  /** The revision of the tools that the session has. */
  revision: number;
  /** Settles after the last reading of the tools that was started; readings run one by one. */
  syncing: Promise<void>;
  /** How many callers retain it. */
  held: number;
  /** When it was last used, on the clock of `performance.now()`. */
  usedAt: number;
  /** Characters of its definitions. */
  chars: number;
  /** Why it must not be opened again, once that is so. */
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

/** True for an entry that was not retained for at least `ms` milliseconds. */
export function isUnused({ held, usedAt }: LiveEntry, ms: number): boolean {
  return held === 0 && performance.now() - usedAt >= ms;
}
