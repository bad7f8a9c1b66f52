/** What a host writes to define a tool, and what follows from it in types. */
import type { ApprovalPrompt } from '../approval/request.ts';
import type { CallInfo, ToolContext } from '../context.ts';
import type { JsonObject, JsonPrimitive, JsonValue } from '../json.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Allow, Ask, Decision, Deny } from '../policy/decision.ts';
import type { Fail, Ok } from '../result.ts';
import type { InputOf, JsonSchema, ParsedOf, Schema } from '../schema/schema.ts';
import type { ToolAnnotations, ToolRef } from '../tool-summary.ts';

declare const toolServices: unique symbol;

/** What a tool is, made by {@link defineTool}. Frozen; it cannot be run from. */
export interface HostToolDefinition<
  Name extends string = string,
  I = unknown,
  O = unknown,
  K = unknown,
  in Services = never,
> extends ToolRef<I, O> {
  /** Stable id; what registries, profiles and rules know it by. */
  readonly name: Name;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** A name for people, where it has one. */
  readonly title?: string;
  /** The tool's own version, where it has one. Part of the fingerprint. */
  readonly version?: string;
  /** The host's own grouping, where it has one; no gate reads it. */
  readonly category?: string;
  /**
   * `sha256:` and hex over the canonical JSON of name, description, schemas, annotations and
   * version. Tokens and grants bind it.
   */
  readonly fingerprint: string;
  /** The input as JSON Schema: always of type object, frozen. */
  readonly parameters: JsonSchema;
  /** The output as JSON Schema, frozen; absent where none was declared. */
  readonly outputSchema?: JsonSchema;
  /** For the compiler alone; never there at run time. */
  readonly knobsType?: K;
  /** Hints as they were given; {} without any. */
  readonly annotations: ToolAnnotations;
  /** Labels as they were given; [] without any. */
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
 * What a handler may return: a plain value, {@link Ok}, {@link Fail}, or an async generator that
 * yields progress and returns one of them.
 */
export type HandlerReturn<O> =
  | MaybePromise<O | Ok<O> | Fail>
  | AsyncGenerator<JsonValue | undefined, O | Ok<O> | Fail, unknown>;
type Plain<R> = R extends Fail ? never : R extends Ok<infer T> ? T : R extends void ? null : R;
type OutputFromReturn<R> =
  // biome-ignore lint/suspicious/noExplicitAny: what a generator yields does not matter to its result.
  R extends AsyncGenerator<any, infer T, any> ? Plain<T> : Plain<Awaited<R>>;
type Needed<OS> = [OS] extends [Schema] ? InputOf<OS> : unknown;
/** What a caller gets: the output schema's type, else what the handler returns. */
export type OutputFor<OS, R> = [OS] extends [Schema] ? ParsedOf<OS> : OutputFromReturn<R>;
/** The type of a tool's parsed knobs; an empty object where it declares none. */
export type KnobsOf<KS> = [KS] extends [Schema] ? ParsedOf<KS> : Readonly<Record<string, never>>;

/**
 * What a tool's own `check` is given. `input` and `knobs` are its own: changing them changes
 * nothing.
 */
export interface PolicyCall<I, K, S> {
  /** The parsed input, with defaults. */
  readonly input: I;
  /** The tool's settings in the session's profile, parsed. */
  readonly knobs: K;
  /** Who calls, and where. */
  readonly context: CallInfo<S>;
  /** No objection. */
  allow(): Allow;
  /** A person must say yes first. `prompt` is the question. @default a text that names the tool */
  ask(prompt?: string): Ask;
  /**
   * No. `reason` is stable and matches `^[a-z][a-z0-9_]*$`; `message` tells the model what to do
   * instead.
   */
  deny(reason: string, message?: string): Deny;
}

/** A condition on one session fact. */
export type FactRule =
  | { readonly fact: string; readonly equals: JsonPrimitive }
  | { readonly fact: string; readonly in: readonly JsonPrimitive[] };

/** Everything about a tool but the way it runs. */
export interface ToolSpecBase<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> {
  /**
   * Stable id: non-blank, at most 1024 characters; untrimmed, non-NFC, control, bidi and invisible
   * characters are refused.
   */
  name: Name;
  /** What it does and when to use it, for the model. */
  description: string;
  /**
   * The input's schema: of type object, at its top. Every call is validated by it before any gate
   * sees it.
   */
  parameters: P;
  /** Enforced: an output that violates it is `invalid_output`. */
  outputSchema?: OS;
  /** A name for people; models and rules go by `name`. @default none */
  title?: string | undefined;
  /**
   * The tool's own version. Part of the fingerprint: a new one voids tokens and grants of the old.
   * @default none
   */
  version?: string | undefined;
  /** The host's own grouping, for its lists; no gate reads it. @default none */
  category?: string | undefined;
  /** Labels that rules can name. @default none */
  tags?: readonly string[] | undefined;
  /** Hints that rules and surfaces read. @default {}: every hint is false */
  annotations?: ToolAnnotations | undefined;
  /** What decides about calls of this tool beside the rules. @default no opinion */
  policy?: {
    /** The tool's settings in a profile. Not given there, they are the parse of `{}`. */
    knobs?: KS;
    /** The tool's own gate, after all rules. One that throws or answers nonsense denies. */
    check?(call: PolicyCall<ParsedOf<P>, KnobsOf<KS>, S>): MaybePromise<Decision>;
  };
  /** Asks a person before the call. A function may decide by the input. @default false */
  requiresApproval?:
    | boolean
    | ApprovalPrompt
    | ((input: ParsedOf<P>, context: CallInfo<S>) => MaybePromise<boolean | ApprovalPrompt>)
    | undefined;
  /**
   * Milliseconds the handler may run. Starts with the handler: waits for people and slots never
   * count. Above 0, at most 2^31-1. @default the registry's `defaultTimeoutMs`
   */
  timeoutMs?: number | undefined;
  /** Milliseconds without `context.progress()` after which the call times out. Off unless set. */
  idleTimeoutMs?: number | undefined;
  /** Facts that must hold for the tool to be available. */
  requires?: readonly FactRule[] | undefined;
  /**
   * Facts that this tool can bring about; named as prerequisites of the tools that wait for them.
   */
  provides?: readonly string[] | undefined;
  /** Whether a batch may run it beside others. @default `annotations.readOnly === true` */
  parallelSafe?: boolean | undefined;
  /** Calls with the same key never overlap. */
  resourceKey?: string | ((input: ParsedOf<P>) => string) | undefined;
  /** Budget of the model-visible output, in UTF-16 code units. */
  maxOutputChars?: number | undefined;
  /** Which end is kept when output is cut. @default "head" */
  outputStrategy?: 'head' | 'head_tail' | undefined;
  /** Calls at once over the whole registry. No bound unless set. */
  maxConcurrency?: number | undefined;
  /** The tools that the handler may call by `context.tools.call`. */
  uses?: readonly (string | ToolRef)[] | undefined;
  /** The event names that the handler may send by `context.emit`. */
  events?: readonly string[] | undefined;
  /** `session`: made once a session by `create`. @default "global", or "session" with `create` */
  scope?: 'global' | 'session' | undefined;
  /** `internal`: never listed, callable through `uses` alone. @default "model" */
  exposure?: 'model' | 'internal' | undefined;
}

/** A tool whose handler runs in this process and is the same for all sessions. */
export interface ToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /**
   * Does the work, once all gates have passed; may be async, or an async generator. A throw is
   * `handler_error`.
   */
  handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  create?: never;
  executor?: never;
}

