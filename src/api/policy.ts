/** Host code around calls: policies, for what rules cannot express, what they decide, and hooks. */

import type { JsonObject } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { CallInfo } from './context.ts';
import type { ToolResult } from './result.ts';
import type { ToolSummary } from './tool.ts';

/** The call that a policy judges. Everything in it is frozen, or is the policy's own copy. */
export interface PolicySubject<S = unknown> {
  /** The tool. */
  readonly tool: ToolSummary;
  /** The canonical input: the JSON that was sent, after before hooks, repair and defaults. */
  readonly input: JsonObject;
  /** Who makes the call, and where. */
  readonly context: CallInfo<S>;
  /** The tool's settings in the session's profile, with defaults. `{}` for a tool without knobs. */
  readonly knobs: JsonObject;
  /** The facts of the session. */
  readonly facts: JsonObject;
  /** The adapter that the call came through; `""` for a direct call. */
  readonly surface: string;
  /**
   * What the tool's `attributes` returned, by the path that the tool declares. A path without a
   * value in the input has none.
   */
  readonly attributes: JsonObject;
  /**
   * Aborts when the policy has taken longer than `policyTimeoutMs`, and when the call ends early.
   * Created on first access. It is inherited, so a copy made by spreading lacks it.
   */
  readonly signal: AbortSignal;
}

/**
 * Host code that decides about calls. It returns a decision, or undefined for no opinion. A policy
 * that throws, returns anything else, or takes longer than `policyTimeoutMs` denies the call.
 */
export interface Policy<S = unknown> {
  /** Non-empty. It is the `ruleId` if the policy decides. */
  readonly id: string;
  /** Judges one call, within the registry's `policyTimeoutMs`. */
  check(call: PolicySubject<S>): MaybePromise<Decision | undefined>;
}

/** No objection. Other gates may still object. Made by {@link allow}. */
export interface Allow {
  readonly effect: 'allow';
}

/** A person must approve first. Beats an `allow`, yields to a `deny`. Made by {@link ask}. */
export interface Ask {
  readonly effect: 'ask';
  /** The question for the approver. */
  readonly prompt?: string;
}

/** Refuses the call, whatever other gates say; it ends as `policy_denied`. Made by {@link deny}. */
export interface Deny {
  readonly effect: 'deny';
  /** A stable word for code to read. Matches `^[a-z][a-z0-9_]*$`. */
  readonly reason: string;
  /** Tells the model what to do instead. @default a text that names the reason */
  readonly message?: string;
}

/** The outcome of a gate. A deny beats an ask, and an ask beats an allow. */
export type Decision = Allow | Ask | Deny;

/** The kind of a decision, as rules and defaults name it. */
export type Effect = Decision['effect'];

/** What a hook sees of a call. */
export interface HookCall {
  /** The call's id. */
  readonly callId: string;
  /** The tool that is called. */
  readonly tool: ToolSummary;
  /** The hook's own copy of the input: before hooks see it unvalidated, after hooks as it ran. */
  readonly input: JsonObject;
  /** The session in which the call was made. */
  readonly sessionId: string;
}

/**
 * What a `before` hook returns. Nothing and `continue` let the call continue; any unknown answer
 * denies it (`policy_error`).
 */
export type BeforeAnswer =
  | void
  | { readonly action: 'continue' }
  | { readonly action: 'modify'; readonly input: JsonObject }
  | { readonly action: 'deny'; readonly reason: string; readonly message?: string };

/**
 * Host code that runs around the calls of a session. Before hooks run in the order in which they
 * were added, after hooks in reverse order. Each has the registry's `policyTimeoutMs`.
 * @example
 * ```ts
 * const stop = session.use({
 *   before: ({ input }) => ({ action: 'modify', input: { ...input, tenant: 'acme' } }),
 * });
 * ```
 */
export interface Hook {
  /**
   * Runs before validation. `modify` replaces the input, which is then validated and judged like
   * any other; `deny` ends the call as `policy_denied`. A hook that throws denies (`policy_error`).
   */
  before?(call: HookCall): MaybePromise<BeforeAnswer>;
  /**
   * Runs after a handler. It may return another result, which is copied and checked again. A hook
   * that throws changes nothing.
   */
  after?(call: HookCall, result: ToolResult): MaybePromise<ToolResult | void>;
}
