/** A session and its tools, as hosts and agent runtimes use them. */

import type { JsonObject } from '../values/json/index.ts';
import type { JsonSchema } from '../values/schema/schema.ts';
import type { Approvals } from './answers.ts';
import type { BatchOptions, BatchPlan, BatchResult, ToolCall } from './batch.ts';
import type { CallOptions, CallTool } from './context.ts';
import type { DelegateOptions } from './delegation.ts';
import type { Emitter, ToolEvents } from './events.ts';
import type { Authorization, Explanation } from './explanation.ts';
import type { CallMetrics } from './metrics.ts';
import type { JudgedOrigin, SaidOptions } from './origins.ts';
import type { Hook } from './policy.ts';
import type { ToolResult } from './result.ts';
import type { Overrides } from './session-options.ts';
import type { AnyTool, Deprecation, ToolAnnotations, ToolRef, ToolRegistration } from './tool.ts';

/** A tool of one session. A deeply frozen plain object, not callable. */
export interface HostTool<I = unknown, O = unknown> {
  /** The name under which the tool is registered. `session.call` takes it. */
  readonly name: string;
  /** What the tool does and when to use it, for the model, and whether it is deprecated. */
  readonly description: string;
  /** A name for people, if the definition has one. */
  readonly title?: string;
  /** The definition's hints. {} if it has none. */
  readonly annotations: ToolAnnotations;
  /** The definition's labels, which rules can name. */
  readonly tags: readonly string[];
  /** The definition's version, if it has one. Part of the fingerprint. */
  readonly version?: string;
  /** Says that the tool should no longer be used. */
  readonly deprecated?: Deprecation;
  /** Who registered the tool: `host`, `session` or a scope's source. */
  readonly source: string;
  /**
   * Where calls run: `inline` for a handler in this process, `external` if other code runs the
   * tool, or the name that its executor gives, such as `thread`. Not part of the fingerprint.
   */
  readonly executor: string;
  /** The input as JSON Schema. `parameters` and `getSchema()` are the same frozen object. */
  readonly inputSchema: JsonSchema;
  /** The same object as `inputSchema`. */
  readonly parameters: JsonSchema;
  /** Returns the same object as `inputSchema`. */
  getSchema(): JsonSchema;
  /**
   * The output as JSON Schema, if the tool declares one. An output that violates it fails with
   * `invalid_output`.
   */
  readonly outputSchema?: JsonSchema;
  /**
   * Whether a call may need an approval. True if the definition or the profile asks for one, even
   * if that depends on the input; if a rule without `when` asks; and if the default asks and
   * nothing may allow the call. Rules with `when`, policies and checks do not count:
   * `session.explain` takes an input and says what they decide.
   */
  readonly requiresApproval: boolean;
  /**
   * The definition's fingerprint: `sha256:` and hex. It changes with everything that tokens and
   * grants are bound to.
   */
  readonly fingerprint: string;
  /**
   * Calls the tool, through every check of the session. `input` may be a JSON string, and a
   * `_tool_call_id` in it is ignored. Never throws and never rejects: a failure is a result.
   */
  execute(input: I, options?: CallOptions): Promise<ToolResult<O>>;
}

/** A tool that the model does not see, and why. */
export interface Dropped {
  /** The tool's name. */
  readonly name: string;
  /**
   * The first code that applies of `not_delegated`, `disabled`, `denied`, `not_in_profile`,
   * `fact_unmet:<fact>`, `not_registered`, `knobs_missing`, `external`, `app_only`,
   * `not_discovered`, `tool_budget`, `token_budget`.
   */
  readonly code: string;
}

/** A fact that dropped tools wait for and an effective tool provides. */
export interface Prerequisite {
  /** The effective tool that provides the fact. */
  readonly tool: string;
  /** The fact's dotted key, such as `hostSession.status`. */
  readonly fact: string;
  /** The dropped tools that wait for it. */
  readonly unlocks: readonly string[];
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
   * What programs of this session may call, as TypeScript. See `docs/code.md`.
   * @throws MisuseError `invalid_option` for a session without the option `code`.
   */
  declarations(): string;
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
  /**
   * Takes a call back: runs `revert` of its tool, as a governed call of its own. It is named
   * `<tool>.revert` in rules and records, and runs at most once. The call must have succeeded, in
   * this session or another one of the same principal, and its tool must not have changed. Of a
   * call whose tool has no `revert`, the calls that it has made are taken back, the last one first,
   * until one cannot be; a program of code mode is such a call. See `docs/undo.md`.
   * @param callId The id of the call: `metadata.callId` of its result.
   * @throws (rejects with) MisuseError `invalid_option`, `closed`.
   * @example
   * ```ts
   * const done = await session.call('add', { a: 1, b: 2 });
   * const undone = await session.revert(done.metadata.callId);
   * console.log(undone.error?.reason); // 'unknown_call': `add` has no `revert`
   * ```
   */
  revert(callId: string): Promise<ToolResult>;
  /**
   * Makes a session for a sub-agent. It may do what this session may do at the moment of each call,
   * or less, and it closes with this session. See `docs/delegation.md`.
   * @throws MisuseError `invalid_option`, `unknown_tool`, `unknown_profile`, `closed`.
   * @example
   * ```ts
   * const researcher = session.delegate({ agent: 'researcher', tools: ['add'] });
   * const result = await researcher.call('add', { a: 1, b: 2 });
   * ```
   */
  delegate(options: DelegateOptions): ToolSession<S>;
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

/** A session without the methods that parts bring. */
export type CoreSession<S> = Omit<
  ToolSession<S>,
  'authorize' | 'declarations' | 'delegate' | 'explain' | 'originOf' | 'revert' | 'said' | 'search'
>;

/**
 * What `session.revert` returns for a call whose own calls were taken back. If it fails, the same
 * is in `details` of its error, with `stoppedAt`: the id of the call at which it stopped.
 */
export interface RevertedCalls {
  /** The ids of the calls that were taken back now, in this order. */
  readonly reverted: readonly string[];
  /**
   * The calls that cannot be taken back, the last one first. Of a program, also those of tools
   * without `revert`. Calls that never ran and calls of `readOnly` tools are not among them.
   */
  readonly left: readonly CallLeft[];
}

/** A call that `session.revert` leaves as it is. */
export interface CallLeft {
  /** Its id. */
  readonly callId: string;
  /** Its tool, as the program named it. */
  readonly toolName: string;
  /** Why it stays. */
  readonly reason: Left;
}

/**
 * - `no_revert`: its tool cannot take calls back
 * - `not_succeeded`: it ran and failed, or was stopped, so what it did is not known
 * - `not_kept`: it was too large, is too old, or its process died before it was kept
 * - `definition_changed`: its tool was changed or removed since
 * - `revert_ran`: its `revert` has begun before, and failed or was not seen to end
 */
type Left = 'no_revert' | 'not_succeeded' | 'not_kept' | 'definition_changed' | 'revert_ran';

/** Options of `session.search`. */
export interface SearchOptions {
  /** The most tools that are returned. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
}

/** A tool that a query describes. */
export interface FoundTool {
  /** The tool's name. */
  readonly name: string;
  /** The tool's description, as a model sees it. */
  readonly description: string;
  /**
   * How well the query describes the tool, from 0 to 1, where 1 is the best of this answer. Scores
   * of two answers cannot be compared.
   */
  readonly score: number;
  /** Whether a call to it needs an approval, or may need one. */
  readonly requiresApproval: boolean;
  /** The words of the query that were found in the tool. */
  readonly why: readonly string[];
}
