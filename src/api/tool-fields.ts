/** What a tool's config says about the tool, except how it runs. */

import type { JsonValue } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { ParsedOf, Schema } from '../values/schema/schema.ts';
import type { ApprovalPrompt } from './approval.ts';
import type { CallInfo } from './context.ts';
import type { OutputOrigin } from './origins.ts';
import type { Allow, Ask, Decision, Deny } from './policy.ts';
import type { Deprecation, FactRule, ToolAnnotations, ToolRef } from './tool.ts';

/** The type of a tool's parsed knobs. An empty object if it declares none. */
export type KnobsOf<KS> = [KS] extends [Schema] ? ParsedOf<KS> : Readonly<Record<string, never>>;

/** The hints of {@link ToolAnnotations} under the names that MCP has for them. */
export interface ToolHints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
  readonly readOnly?: undefined;
  readonly destructive?: undefined;
  readonly idempotent?: undefined;
  readonly openWorld?: undefined;
}

/** The hints that a definition gives. Whether calls are reversible follows from `revert`. */
export type GivenAnnotations = Omit<ToolAnnotations, 'reversible'>;

/** The fields whose types are the same for every tool. */
export interface PlainFields {
  /** What the tool does and when to use it, for the model. Not blank. */
  description: string;
  /** A name for people. Models and rules use `name`. @default none */
  title?: string | undefined;
  /** Part of the fingerprint: a new version voids older tokens and grants. @default none */
  version?: string | undefined;
  /** Says not to use the tool, in its description and at its first call. @default none */
  deprecated?: Deprecation | undefined;
  /** A grouping of your own, for your lists. No check reads it. @default none */
  category?: string | undefined;
  /** Labels that rules can name. @default none */
  tags?: readonly string[] | undefined;
  /** Hints that rules and surfaces read. @default {}: every hint is false */
  annotations?: GivenAnnotations | ToolHints | undefined;
  /**
   * How long the handler may run, in milliseconds. Above 0, at most 2^31-1. Waits for reviewers and
   * for slots do not count.
   * @default the registry's `defaultTimeoutMs`
   */
  timeoutMs?: number | undefined;
  /**
   * Milliseconds without `context.progress()` after which the call times out. Above 0, at most
   * 2^31-1.
   * @default no idle timeout
   */
  idleTimeoutMs?: number | undefined;
  /** Facts that must hold for the tool to be available. @default none */
  requires?: readonly FactRule[] | undefined;
  /**
   * Facts that this tool can make true. `effectiveTools` lists it as a prerequisite of the tools
   * that require them.
   * @default none
   */
  provides?: readonly string[] | undefined;
  /** Whether a batch may run it in parallel with other calls. @default `annotations.readOnly` */
  parallelSafe?: boolean | undefined;
  /**
   * The origin of its output's text. Use `untrusted` for what others have written, such as mail and
   * web pages. `"x-origin"` in the output schema labels a single field, and overrides this.
   * @default "untrusted" if `annotations.openWorld` is set, otherwise "trusted"
   */
  origin?: OutputOrigin | undefined;
  /** The most that the model sees of an output, in UTF-16 code units. @default no limit */
  maxOutputChars?: number | undefined;
  /**
   * What the model sees of an output that is over its budget: the start, the start and the end, or
   * with `offload` the start and a handle, with which it can read the rest. `offload` needs the
   * registry's option of this name. Without that, it means `head_tail`.
   * @default "head"
   */
  outputStrategy?: 'head' | 'head_tail' | 'offload' | undefined;
  /** How many calls may run at once in the whole registry. @default no limit */
  maxConcurrency?: number | undefined;
  /** The tools that the handler may call with `context.tools.call`. @default none */
  uses?: readonly (string | ToolRef)[] | undefined;
  /** The event names that the handler may send with `context.emit`. @default any name */
  events?: readonly string[] | undefined;
  /**
   * Scopes that the caller must have, such as `["orders:write"]`. A call without one of them is
   * denied with the reason `scope_missing`; over MCP with `authorization`, the answer is 403
   * `insufficient_scope`. Each is a scope of OAuth: printable ASCII without blanks, `"` and `\`.
   * @default none
   */
  scopes?: readonly string[] | undefined;
  /**
   * Whether a call over MCP may go on as a task, which its client looks after with later requests.
   * `optional`: if it takes long, for clients that know tasks. `required`: always, and clients that
   * do not know tasks cannot call the tool. It changes nothing on other surfaces.
   * @default a call is answered by its own request
   */
  task?: 'optional' | 'required' | undefined;
  /**
   * `session`: `create` makes a handler for each session.
   * @default "global", or "session" with `create`
   */
  scope?: 'global' | 'session' | undefined;
  /**
   * `internal`: never listed, and only tools that list it in `uses` can call it.
   * @default "model"
   */
  exposure?: 'model' | 'internal' | undefined;
  /** Its app (MCP Apps), for MCP clients that show one. @default none */
  ui?: ToolUi | undefined;
}

