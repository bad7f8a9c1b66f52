/**
 * A config as {@link defineTool} takes it: with the names of this library, or with those that other
 * libraries have for the same fields.
 */

import type { MaybePromise } from '../../values/maybe-promise.ts';
import type { ParsedOf, Schema } from '../../values/schema/schema.ts';
import type { ApprovalPrompt } from '../approval/request.ts';
import type { CallInfo, ToolContext } from '../context.ts';
import type { Executor } from './executor.ts';
import type { KnobsOf, OwnFields, PlainFields, RequiresApproval } from './spec-base.ts';

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
> = PlainFields &
  OwnFields<Name, P, OS, KS, S> & {
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
          handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
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
        execute: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
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
        handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
        execute?: undefined;
        create?: undefined;
        executor?: undefined;
        external?: undefined;
      }
  );
