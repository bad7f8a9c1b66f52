/** What a session is to a host: the public shape of one agent conversation. */
import type { ApprovalAnswer, Grant, PendingApproval } from './approval/request.ts';
import type { BatchOptions, BatchResult } from './batch.ts';
import type { CallTool } from './context.ts';
import type { Emitter, ToolEvents } from './events.ts';
import type { Explanation } from './explain.ts';
import type { Hook } from './hooks.ts';
import type { HostTool } from './host-tool.ts';
import type { JsonObject } from './json.ts';
import type { ToolRegistration } from './registration.ts';
import type { ToolResult } from './result.ts';
import type { AnyTool } from './tool-config.ts';
import type { ToolRef } from './tool-ref.ts';
import type { Dropped, Overrides, Prerequisite } from './workflow/effective.ts';
import type { BatchPlan, ToolCall } from './workflow/plan.ts';

/** Approvals of one session. */
export interface Approvals {
  /** What waits for a person: in this process, and suspended under this session id and principal. `token` only with suspended ones. */
  pending(): Promise<readonly PendingApproval[]>;
  /** Answers a call that waits on an approver in this process. False when none does. */
  answer(id: string, answer: ApprovalAnswer): boolean;
  /** Answers a suspended call, in whichever process; allowed, it runs exactly what was shown. Refused: `approval_timeout`, or `approval_denied` with `token_invalid`, `token_used`, `token_foreign` or `definition_changed`. */
  resume(token: string, answer: ApprovalAnswer): Promise<ToolResult>;
  grants(): readonly Grant[];
  revoke(id: string): boolean;
}

/** What a model sees, and why it does not see the rest. */
export interface EffectiveTools {
  readonly names: readonly string[];
  readonly tools: readonly HostTool[];
  readonly dropped: readonly Dropped[];
  readonly prerequisites: readonly Prerequisite[];
  readonly revision: number;
  readonly hash: string;
}

/** One agent conversation. */
export interface ToolSession<S = unknown> {
  readonly sessionId: string;
  /** Effective tools, bound, in effective order. */
  tools(): readonly HostTool[];
  tool<I, O>(ref: ToolRef<I, O>): HostTool<I, O> | undefined;
  tool(name: string): HostTool | undefined;
  /** Calls a tool. Never throws, never rejects. */
  readonly call: CallTool;
  plan(calls: readonly ToolCall[]): BatchPlan;
  /** Runs a batch by its plan: one result for every call, in observed order. */
  executeBatch(calls: readonly ToolCall[], options?: BatchOptions): Promise<BatchResult>;
  effectiveTools(): EffectiveTools;
  /** Registers a tool that is visible in this session only. It cannot take a registry tool's name or its twin. */
  register(definition: AnyTool<S>): ToolRegistration;
  setProfile(id: string): void;
  /** Replaces the session's three lists. Unknown names change nothing and throw. */
  setOverrides(overrides: Overrides): void;
  /** Merges facts by key; null deletes. */
  setFacts(facts: JsonObject): void;
  /** Adds a hook; returns what takes it away. */
  use(hook: Hook): () => void;
  /** What a call would come to, by the same code, without running it: which rule, why hidden, what unlocks it. Hooks do not run. */
  explain(name: string, input?: unknown): Promise<Explanation>;
  readonly approvals: Approvals;
  readonly events: Emitter<ToolEvents>;
  metrics(): JsonObject;
  /** Ends what is in flight as `session_closed`, disposes session-scoped handlers. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
