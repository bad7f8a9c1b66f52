/**
 * Mocks: real definitions whose handler is scripted and whose calls are recorded. They pass every
 * gate that other tools pass.
 */

import type {
  Failure,
  HostToolDefinition,
  InputOf,
  JsonObject,
  KnobsOf,
  OutputFor,
  ParsedOf,
  Schema,
  ToolContext,
  ToolSpecBase,
  TypedJsonSchema,
} from '../index.ts';
import { fail, MisuseError } from '../index.ts';
import { anything, fn, kind, milliseconds, readOptions } from '../options.ts';
import { createDefinition, toolFieldNames } from '../surface-port.ts';

/** The parameters of a mock that names none: any object. */
export type AnyObject = TypedJsonSchema<JsonObject>;

/**
 * At most one of `output`, `error` and `handler`; the rest is what `defineTool` takes, all of it
 * optional but the name.
 */
export interface MockToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends Partial<Omit<ToolSpecBase<Name, P, OS, KS, S>, 'name'>> {
  /** As `defineTool` takes it. */
  name: Name;
  /** What each call gives. @default "Success" */
  output?: R;
  /**
   * How each call fails: a text or `{ message, reason?, … }` as by `fail()`, an Error as by a
   * throw.
   */
  error?: string | Failure | Error;
  /** Computes each call's outcome. */
  handler?: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  /**
   * Milliseconds that the handler waits first, on a timer that fake timers drive; the end of the
   * call ends the wait. @default no wait
   */
  delayMs?: number;
}

/** One run of a mock's handler. */
export interface MockCall<I = unknown> {
  /** As the handler got it: validated, with defaults. */
  readonly input: I;
  /** What the handler got beside its input. */
  readonly context: ToolContext;
}

/**
 * What a mock remembers. A call that a gate refused never reached the handler, and is not in it.
 */
export interface MockSpies<I = unknown> {
  /** In order. A copy: what was read before does not grow. */
  readonly calls: readonly MockCall<I>[];
  /** How many calls reached the handler since the start or the last `reset`. */
  readonly callCount: number;
  /** Undefined before the first call. */
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
 * @throws MisuseError for whatever `defineTool` refuses, for more than one of `output`, `error` and
 * `handler`, and for a `delayMs` that is no duration.
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
  config: MockToolConfig<Name, P, OS, KS, S, R>,
): MockTool<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S, ParsedOf<P>> {
  const { output, error, handler, delayMs, ...rest } = readOptions('mockTool', config, mockTable, {
    code: 'invalid_definition',
    noun: 'field',
  });
  const { name } = rest;
  const given = Object.entries({ output, error, handler }).filter(
    ([, value]) => value !== undefined,
  );
  if (given.length > 1)
    throw new MisuseError(
      'invalid_definition',
      `mockTool: expected at most one of \`output\`, \`error\` and \`handler\`, got ` +
        `${given.map(([key]) => `\`${key}\``).join(' and ')}.`,
    );

  const calls: MockCall[] = [];
  const outcome = (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>): unknown => {
    if (handler !== undefined) return handler(input, context);
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
    parameters = { type: 'object' },
  } = rest;
  return createDefinition({ ...rest, description, parameters, handler: run }, spies) as never;
}

const mockTable = {
  ...Object.fromEntries(toolFieldNames.map((name) => [name, anything()])),
  output: anything(),
  error: kind<string | Failure | Error>(
    'a string, { message, reason? } or an Error',
    (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  ),
  handler: fn<(input: unknown, context: unknown) => unknown>(),
  delayMs: milliseconds(0),
  name: anything(),
  description: anything(),
  parameters: anything(),
};

/** A generator, so that a handler that is one can follow its delay. */
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
