/** The config of a tool, and the types that follow from it. */

import type { JsonValue } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import type { InputOf, JsonSchema, ParsedOf, Schema } from '../../values/schema/schema.ts';
import type { CallInfo, ToolContext } from '../context.ts';
import type { Fail, Ok } from '../result.ts';
import type { Deprecation } from './deprecation.ts';
import type { EitherSpelling } from './either-spelling.ts';
import type { Executor } from './executor.ts';
import type { KnobsOf, RequiresApproval, ToolSpecBase } from './spec-base.ts';
import type { ToolAnnotations, ToolRef } from './tool-summary.ts';

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
 * `executor` and `external`. The words of other libraries are accepted: `inputSchema` for
 * `parameters`, `execute` for `handler`, and `needsApproval` for `requiresApproval`.
 * @throws MisuseError `invalid_definition` or `invalid_schema`.
 */
export type DefineTool<S> = <
  const Name extends string,
  const P extends Schema,
  const OS extends Schema | undefined = undefined,
  const KS extends Schema | undefined = undefined,
  R extends HandlerReturn<Needed<OS>> = HandlerReturn<Needed<OS>>,
  Asks extends RequiresApproval<P, S> = undefined,
>(
  config: EitherSpelling<Name, P, OS, KS, S, R, Asks>,
) => HostToolDefinition<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S>;
