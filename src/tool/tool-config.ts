/** The config of a tool, and the types that follow from it. */
import type { ApprovalPrompt } from '../approval/request.ts';
import type { CallInfo, ToolContext } from '../context.ts';
import type { JsonValue } from '../json/index.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { OutputOrigin } from '../origins/origin.ts';
import type { Decision } from '../policy/decision.ts';
import type { Fail, Ok } from '../result.ts';
import type { InputOf, JsonSchema, ParsedOf, Schema } from '../schema/schema.ts';
import type { ToolAnnotations, ToolRef } from '../tool-summary.ts';
import type { Attribute } from './attributes.ts';
import type { Deprecation } from './deprecation.ts';
import type { Executor } from './executor.ts';
import type { FactRule } from './fact-rule.ts';
import type { PolicyCall } from './policy-call.ts';

declare const toolServices: unique symbol;

/** A tool's definition, made by {@link defineTool}. Frozen. It gives no access to the handler. */
export interface HostToolDefinition<
  Name extends string = string,
  I = unknown,
  O = unknown,
  K = unknown,
  in Services = never,
> extends ToolRef<I, O> {
  /** The stable id by which registries, profiles and rules refer to the tool. */
  readonly name: Name;
  /** What the tool does and when to use it, for the model. */
  readonly description: string;
  /** A name for people, if the tool has one. */
  readonly title?: string;
  /** The tool's version, if it has one. Part of the fingerprint. */
  readonly version?: string;
  /** The host's own grouping, if there is one. No check reads it. */
  readonly category?: string;
  /** Says that the tool should no longer be used. */
  readonly deprecated?: Deprecation;
  /**
   * `sha256:` and hex over the canonical JSON of name, description, schemas, annotations and
   * version. Tokens and grants are bound to it.
   */
  readonly fingerprint: string;
  /** The input as JSON Schema, always of type object. Frozen. */
  readonly parameters: JsonSchema;
  /** The output as JSON Schema, if the tool declares one. Frozen. */
  readonly outputSchema?: JsonSchema;
  /** Only for the compiler: it does not exist at run time. */
  readonly knobsType?: K;
  /** The hints of the config. {} if it has none. */
  readonly annotations: ToolAnnotations;
  /** The labels of the config. [] if it has none. */
  readonly tags: readonly string[];
  readonly [toolServices]?: (services: Services) => void;
}

/** Any definition that a registry over `Services` can hold. */
export type AnyTool<Services = never> = HostToolDefinition<
  string,
  unknown,
  unknown,
  unknown,
  Services
>;

/**
 * What a handler may return: a plain value, an {@link Ok}, a {@link Fail}, a promise of one of
 * them, or an async generator that yields progress and returns one of them.
 */
export type HandlerReturn<O> =
  | MaybePromise<O | Ok<O> | Fail>
  | AsyncGenerator<JsonValue | undefined, O | Ok<O> | Fail, unknown>;
type Plain<R> = R extends Fail ? never : R extends Ok<infer T> ? T : R extends void ? null : R;
type OutputFromReturn<R> =
  // biome-ignore lint/suspicious/noExplicitAny: what a generator yields does not affect its result.
  R extends AsyncGenerator<any, infer T, any> ? Plain<T> : Plain<Awaited<R>>;
type Needed<OS> = [OS] extends [Schema] ? InputOf<OS> : unknown;
/** The type of a call's output: that of the output schema, or what the handler returns. */
export type OutputFor<OS, R> = [OS] extends [Schema] ? ParsedOf<OS> : OutputFromReturn<R>;
/** The type of a tool's parsed knobs. An empty object if it declares none. */
export type KnobsOf<KS> = [KS] extends [Schema] ? ParsedOf<KS> : Readonly<Record<string, never>>;

/** Everything in a tool's config except how it runs. */
export interface ToolSpecBase<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> {
  /**
   * The tool's stable id: not blank, at most 1024 characters, in NFC, without white space at its
   * ends and without control, bidirectional or invisible characters.
   */
  name: Name;
  /** What the tool does and when to use it, for the model. Not blank. */
  description: string;
  /**
   * The schema of the input, of type object at its root. Every call is validated against it before
   * rules, policies and the handler see the input.
   */
  parameters: P;
  /**
   * The schema of the output. An output that violates it fails with `invalid_output`.
   * @default none
   */
  outputSchema?: OS;
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
  annotations?: ToolAnnotations | undefined;
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
  /** Asks for an approval before each call. A function can decide by the input. @default false */
  requiresApproval?:
    | boolean
    | ApprovalPrompt
    | ((input: ParsedOf<P>, context: CallInfo<S>) => MaybePromise<boolean | ApprovalPrompt>)
    | undefined;
  /**
   * What only the host knows about values of the input, for rules and policies: a function for each
   * path. See {@link Attribute}.
   * @default none
   */
  attributes?: Readonly<Record<string, Attribute<S>>> | undefined;
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
  /** Calls with the same key never overlap. @default no key */
  resourceKey?: string | ((input: ParsedOf<P>) => string) | undefined;
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
   * `session`: `create` makes a handler for each session.
   * @default "global", or "session" with `create`
   */
  scope?: 'global' | 'session' | undefined;
  /**
   * `internal`: never listed, and only tools that list it in `uses` can call it.
   * @default "model"
   */
  exposure?: 'model' | 'internal' | undefined;
}

/** A tool with one handler for all sessions, which runs in this process. */
export interface ToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /**
   * Does the work. Runs once all checks have passed. It may be async, or an async generator. If it
   * throws, the call fails with `handler_error`.
   */
  handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  create?: never;
  executor?: never;
  external?: never;
}

/** A tool whose calls run elsewhere: in a worker, in a process or behind a connection. */
export interface ExecutorToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /** Runs the calls. Several tools may share one executor. */
  executor: Executor;
  handler?: never;
  create?: never;
  external?: never;
}

/** A tool that other code runs, such as a coding agent's own tools. */
export interface ExternalToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /**
   * The code that runs the tool asks `session.authorize` before each call. The tool is listed to no
   * model, and `session.call` refuses it.
   */
  external: true;
  handler?: never;
  create?: never;
  executor?: never;
}

/** A tool with a handler for each session, such as one that holds a connection. */
export interface SessionToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /** Makes the session's handler, at its first call. The handler is disposed with the session. */
  create: (session: Omit<CallInfo<S>, 'callId' | 'toolName'>) => MaybePromise<{
    /** Runs one call. */
    handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
    /** Runs once, when the session closes. */
    dispose?(): MaybePromise<void>;
  }>;
  handler?: never;
  executor?: never;
  external?: never;
}

/**
 * The type of {@link defineTool} for services `S`. A config has exactly one of `handler`, `create`,
 * `executor` and `external`.
 * @throws MisuseError `invalid_definition` or `invalid_schema`.
 */
export type DefineTool<S> = <
  const Name extends string,
  const P extends Schema,
  const OS extends Schema | undefined = undefined,
  const KS extends Schema | undefined = undefined,
  R extends HandlerReturn<Needed<OS>> = HandlerReturn<Needed<OS>>,
>(
  config:
    | ToolConfig<Name, P, OS, KS, S, R>
    | SessionToolConfig<Name, P, OS, KS, S, R>
    | ExecutorToolConfig<Name, P, OS, KS, S>
    | ExternalToolConfig<Name, P, OS, KS, S>,
) => HostToolDefinition<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S>;
