/** Policies: decisions by host code, for what rules cannot express. */

import type { JsonObject } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { CallInfo } from './context.ts';
import type { Decision } from './decision.ts';
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
