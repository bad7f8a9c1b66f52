/** The public interface of a session. */

import type { FoundTool, SearchOptions } from '../../parts/discovery/search.ts';
import type { ApprovalOutcome } from '../../parts/durable-approvals/settle-approval.ts';
import type { Authorization } from '../../parts/explain/authorize.ts';
import type { Explanation } from '../../parts/explain/explain.ts';
import type { JudgedOrigin } from '../../parts/origins/origin.ts';
import type { SaidOptions } from '../../parts/origins/report-texts.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { ApprovalAnswer, Grant, PendingApproval } from '../approval/request.ts';
import type { CallOptions, CallTool } from '../context.ts';
import type { Emitter, ToolEvents } from '../events.ts';
import type { Hook } from '../hooks.ts';
import type { ToolRegistration } from '../registry/registration.ts';
import type { ToolResult } from '../result.ts';
import type { HostTool } from '../tool/host-tool.ts';
import type { AnyTool } from '../tool/tool-config.ts';
import type { ToolRef } from '../tool/tool-summary.ts';
import type { BatchPlan, ToolCall } from '../toolset/batch-plan.ts';
import type { Dropped, Overrides, Prerequisite } from '../toolset/effective.ts';
import type { BatchOptions, BatchResult } from './batch.ts';
import type { CallMetrics } from './metrics.ts';

/** The approvals of one session. */
export interface Approvals {
  /**
   * The calls that wait for a person: those in this process, and those suspended under this session
   * id and principal. Only suspended ones have a `token`.
   */
  pending(): Promise<readonly PendingApproval[]>;
  /**
   * Answers a call that waits on an approver in this process. False if no such call waits.
   * @throws MisuseError `invalid_option` for an invalid answer, and under `fourEyes` for an answer
   * of the session's own principal; the question then stays open.
   */
  answer(id: string, answer: ApprovalAnswer): boolean;
  /**
   * Answers a suspended call, in any process. If allowed, the call runs with exactly the input that
   * was shown. A resume that is refused ends as `approval_timeout`, or as `approval_denied` with
   * `token_invalid`, `token_used`, `token_foreign` or `definition_changed`. Never rejects.
   * @example
   * ```ts
   * const [question] = await session.approvals.pending();
   * if (question?.token !== undefined)
   *   await session.approvals.resume(question.token, { decision: 'allow_once', by: 'ann' });
   * ```
   */
  resume(token: string, answer: ApprovalAnswer): Promise<ToolResult>;
  /**
   * The status of an approval that this session and principal asked for: whether it was answered,
   * and what the call returned. It is kept until an hour after the approval expires, and other
   * processes can read it. `unknown` for an approval of another session or principal. Rejects if
   * the store fails, and with a MisuseError `invalid_option` if it keeps no outcomes.
   */
  outcome(id: string): Promise<ApprovalOutcome>;
  /** The standing answers of this session, oldest first, without expired and used-up ones. */
  grants(): readonly Grant[];
  /**
   * Revokes a standing answer. Calls that it has allowed need a new approval if their handlers have
   * not started. Running handlers continue. False if there is no such grant.
   */
  revoke(id: string): boolean;
}

/** The tools that a model sees, and the reasons why it does not see the others. */
export interface EffectiveTools {
  /** The names of the effective tools, in effective order. */
  readonly names: readonly string[];
  /** The effective tools, bound to the session, in the order of `names`. */
  readonly tools: readonly HostTool[];
  /** Tools that are not effective, each with the first reason that hides it. */
  readonly dropped: readonly Dropped[];
  /** The tools that provide the facts for which other tools wait. */
  readonly prerequisites: readonly Prerequisite[];
  /** The registry's revision for which this was computed. */
  readonly revision: number;
  /**
   * `sha256:` and the hex digest of names, dropped and prerequisites. Two sessions that show the
   * same names for the same reasons have the same hash.
   */
  readonly hash: string;
}

/**
 * One agent conversation over a registry.
 * @example
 * ```ts
 * const session = registry.createSession({ sessionId: 'chat-1', principal: 'ann' });
 * const result = await session.call('read_file', { path: 'README.md' });
 * if (!result.success) console.log(result.error.code, result.error.message);
 * ```
 */