/** The app of a tool: a page that shows its results, and may call tools of the same source. */
export interface ToolUi {
  /** The address of the page. It begins with `ui://` and has at most 2 048 characters. */
  readonly resourceUri?: string | undefined;
  /**
   * Who may use the tool. Without `"model"`, no model sees or calls it, on any surface; only an app
   * does, by `surface: { name: "app", source }`. Without `"app"`, no app may call it.
   * @default ["model", "app"]
   */
  readonly visibility?: readonly ('model' | 'app')[] | undefined;
  /**
   * The page, which `createMcpHandler` serves at `resourceUri`: an HTML document of at most 4
   * million characters, or a function that returns one within 10 seconds. Tools may share a page;
   * one of them has it.
   * @default none
   */
  readonly html?: string | (() => MaybePromise<string>) | undefined;
}

/**
 * The fields that have one name, and whose types depend on the tool. An interface instead of an
 * alias would cost the compiler more wherever a tool is defined.
 */
export type OwnFields<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> = {
  /**
   * The tool's stable id: not blank, at most 1024 characters, in NFC, without white space at its
   * ends and without control, bidirectional or invisible characters.
   */
  name: Name;
  /**
   * The schema of the output. An output that violates it fails with `invalid_output`.
   * @default none
   */
  outputSchema?: OS;
  /** The tool's own settings and check, besides the rules. @default none */
  policy?: {
    /**
     * The schema of the tool's settings in a profile. A profile without them gives the parse of
     * `{}`.
     */
    knobs?: KS;
    /**
     * The tool's own check, after all rules. If it throws or returns no decision, the call is
     * denied.
     */
    check?(call: PolicyCall<ParsedOf<P>, KnobsOf<KS>, S>): MaybePromise<Decision>;
  };
  /**
   * What only the host knows about values of the input, for rules and policies: a function for each
   * path. See {@link Attribute}.
   * @default none
   */
  attributes?: Readonly<Record<string, Attribute<S>>> | undefined;
  /** Calls with the same key never overlap. @default no key */
  resourceKey?: string | ((input: ParsedOf<P>) => string) | undefined;
};

/** Everything in a tool's config except how it runs. */
export interface ToolSpecBase<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> extends PlainFields,
    OwnFields<Name, P, OS, KS, S> {
  /**
   * The schema of the input, of type object at its root. Every call is validated against it before
   * rules, policies and the handler see the input.
   */
  parameters: P;
  /** Asks for an approval before each call. A function can decide by the input. @default false */
  requiresApproval?: RequiresApproval<P, S>;
}

/** Whether a call needs an approval: always, with this question, or as a function decides. */
export type RequiresApproval<P, S> =
  | boolean
  | ApprovalPrompt
  | ((input: ParsedOf<P>, context: CallInfo<S>) => MaybePromise<boolean | ApprovalPrompt>)
  | undefined;

/**
 * The argument of a tool's own `check`. `input` and `knobs` are copies: changing them has no
 * effect.
 */
export interface PolicyCall<I, K, S> {
  /** The parsed input, with defaults. */
  readonly input: I;
  /** The tool's settings in the session's profile, parsed. */
  readonly knobs: K;
  /** The session and the call. */
  readonly context: CallInfo<S>;
  /** No objection. */
  allow(): Allow;
  /** Asks for an approval. `prompt` is the question. @default a text that names the tool */
  ask(prompt?: string): Ask;
  /**
   * Denies the call. `reason` is stable and matches `^[a-z][a-z0-9_]*$`. `message` tells the model
   * what to do instead.
   */
  deny(reason: string, message?: string): Deny;
}

/**
 * Looks up what only the host knows about a value of the input. It gets the value as the handler
 * would. With `*` in the path, or if the input has a list that the path does not expect, it gets
 * the list of all elements. It returns JSON such as `{ sanctioned: true }`, which a rule or quota
 * reads as `when: { "payee@sanctioned": true }`, or undefined. It is called once for a call that
 * waits for nothing, and again after each wait, only if a rule, quota or policy could read the
 * answer, and within the registry's `policyTimeoutMs`. If it throws, the call is denied. If only
 * shadow rules read it, they are skipped instead. It is not called for a value that the input does
 * not have.
 */
export type Attribute<S = unknown> = (
  value: unknown,
  context: CallInfo<S>,
) => MaybePromise<JsonValue | undefined>;
