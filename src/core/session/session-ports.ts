/** The ports of a registry at which its parts do something for sessions and their tools. */

import type { AnyTool } from '../../api/tool.ts';
import type { ToolStatus } from '../call/binding.ts';
import type { ToolGates } from '../call/ports.ts';
import type { Conditioned } from '../rules/conditioned.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { SessionSetup } from './session-setup.ts';
import type { SessionState } from './session-state.ts';
import type { Listing, View } from './view.ts';

/** Finds conditions that can never hold. It logs them, or throws if the registry is strict. */
export interface Review {
  /** @throws MisuseError in a strict registry. */
  added(all: readonly (CompiledRule | Conditioned)[]): void;
  /** Reviews what names these tools, which will be registered. @param replaced Goes away. */
  registering(entries: readonly ToolEntry[], replaced?: ToolEntry, session?: SessionState): void;
  /** A session opens. */
  opening(): void;
  /** Puts reviews off until {@link settle}. */
  wait(): void;
  settle(): void;
  /** Drops what was put off, because the changes were undone. */
  drop(): void;
  /** What is wrong with those that apply to a tool of a session. */
  faultsIn(session: SessionState, all: readonly (CompiledRule | Conditioned)[]): readonly object[];
}

/** A tool that a part brings. What it answers holds for one session at one moment. */
export interface OwnTool {
  /** Whether a session lists it among the others. */
  isListed(session: SessionState): boolean;
  /** The description that models read, if it depends on the session. */
  describe?(session: SessionState): string;
}

/** What a part does for sessions that act for others. */
export interface Acting {
  /** Takes over changes of the outer session. */
  follow(session: SessionState, outer: SessionState): void;
  /** The status of a tool, no wider than that in the outer session. */
  narrow(session: SessionState, outer: SessionState, entry: ToolEntry, own: ToolStatus): ToolStatus;
}

/** What sessions ask of parts. */
export class SessionPorts {
  /** Reads options of a session into its setup. Throws a MisuseError for a wrong one. */
  readonly options: ((
    setup: SessionSetup,
    options: Readonly<Record<string, unknown>>,
    where: string,
  ) => void)[] = [];
  /** A session opens. Throws a MisuseError to prevent that. */
  readonly opened: ((session: SessionState) => void)[] = [];
  /** What sessions may do that act for others. */
  acting: Acting | undefined;
  /** Selects what a session lists of what it may show; undefined for all of it. */
  listing: ((session: SessionState, view: View) => Listing | undefined) | undefined;
  /** Methods of sessions, by name, such as `explain` or `approvals.pending`. */
  readonly methods = new Map<string, (session: SessionState, ...args: never[]) => unknown>();
}

/** What parts do with tools and their definitions. */
export class ToolPorts {
  /** What the part does for a tool; undefined if nothing. */
  readonly gates: ((session: SessionState, entry: ToolEntry) => ToolGates | undefined)[] = [];
  /** The tools that parts bring. */
  readonly own = new WeakMap<AnyTool, OwnTool>();
  /** Looks at a definition that is about to be registered, in a session or for all of them. */
  readonly definitions: ((definition: AnyTool, session: SessionState | undefined) => void)[] = [];
  /** Names that no other tool of the registry may have, with the reason for the error. */
  readonly reserved = new Map<string, string>();
  /**
   * Tools were registered, or none yet, and the registry is new.
   * @param add Registers a tool that the part brings.
   */
  readonly registered: ((entries: readonly ToolEntry[], add: (tool: AnyTool) => void) => void)[] =
    [];
}
