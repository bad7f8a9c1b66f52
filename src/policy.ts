/** Policies: decisions by host code, for what rules as data cannot say. */
import type { CallInfo } from './context.ts';
import type { Decision } from './decision.ts';
import type { JsonObject } from './json.ts';
import type { MaybePromise } from './maybe-promise.ts';
import type { ToolSummary } from './tool-summary.ts';

/** What a policy judges. Everything in it is the policy's own copy, or frozen. */
export interface PolicySubject<S = unknown> {
  readonly tool: ToolSummary;
  /** The canonical input. */
  readonly input: JsonObject;
  readonly context: CallInfo<S>;
  readonly knobs: JsonObject;
}

/** Answers a decision, or undefined for no opinion. One that throws, answers anything else or takes longer than `policyTimeoutMs` denies. */
export interface Policy<S = unknown> {
  readonly id: string;
  check(call: PolicySubject<S>): MaybePromise<Decision | undefined>;
}
