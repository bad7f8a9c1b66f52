/** The config of a tool, and the types that follow from it. */

import type { JsonObject, JsonValue } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { InputOf, ParsedOf, Schema } from '../values/schema/schema.ts';
import type { ApprovalPrompt } from './approval.ts';
import type { CallInfo, ToolContext } from './context.ts';
import type { CredentialNames, CredentialNeeds } from './credentials.ts';
import type { Fail, Ok } from './result.ts';
import type { HostToolDefinition } from './tool.ts';
import type {
  KnobsOf,
  OwnFields,
  PlainFields,
  RequiresApproval,
  ToolSpecBase,
} from './tool-fields.ts';

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
  C extends CredentialNeeds | undefined = undefined,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /**
   * The credentials of the principal that it needs, by names of the host. The registry's
   * `credentials` gives them, and the handler has them as `context.credentials`.
   * @default none
   */
  credentials?: C;
  /**
   * Does the work. Runs once all checks have passed. It may be async, or an async generator. If it
   * throws, the call fails with `handler_error`.
   */
  handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>, CredentialNames<C>>) => R;
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
  C extends CredentialNeeds | undefined = undefined,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  /**
   * The credentials of the principal that it needs, by names of the host. The registry's
   * `credentials` gives them, and the handler has them as `context.credentials`.
   * @default none
   */
  credentials?: C;
  /** Makes the session's handler, at its first call. The handler is disposed with the session. */
  create: (session: Omit<CallInfo<S>, 'callId' | 'toolName'>) => MaybePromise<{
    /** Runs one call. */
    handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>, CredentialNames<C>>) => R;
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
  const C extends CredentialNeeds | undefined = undefined,
>(
  config: EitherSpelling<Name, P, OS, KS, S, R, Asks, C>,
) => HostToolDefinition<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S>;

/** Runs a tool's calls somewhere else: in a worker, in a process or in a remote service. */
export interface Executor {
  /**
   * The name of the place where the calls run, for metrics, traces and reports. The library's own
   * executors use `thread`, `process`, `fleet` and `remote`. Yours may be any word of 1 to 32
   * lower-case letters, digits, `-` and `_` that begins with a letter, except `inline` and
   * `external`. It is read once, by `defineTool`, and must be the object's own property.
   * @default "custom"
   */
  readonly kind?: string | undefined;
  /**
   * Runs one call with the validated input. It must stop when `context.signal` aborts. If it
   * rejects, the call fails with `handler_error`. It is called in the turn of the event loop in
   * which the call was last judged, and the call is not judged again after what it waits for.
   */
  execute(input: JsonObject, context: ToolContext<unknown, unknown, string>): Promise<unknown>;
  /**
   * Frees the executor's resources. Called when its last tool has been removed and the calls to it
   * have ended. A registry that closes removes its tools; those of other registries in the process
   * count too. Closing waits for it at most `policyTimeoutMs`. If a tool is registered with the
   * executor later, `execute` is called again, and `dispose` at the end.
   */
  dispose?(): MaybePromise<void>;
}

/**
 * Any config, with one name of each pair. It is written out in one alias, because the compiler
 * would work out each further interface or alias in it for all ten combinations. The names of this
 * library come last, because the compiler's message about a missing field names the last one.
 * @template Asks the type of `needsApproval`; undefined if it is not given
 */
export type EitherSpelling<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
  Asks,
  C extends CredentialNeeds | undefined = undefined,
> = PlainFields &
  OwnFields<Name, P, OS, KS, S> & {
    /**
     * The credentials of the principal that it needs, by names of the host. The registry's
     * `credentials` gives them, and the handler has them as `context.credentials`.
     * @default none
     */
    credentials?: C;
    /**
     * Takes a call back, for `session.revert`: gets what the handler returned, and the input that
     * it had. It runs as a call of its own, named `<name>.revert`, with that call's context.
     * @default calls cannot be taken back
     */
    revert?: (output: OutputFor<OS, R>, input: ParsedOf<P>, context: ToolContext<S>) => unknown;
    /** Asks for an approval before each call. A function can decide by the input. @default false */
    requiresApproval?: [undefined] extends [Asks] ? RequiresApproval<P, S> : undefined;
    /** The same as `requiresApproval`. Give one of them. */
    needsApproval?:
      | Asks
      | ((input: ParsedOf<P>, context: CallInfo<S>) => MaybePromise<boolean | ApprovalPrompt>);
  } & (
    | {
        /** The same as `parameters`. Give one of them. */
        inputSchema: P;
        parameters?: undefined;
      }
    | {
        /**
         * The schema of the input, of type object at its root. Every call is validated against it
         * before rules, policies and the handler see the input.
         */
        parameters: P;
        inputSchema?: undefined;
      }
  ) &
  (
    | {
        /**
         * The code that runs the tool asks `session.authorize` before each call. The tool is listed
         * to no model, and `session.call` refuses it.
         */
        external: true;
        handler?: undefined;
        execute?: undefined;
        create?: undefined;
        executor?: undefined;
      }
    | {
        /** Runs the calls. Several tools may share one executor. */
        executor: Executor;
        handler?: undefined;
        execute?: undefined;
        create?: undefined;
        external?: undefined;
      }
    | {
        /**
         * Makes the session's handler, at its first call. The handler is disposed with the session.
         */
        create: (session: Omit<CallInfo<S>, 'callId' | 'toolName'>) => MaybePromise<{
          /** Runs one call. */
          handler: (
            input: ParsedOf<P>,
            context: ToolContext<S, KnobsOf<KS>, CredentialNames<C>>,
          ) => R;
          /** Runs once, when the session closes. */
          dispose?(): MaybePromise<void>;
        }>;
        handler?: undefined;
        execute?: undefined;
        executor?: undefined;
        external?: undefined;
      }
    | {
        /** The same as `handler`. Give one of them. */
        execute: (
          input: ParsedOf<P>,
          context: ToolContext<S, KnobsOf<KS>, CredentialNames<C>>,
        ) => R;
        handler?: undefined;
        create?: undefined;
        executor?: undefined;
        external?: undefined;
      }
    | {
        /**
         * Does the work. Runs once all checks have passed. It may be async, or an async generator.
         * If it throws, the call fails with `handler_error`.
         */
        handler: (
          input: ParsedOf<P>,
          context: ToolContext<S, KnobsOf<KS>, CredentialNames<C>>,
        ) => R;
        execute?: undefined;
        create?: undefined;
        executor?: undefined;
        external?: undefined;
      }
  );
