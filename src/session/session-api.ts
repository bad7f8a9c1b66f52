/** What a session is to a host: the public shape of one agent conversation. */
import type { ApprovalAnswer, Grant, PendingApproval } from '../approval/request.ts';
import type { CallTool } from '../context.ts';
import type { Emitter, ToolEvents } from '../events.ts';
import type { Hook } from '../hooks.ts';
import type { JsonObject } from '../json.ts';
import type { ToolResult } from '../result.ts';
import type { ToolRegistration } from '../state/registration.ts';
import type { HostTool } from '../tool/host-tool.ts';
import type { AnyTool } from '../tool/tool-config.ts';
import type { ToolRef } from '../tool-summary.ts';
import type { BatchPlan, ToolCall } from '../toolset/batch-plan.ts';
import type { Dropped, Overrides, Prerequisite } from '../toolset/effective.ts';
import type { BatchOptions, BatchResult } from './batch.ts';
import type { Explanation } from './explain.ts';

/** Approvals of one session. */
export interface Approvals {
  /**
   * What waits for a person: in this process, and suspended under this session id and principal.
   * `token` only with suspended ones.
   */
  pending(): Promise<readonly PendingApproval[]>;
  /**
   * Answers a call that waits on an approver in this process. False when none does. @throws
   * MisuseError `invalid_option` for what is no answer; the question stays open.
   */
  answer(id: string, answer: ApprovalAnswer): boolean;
  /**
   * Answers a suspended call, in whichever process; allowed, it runs exactly what was shown.
   * Refused: `approval_timeout`, or `approval_denied` with `token_invalid`, `token_used`,
   * `token_foreign` or `definition_changed`.
   *
   * @example
   * ```ts
   * const [question] = await session.approvals.pending();
   * if (question?.token !== undefined)
   *   await session.approvals.resume(question.token, { decision: 'allow_once', by: 'ann' });
   * ```
   */
  resume(token: string, answer: ApprovalAnswer): Promise<ToolResult>;
  /** The standing answers of this session, oldest first; expired and used-up ones are not in it. */
  grants(): readonly Grant[];
  /**
   * Takes a standing answer back; what it let through stays. False when there is none of this id.
   */
  revoke(id: string): boolean;
}

/** What a model sees, and why it does not see the rest. */
export interface EffectiveTools {
  /** In effective order. */
  readonly names: readonly string[];
  /** Bound to the session, in the order of `names`. */
  readonly tools: readonly HostTool[];
  /** Tools that are not effective, each with the first reason that hides it. */
  readonly dropped: readonly Dropped[];
  /** What unlocks tools that wait for a fact. */
  readonly prerequisites: readonly Prerequisite[];
  /** The registry's revision that this was worked out at. */
  readonly revision: number;
  /**
   * `sha256:` and hex over names, dropped and prerequisites; two sessions that show the same names
   * for the same reasons have the same.
   */
  readonly hash: string;
}

/** One agent conversation. */
export interface ToolSession<S = unknown> {
  /** As the host gave it; two sessions of the same id share nothing. */
  readonly sessionId: string;
  /**
   * Effective tools, bound, in effective order.
   *
   * @example
   * ```ts
   * for (const { name, description, inputSchema } of session.tools())
   *   console.log(name, description, inputSchema);
   * ```
   */
  tools(): readonly HostTool[];
  /** One effective tool; undefined when there is none of this name, or when it is hidden. */
  tool<I, O>(ref: ToolRef<I, O>): HostTool<I, O> | undefined;
  tool(name: string): HostTool | undefined;
  /** Calls a tool. Never throws, never rejects. */
  readonly call: CallTool;
  /**
   * How `executeBatch` would group these calls; runs nothing. @throws MisuseError `invalid_option`
   * for what is no list of calls, and for a field that a call does not have.
   */
  plan(calls: readonly ToolCall[]): BatchPlan;
  /**
   * Runs a batch by its plan: one result for every call, in observed order. Rejects with a
   * MisuseError `invalid_option` for what is no list of calls, a field that a call does not have,
   * and an unknown option.
   *
   * @example
   * ```ts
   * const { results } = await session.executeBatch([
   *   { id: 'c1', name: 'add', arguments: { a: 1, b: 2 } },
   *   { id: 'c2', name: 'add', arguments: { a: 3, b: 4 } },
   * ]);
   * ```
   */
  executeBatch(calls: readonly ToolCall[], options?: BatchOptions): Promise<BatchResult>;
  /** The effective set with what is left out, and why. Frozen; ask again after a change. */
  effectiveTools(): EffectiveTools;
  /**
   * Registers a tool that is visible in this session only. It cannot take a registry tool's name or
   * its twin.
   */
  register(definition: AnyTool<S>): ToolRegistration;
  /**
   * Changes the profile for later calls; the facts and the overrides stay. @throws MisuseError
   * `unknown_profile`, `closed`.
   */
  setProfile(id: string): void;
  /** Replaces the session's three lists. Unknown names change nothing and throw. */
  setOverrides(overrides: Overrides): void;
  /** Merges facts by key; null deletes. */
  setFacts(facts: JsonObject): void;
  /**
   * Adds a hook; returns what takes it away.
   *
   * @example
   * ```ts
   * const remove = session.use({
   *   before: ({ tool, input }) => console.log('about to run', tool.name, input),
   * });
   * ```
   */
  use(hook: Hook): () => void;
  /**
   * What a call would come to, by the same code, without running it: which rule, why hidden, what
   * unlocks it. Hooks do not run.
   *
   * @example
   * ```ts
   * const { decision, steps } = await session.explain('add', { a: 1, b: 2 });
   * console.log(decision?.effect, steps); // 'allow', 'ask' or 'deny', and what each rule said
   * ```
   */
  explain(name: string, input?: unknown): Promise<Explanation>;
  /** What waits for a person, and what was answered for good. */
  readonly approvals: Approvals;
  /** This session's events alone, in order of `seq`. */
  readonly events: Emitter<ToolEvents>;
  /**
   * Counts since the start: `calls`, `succeeded`, `failed`, `rejected`, `cancelled`, `pending`,
   * `denied`, `denyRate` (0 to 1), `lateSettles`, `byTool`, `byReason`.
   */
  metrics(): JsonObject;
  /** Ends what is in flight as `session_closed`, disposes session-scoped handlers. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
