/** The places of one registry that its parts fill. A place that is empty costs a call nothing. */

import type { ToolResult } from '../../api/result.ts';
import type { AnyTool } from '../../api/tool.ts';

import type { ToolError } from '../../values/errors/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import type { ToolStatus } from '../call/binding.ts';
import type { FoundCall } from '../call/call.ts';
import type { ReadCallOptions } from '../call/call-options.ts';
import { CallPorts } from '../call/call-ports.ts';
import type { ToolGates } from '../call/ports.ts';
import type { Conditioned } from '../rules/conditioned.ts';
import type { ProfileTools, ResolvedProfile } from '../rules/profile.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { SessionSetup } from '../session/session-setup.ts';
import type { SessionState } from '../session/session-state.ts';
import type { Listing, View } from '../session/view.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { RegistryState } from './registry-state.ts';

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

/** A call that a program has made. */
export interface MadeCall {
  readonly callId: string;
  readonly toolName: string;
  /** Of its error; undefined if it has succeeded. */
  readonly code?: string | undefined;
}

/** What a part knows of programs. */
export interface Programs {
  /** The calls that a program has made so far, in earlier runs too. */
  made(program: FoundCall): readonly MadeCall[];
  /** Whether a program runs, or goes on by itself. Rejects if that is unknown. */
  isOpen(
    asking: SessionState,
    program: { readonly sessionId: string; readonly runId: string },
  ): Promise<boolean>;
}

/** A call that had waited for a person, and has ended. */
export interface ResumedCall {
  readonly callId: string;
  readonly approvalId: string;
  readonly result: ToolResult;
  /** What the answer came through. */
  readonly via: ReadCallOptions | undefined;
}

/** What a part does for sessions that act for others. */
export interface Acting {
  /** Takes over changes of the outer session. */
  follow(session: SessionState, outer: SessionState): void;
  /** The status of a tool, no wider than that in the outer session. */
  narrow(session: SessionState, outer: SessionState, entry: ToolEntry, own: ToolStatus): ToolStatus;
}

export class Ports extends CallPorts {
  /** Reads options of a session into its setup. Throws a MisuseError for a wrong one. */
  readonly sessions: ((
    setup: SessionSetup,
    options: Readonly<Record<string, unknown>>,
    where: string,
  ) => void)[] = [];
  /** Reads keys of a profile into the resolved one, with what it has from its parents. */
  readonly profiles: ((
    profile: ResolvedProfile,
    options: Readonly<Record<string, unknown>>,
    parents: readonly ResolvedProfile[],
  ) => void)[] = [];
  /** Tools in profiles. */
  readonly profileTools: ProfileTools[] = [];
  /** Looks at a definition that is about to be registered, in a session or for all of them. */
  readonly definitions: ((definition: AnyTool, session: SessionState | undefined) => void)[] = [];
  /** What the part does for a tool; undefined if nothing. */
  readonly tools: ((session: SessionState, entry: ToolEntry) => ToolGates | undefined)[] = [];
  /** Adds members to an explanation, once the input is validated. */
  readonly explained: ((call: FoundCall) => MaybePromise<object | undefined>)[] = [];
  /** The tools that parts bring. */
  readonly ownTools = new WeakMap<AnyTool, OwnTool>();
  /** Names that no other tool of the registry may have, with the reason for the error. */
  readonly reserved = new Map<string, string>();
  /**
   * Tools were registered, or none yet, and the registry is new.
   * @param add Registers a tool that the part brings.
   */
  readonly registered: ((entries: readonly ToolEntry[], add: (tool: AnyTool) => void) => void)[] =
    [];
  /** A session opens. Throws a MisuseError to prevent that. */
  readonly opened: ((session: SessionState) => void)[] = [];
  /** What sessions may do that act for others. */
  acting: Acting | undefined;
  /** Selects what a session lists of what it may show; undefined for all of it. */
  listing: ((session: SessionState, view: View) => Listing | undefined) | undefined;
  programs: Programs | undefined;
  /**
   * Somebody has answered a call that waits, and it is about to run. Gives why it may not. Rejects
   * if that cannot be read.
   */
  resuming:
    | ((
        session: SessionState,
        callId: string,
        approvalId: string,
      ) => Promise<ToolError | undefined>)
    | undefined;
  /**
   * A call that had waited for a person has ended. Gives what has become of the program that it is
   * part of; undefined if it is part of none.
   */
  resumed:
    | ((
        session: SessionState,
        ended: ResumedCall,
      ) => Promise<{ readonly result: Promise<ToolResult> } | undefined>)
    | undefined;
  /** Members of a question that show what a person agrees to, besides the call. */
  readonly details = new Set<string>();
  /**
   * What has conditions besides rules, of a registry and its profiles, of a profile, or of
   * a session.
   */
  readonly conditioned: ((
    from: RegistryState | ResolvedProfile | SessionSetup,
  ) => readonly Conditioned[])[] = [];
  /** Reviews whether conditions can hold. */
  review: Review | undefined;
  /** Runs once all parts have filled their places. Throws a MisuseError for a wrong option. */
  readonly installed: (() => void)[] = [];
  /** Whether a part keeps something in the store of the registry. */
  usesStore = false;
  /** Saves what a part still has to, when the registry has closed. Waited for in bounded time. */
  readonly closing: (() => Promise<unknown>)[] = [];
  /** Takes over the part's data for a registry that only judges. */
  readonly copies: ((from: RegistryState, to: RegistryState) => void)[] = [];
  /** Methods of registries and sessions, by name, such as `explain` or `approvals.pending`. */
  readonly registryMethods = new Map<
    string,
    (registry: RegistryState, ...args: never[]) => unknown
  >();
  readonly sessionMethods = new Map<string, (session: SessionState, ...args: never[]) => unknown>();
}
