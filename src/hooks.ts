/** Hooks: host code around every call of a session. */

import type { JsonObject } from './json.ts';
import type { MaybePromise } from './maybe-promise.ts';
import type { ToolResult } from './result.ts';
import type { ToolSummary } from './tool-summary.ts';

/** What a hook sees of a call. `input` is the hook's own copy. */
export interface HookCall {
  /** The call's id. */
  readonly callId: string;
  /** The tool that is called. */
  readonly tool: ToolSummary;
  /** Before: as it came in, not yet validated. After: the canonical input. */
  readonly input: JsonObject;
  /** The session that the call came in on. */
  readonly sessionId: string;
}

/**
 * What a `before` hook says. Nothing and `continue` have no objection; anything unknown denies
 * (`policy_error`).
 */
export type BeforeAnswer =
  | void
  | { readonly action: 'continue' }
  | { readonly action: 'modify'; readonly input: JsonObject }
  | { readonly action: 'deny'; readonly reason: string; readonly message?: string };

/**
 * Host code around the calls of a session. Before hooks run in the order in which they were added,
 * each within the registry's `policyTimeoutMs`.
 */
export interface Hook {
  /**
   * Before validation. `modify` replaces the input, which is then validated and judged like any
   * other; `deny` ends as `policy_denied`. One that throws denies (`policy_error`).
   */
  before?(call: HookCall): MaybePromise<BeforeAnswer>;
  /**
   * After a handler ran. May replace the result, which is normalised again; one that throws changes
   * nothing.
   */
  after?(call: HookCall, result: ToolResult): MaybePromise<ToolResult | void>;
}
