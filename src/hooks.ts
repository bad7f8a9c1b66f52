/** Hooks: host code around every call of a session. */

import type { JsonObject } from './json.ts';
import type { MaybePromise } from './maybe-promise.ts';
import type { ToolResult } from './result.ts';
import type { ToolSummary } from './tool-summary.ts';

/** What a hook sees of a call. `input` is the hook's own copy. */
export interface HookCall {
  readonly callId: string;
  readonly tool: ToolSummary;
  readonly input: JsonObject;
  readonly sessionId: string;
}

export type BeforeAnswer =
  | void
  | { readonly action: 'continue' }
  | { readonly action: 'modify'; readonly input: JsonObject }
  | { readonly action: 'deny'; readonly reason: string; readonly message?: string };

export interface Hook {
  /** Before validation. `modify` replaces the input, which is then validated and judged like any other; `deny` ends as `policy_denied`. One that throws denies (`policy_error`). */
  before?(call: HookCall): MaybePromise<BeforeAnswer>;
  /** After a handler ran. May replace the result, which is normalised again; one that throws changes nothing. */
  after?(call: HookCall, result: ToolResult): MaybePromise<ToolResult | void>;
}