/** Where a handler runs when it is not inline. `execute` gets the canonical input. */
export interface Executor {
  /** What kind of place it is. */
  readonly kind: 'worker' | 'process' | 'remote';
  /** Runs one call. It is to stop when `context.signal` aborts. A rejection is `handler_error`. */
  execute(input: JsonObject, context: ToolContext): Promise<unknown>;
  /**
   * Frees the place, once, when no tool of the registry uses it any more or the registry closes.
   */
  dispose?(): MaybePromise<void>;
}

/** A tool whose handler runs elsewhere: in a worker, in a process, behind a connection. */
export interface ExecutorToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /** Where the handler runs. Tools may share one. */
  executor: Executor;
  handler?: never;
  create?: never;
}

/**
 * A tool whose handler is made anew for each session that calls it, such as one that holds a
 * connection.
 */
export interface SessionToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /** Makes the handler, once a session, at its first call; disposed with the session. */
  create: (session: Omit<CallInfo<S>, 'callId' | 'toolName'>) => MaybePromise<{
    /** Runs one call. */
    handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
    /** Runs once, when the session closes. */
    dispose?(): MaybePromise<void>;
  }>;
  handler?: never;
  executor?: never;
}

/**
 * The signature of {@link defineTool} over services `S`: one of `handler`, `create` and `executor`.
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
    | ExecutorToolConfig<Name, P, OS, KS, S>,
) => HostToolDefinition<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S>;
