/**
 * Mocks are real definitions with a scripted handler whose calls are recorded. They pass the same
 * gates as other tools.
 */

import {
  type Failure,
  fail,
  type HostToolDefinition,
  type InputOf,
  type JsonObject,
  type KnobsOf,
  MisuseError,
  type OutputFor,
  type ParsedOf,
  type Schema,
  type ToolContext,
  type ToolSpecBase,
  type TypedJsonSchema,
} from '../../core.ts';
import { createDefinition, optionNames } from '../../extend.ts';
import { anything, fn, kind, milliseconds, readOptions } from '../../values/options/index.ts';

/** The parameters of a mock for which none are given: any object. */
export type AnyObject = TypedJsonSchema<JsonObject>;

/**
 * Takes at most one of `output`, `error` and `handler`. The other fields are those of `defineTool`;
 * only `name` is required. As there, a field that has two names may have one of them.
 */
export interface MockToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends Partial<Omit<ToolSpecBase<Name, P, OS, KS, S>, 'name'>> {
  /** The name of the tool, as for `defineTool`. */
  name: Name;
  /** The output of each call. @default "Success" */
  output?: R;
  /**
   * Makes each call fail. A text or `{ message, reason?, … }` acts like `fail()`; an Error is
   * thrown.
   */
  error?: string | Failure | Error;
  /** Computes each call's outcome. */
  handler?: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  /** The same as `handler`. */
  execute?: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  /** The same as `parameters`. */
  inputSchema?: P;
  /** The same as `requiresApproval`. */
  needsApproval?: ToolSpecBase<Name, P, OS, KS, S>['requiresApproval'];
  /**
   * How long the handler waits before it answers, in milliseconds. Fake timers drive the wait, and
   * the end of the call ends it. @default no wait
   */
  delayMs?: number;
}

/** Refuses both names of a field. */
type OneNameEach = ({ parameters?: undefined } | { inputSchema?: undefined }) &
  ({ handler?: undefined } | { execute?: undefined }) &
  ({ requiresApproval?: undefined } | { needsApproval?: undefined });

/** One run of a mock's handler. */
export interface MockCall<I = unknown> {
  /** The input as the handler got it: validated, with defaults. */
  readonly input: I;
  /** The context that the handler got. */
  readonly context: ToolContext;
}

/** What a mock remembers: the calls that reached its handler, and so none that a gate refused. */
export interface MockSpies<I = unknown> {
  /** The calls, in order. Each read returns a copy, which does not grow. */
  readonly calls: readonly MockCall<I>[];
  /** How many calls reached the handler since the start or the last `reset`. */
  readonly callCount: number;
  /** The input of the last call, or undefined before the first one. */
  readonly lastInput: I | undefined;
  /** Forgets the calls. */
  readonly reset: () => void;
}

/** A real definition that remembers the calls of its handler. */
export type MockTool<
  Name extends string = string,
  I = unknown,
  O = unknown,
  K = unknown,
  S = unknown,
  P = I,
> = HostToolDefinition<Name, I, O, K, S> & MockSpies<P>;

/**
 * Defines a tool that returns a fixed output or failure, and remembers its calls.
 * @throws MisuseError in the cases in which `defineTool` throws, if more than one of `output`,
 * `error` and `handler` is given, and if `delayMs` is not a duration.
 *
 * @example
 * ```ts
 * import { createTestSession, mockTool } from 'host-tools/testing';
 *
 * const weather = mockTool({ name: 'weather', output: 'Sun' });
 * const session = createTestSession({ tools: [weather] });
 * await session.call(weather, { city: 'Oslo' });
 * console.log(weather.calls.length); // 1
 * ```
 */
export function mockTool<
  const Name extends string,
  const P extends Schema = AnyObject,
  const OS extends Schema | undefined = undefined,
  const KS extends Schema | undefined = undefined,
  S = unknown,
  R = string,
>(
  config: MockToolConfig<Name, P, OS, KS, S, R> & OneNameEach,
): MockTool<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S, ParsedOf<P>> {
  const { output, error, handler, execute, delayMs, ...rest } = readOptions(
    'mockTool',
    config,
    mockTable,
    { code: 'invalid_definition', noun: 'field', refusesInherited: true },
  );
  const { name } = rest;
  const given = Object.entries({ output, error, handler, execute }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1)
    throw new MisuseError(
      'invalid_definition',
      `mockTool: expected at most one of \`output\`, \`error\` and \`handler\`, got ` +
        `${given.map(([key]) => `\`${key}\``).join(' and ')}.`,
    );

  const script = handler ?? execute;
  const calls: MockCall[] = [];
  const outcome = (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>): unknown => {
    if (script !== undefined) return script(input, context);
    if (error instanceof Error) throw error;
    if (error !== undefined) return fail(error);
    return output === undefined ? 'Success' : output;
  };
  const run = (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>): unknown => {
    calls.push(Object.freeze({ input, context: context as ToolContext }));
    return delayMs === undefined
      ? outcome(input, context)
      : delayed(delayMs, context.signal, () => outcome(input, context));
  };
  const spies: PropertyDescriptorMap = {
    calls: { get: () => Object.freeze([...calls]) },
    callCount: { get: () => calls.length },
    lastInput: { get: () => calls.at(-1)?.input },
    reset: {
      value: () => {
        calls.length = 0;
      },
    },
  };
  const {
    description = `Mock tool: ${typeof name === 'string' ? name : 'without a name'}`,
    parameters = rest.inputSchema === undefined ? { type: 'object' } : undefined,
  } = rest;
  return createDefinition(
    { ...rest, description, parameters, handler: run },
    { members: spies },
  ) as never;
}

const mockTable = {
  ...Object.fromEntries(optionNames.tool.map((name) => [name, anything()])),
  output: anything(),
  error: kind<string | Failure | Error>(
    'a string, { message, reason? } or an Error',
    (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  ),
  handler: fn<(input: unknown, context: unknown) => unknown>(),
  execute: fn<(input: unknown, context: unknown) => unknown>(),
  delayMs: milliseconds(0),
  name: anything(),
  description: anything(),
  parameters: anything(),
  inputSchema: anything(),
};

/** A generator, so that a handler that is itself a generator can follow the delay. */
async function* delayed(ms: number, signal: AbortSignal, outcome: () => unknown): AsyncGenerator {
  await wait(ms, signal);
  const value = outcome();
  return isGenerator(value) ? yield* value : await value;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function isGenerator(value: unknown): value is AsyncGenerator {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof (value as { next?: unknown }).next === 'function'
  );
}
