/** The host's handlers for what an agent asks of its client. */
import type { MaybePromise } from '../../core.ts';

/** The files that an agent may use by its client. A capability without a handler is not offered. */
export interface AcpFiles {
  /**
   * Reads a file. `path` is absolute and has no symbolic links. `line` (from 1) is the first line,
   * and `limit` the most lines.
   */
  readonly readTextFile?: (request: {
    readonly sessionId: string;
    readonly path: string;
    readonly line?: number | null | undefined;
    readonly limit?: number | null | undefined;
  }) => MaybePromise<{ readonly content: string }>;
  /** Writes a file, and creates it if there is none. `path` as above. */
  readonly writeTextFile?: (request: {
    readonly sessionId: string;
    readonly path: string;
    readonly content: string;
  }) => MaybePromise<unknown>;
}

/** Names a terminal of an agent's session. */
export interface AcpTerminalRef {
  /** The session of the agent. */
  readonly sessionId: string;
  /** What `create` has returned. */
  readonly terminalId: string;
}

/** How a command of a terminal ended. */
export interface AcpExit {
  /** Null if a signal ended it. */
  readonly exitCode?: number | null | undefined;
  /** Such as `SIGKILL`; null if it ended by itself. */
  readonly signal?: string | null | undefined;
}

/** What a terminal shows. */
export interface AcpOutput {
  /** The end of it, if it is longer than `outputByteLimit`. */
  readonly output: string;
  /** Whether the beginning was left out. */
  readonly truncated: boolean;
  /** How the command ended; missing or null while it runs. */
  readonly exitStatus?: AcpExit | null | undefined;
}

/** The terminals that an agent may use by its client. */
export interface AcpTerminals {
  /** Starts a command, and returns the id of its terminal, which must be new. */
  create(request: {
    readonly sessionId: string;
    readonly command: string;
    readonly args?: readonly string[] | undefined;
    readonly env?: readonly { readonly name: string; readonly value: string }[] | undefined;
    readonly cwd?: string | null | undefined;
    readonly outputByteLimit?: number | null | undefined;
  }): MaybePromise<{ readonly terminalId: string }>;
  /** What it has written so far. */
  output(terminal: AcpTerminalRef): MaybePromise<AcpOutput>;
  /** Waits until its command has ended. */
  waitForExit(terminal: AcpTerminalRef): MaybePromise<AcpExit>;
  /** Ends its command. The terminal can be read further. */
  kill(terminal: AcpTerminalRef): MaybePromise<unknown>;
  /** Ends its command if it runs, and forgets the terminal. */
  release(terminal: AcpTerminalRef): MaybePromise<unknown>;
}
