/** Hooks: host code around every call of a session. */

import type { JsonObject } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { ToolResult } from './result.ts';
import type { ToolSummary } from './tool.ts';

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