export interface ToolSession<S = unknown> {
  /** The id that the host gave. It need not be unique: see {@link SessionOptions}. */
  readonly sessionId: string;
  /**
   * The effective tools, bound to the session, in effective order.
   * @example
   * ```ts
   * for (const { name, description, inputSchema } of session.tools())
   *   console.log(name, description, inputSchema);
   * ```
   */
  tools(): readonly HostTool[];
  /** One effective tool; undefined if there is none of this name, or if it is hidden. */
  tool<I, O>(ref: ToolRef<I, O>): HostTool<I, O> | undefined;
  tool(name: string): HostTool | undefined;
  /**
   * Calls a tool by its name, or by its definition for typed input and output. Never throws and
   * never rejects: a refusal or a failure is a result with a stable error code.
   * @example
   * ```ts
   * const result = await session.call('read_file', { path: 'README.md' }, { timeoutMs: 5_000 });
   * ```
   */
  readonly call: CallTool;
  /**
   * Asks all gates about a call that other code runs, such as a coding agent's own tool. The tool
   * has `external: true`. If the call is allowed, run it with the `input` of the answer, and report
   * its end with `settle`. A call that is not settled within the tool's `timeoutMs` ends as
   * `timeout`. Never rejects.
   * @example
   * ```ts
   * const permission = await session.authorize('Bash', { command: 'npm test' });
   * if (permission.allowed) await permission.settle({ output: 'all tests passed' });
   * else console.log(permission.result.error?.message);
   * ```
   */
  authorize<I>(tool: ToolRef<I>, input: NoInfer<I>, options?: CallOptions): Promise<Authorization>;
  authorize(tool: string, input?: unknown, options?: CallOptions): Promise<Authorization>;
  /**
   * How `executeBatch` would group these calls. Runs nothing.
   * @throws MisuseError `invalid_option` if `calls` is not a list of calls, or if a call has an
   * unknown field.
   */
  plan(calls: readonly ToolCall[]): BatchPlan;
  /**
   * Runs a batch by its plan: one result for each call, in the order of the calls. Rejects with a
   * MisuseError `invalid_option` if `calls` is not a list of calls, or for an unknown field or
   * option.
   * @example
   * ```ts
   * const { results } = await session.executeBatch([
   *   { id: 'c1', name: 'add', arguments: { a: 1, b: 2 } },
   *   { id: 'c2', name: 'add', arguments: { a: 3, b: 4 } },
   * ]);
   * ```
   */
  executeBatch(calls: readonly ToolCall[], options?: BatchOptions): Promise<BatchResult>;
  /** The effective tools and the hidden ones, with reasons. Frozen; ask again after a change. */
  effectiveTools(): EffectiveTools;
  /**
   * The tools that a text describes, best first, among those that this session may be shown now.
   * Words are compared, so it needs no model. See `docs/many-tools.md`.
   * @throws MisuseError `invalid_option` for an empty query, and for one of more than 4 096
   * characters.
   * @example
   * ```ts
   * for (const { name, score, why } of session.search('send somebody an e-mail'))
   *   console.log(name, score, why);
   * ```
   */
  search(query: string, options?: SearchOptions): readonly FoundTool[];
  /**
   * Registers a tool that only this session has. It cannot take the name of a registry tool, or a
   * name that could be confused with one.
   */
  register(definition: AnyTool<S>): ToolRegistration;
  /**
   * Changes the profile for later calls. Facts and overrides are kept.
   * @throws MisuseError `unknown_profile`, `closed`.
   */
  setProfile(id: string): void;
  /** Replaces the session's three override lists. Throws for unknown names, changing nothing. */
  setOverrides(overrides: Overrides): void;
  /**
   * Merges facts by key; null deletes a key. A fact that is set here is the host's: what a client,
   * an application or a coordinator declares does not replace it.
   */
  setFacts(facts: JsonObject): void;
  /**
   * Adds a hook. The returned function removes it.
   * @example
   * ```ts
   * const remove = session.use({
   *   before: ({ tool, input }) => console.log('about to run', tool.name, input),
   * });
   * ```
   */
  use(hook: Hook): () => void;
  /**
   * Explains what would happen to a call, with the code that decides calls, without running it:
   * which rule decides, why the tool is hidden, what unlocks it. Hooks do not run.
   * @example
   * ```ts
   * const { decision, steps } = await session.explain('add', { a: 1, b: 2 });
   * console.log(decision?.effect, steps); // 'allow', 'ask' or 'deny', and what each rule said
   * ```
   */
  explain(name: string, input?: unknown): Promise<Explanation>;
  /**
   * Remembers what the user wrote, or a text that the host vouches for, for rules about origins.
   * The host loops and the AI SDK adapter report what the user wrote by themselves.
   * @throws MisuseError `invalid_option` for anything but a text, `closed`.
   * @example
   * ```ts
   * session.said('Pay the bill to DE89 3704 0044 0532 0130 00.');
   * session.said('The office is at 1 Main Street.', { origin: 'trusted' });
   * ```
   */
  said(text: string, options?: SaidOptions): void;
  /**
   * The origins of an input's values: of each target, and of each identifier in a text. Rules about
   * origins judge these. Everything is `unknown` in a session that remembers nothing. Secrets of
   * the input are hidden.
   * @throws MisuseError `unknown_tool`, and `invalid_option` for an input that is not a JSON
   * object.
   * @example
   * ```ts
   * const origins = session.originOf('add', { a: 1, b: 2 });
   * for (const { path, origin } of origins) console.log(path, origin);
   * ```
   */
  originOf(name: string, input: unknown): readonly JudgedOrigin[];
  /** The calls that wait for a person, and the standing answers. */
  readonly approvals: Approvals;
  /** The events of this session only, in order of `seq`. */
  readonly events: Emitter<ToolEvents>;
  /**
   * The counts of the session's calls since it was created. They stay readable when it is closed.
   */
  metrics(): CallMetrics;
  /** Ends calls in flight as `session_closed` and disposes session-scoped handlers. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
