/** The ports of one registry, which its parts fill. A port that is empty costs a call nothing. */

import type { ToolResult } from '../../api/result.ts';

import type { ToolError } from '../../values/errors/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import type { FoundCall } from '../call/call.ts';
import type { ReadCallOptions } from '../call/call-options.ts';
import { CallPorts } from '../call/call-ports.ts';
import type { Conditioned } from '../rules/conditioned.ts';
import type { ProfileTools, ResolvedProfile } from '../rules/profile.ts';
import { type Review, SessionPorts, ToolPorts } from '../session/session-ports.ts';
import type { SessionSetup } from '../session/session-setup.ts';
import type { SessionState } from '../session/session-state.ts';
import type { RegistryState } from './registry-state.ts';

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

/** What parts read in profiles. */
class ProfilePorts {
  /** Reads keys of a profile into the resolved one, with what it has from its parents. */
  readonly options: ((
    profile: ResolvedProfile,
    options: Readonly<Record<string, unknown>>,
    parents: readonly ResolvedProfile[],
  ) => void)[] = [];
  /** Tools in profiles. */
  readonly tools: ProfileTools[] = [];
}

/** In the record of whoever asks. What the registry itself asks is in no record. */
export class Ports {
  readonly calls = new CallPorts();
  readonly sessions = new SessionPorts();
  readonly tools = new ToolPorts();
  readonly profiles = new ProfilePorts();
  /** Methods of registries, by name, such as `approvals.answer`. */
  readonly methods = new Map<string, (registry: RegistryState, ...args: never[]) => unknown>();
  /**
   * Tries the calls again that wait for a login of a principal, and returns the results of those
   * that ran here. Rejects if the store fails.
   */
  loggedIn:
    | ((
        registry: RegistryState,
        login: { readonly principal: string; readonly name: string },
      ) => Promise<readonly ToolResult[]>)
    | undefined;
  /** Adds members to an explanation, once the input is validated. */
  readonly explained: ((call: FoundCall) => MaybePromise<object | undefined>)[] = [];
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
  /** Runs once all parts have filled their ports. Throws a MisuseError for a wrong option. */
  readonly installed: (() => void)[] = [];
  /** Whether a part keeps something in the store of the registry. */
  usesStore = false;
  /** Saves what a part still has to, when the registry has closed. Waited for in bounded time. */
  readonly closing: (() => Promise<unknown>)[] = [];
  /** Takes over the part's data for a registry that only judges. */
  readonly copies: ((from: RegistryState, to: RegistryState) => void)[] = [];
}
