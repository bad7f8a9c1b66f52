/** Policies: decisions by host code, for what rules as data cannot say. */
import type { CallInfo } from '../context.ts';
import type { JsonObject } from '../json.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { ToolSummary } from '../tool-summary.ts';
import type { Decision } from './decision.ts';

/** What a policy judges. Everything in it is the policy's own copy, or frozen. */
export interface PolicySubject<S = unknown> {
  /** The tool that is called. */
  readonly tool: ToolSummary;
  /** The canonical input. */
  readonly input: JsonObject;
  /** Who calls, and where. */
  readonly context: CallInfo<S>;
  /** The tool's settings in the session's profile, with defaults. {} where it has no knobs. */
  readonly knobs: JsonObject;
}

/**
 * Answers a decision, or undefined for no opinion. One that throws, answers anything else or takes
 * longer than `policyTimeoutMs` denies.
 */
export interface Policy<S = unknown> {
  /** Non-empty; shown as `ruleId` wherever the policy decides. */
  readonly id: string;
  /** Judges one call, within the registry's `policyTimeoutMs`. */
  check(call: PolicySubject<S>): MaybePromise<Decision | undefined>;
}
