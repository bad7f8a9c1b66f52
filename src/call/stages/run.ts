/**
 * Run: the handler, once, under its deadline. A timeout stops the waiting at once; what the handler
 * does afterwards is only counted.
 */

import { describe, errorName, type ToolError } from '../../errors.ts';
import { cloneJson, type JsonObject } from '../../json.ts';
import { ignoreRejection } from '../../maybe-promise.ts';
import { readOutcome } from '../../result.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { createSessionHandler, type SessionHandler } from '../../state/session-handler.ts';
import type { MadeHandler } from '../../tool/definition.ts';
import { emitEvent, HandlerContext, progress } from '../handler-context.ts';
import { reportFault } from '../report-fault.ts';
import { failureError, thrownError } from '../thrown-error.ts';

export interface RunOptions {
  /** Takes what the handler returned, at most once, and never after the call has ended. */
  returned(call: Call, value: unknown, metadata: JsonObject | undefined): void;
  /** Takes what the handler failed with, under the same terms. */
  threw(call: Call, error: ToolError): void;
  /** The handler settled after the call had ended. */
  late(call: Call, settled: 'returned' | 'threw'): void;
}

/** Starts the clock and the handler. */
export function run(call: Call, options: RunOptions): void {
  if (call.ended) return;
  const { session } = call;
  const binding = call.binding as Binding;
  const { internals } = binding.entry;
  const { registry } = session;
  const asked = call.options?.timeoutMs;
  const timeoutMs = asked !== undefined && asked < binding.timeoutMs ? asked : binding.timeoutMs;
  const started = call.options?.surface?.started;
  if (started !== undefined) {
    tellStarted(call, started);
    if (call.ended) return;
  }
  call.timeoutMs = timeoutMs;
  call.state = 'running';
  call.handlerLive = true;
  // Those of the start: a profile that changes meanwhile concerns the next call.
  call.knobs = binding.knobs;
  const now = call.paused ? registry.monotonic() : call.startedAt;
  registry.deadlines.add(call, timeoutMs, now);
  if (internals.idleTimeoutMs !== undefined) startIdle(call, internals.idleTimeoutMs, now);
  try {
    if (internals.handler !== undefined) {
      settle(call, options, internals.handler(call.parsed, new HandlerContext(call)));
    } else if (internals.executor !== undefined) {
      settle(
        call,
        options,
        internals.executor.execute(cloneJson(call.canonical), new HandlerContext(call)),
      );
    } else {
      runSessionScoped(
        call,
        options,
        binding,
        internals.create as NonNullable<typeof internals.create>,
      );
    }
  } catch (thrown) {
    caught(call, options, thrown);
  }
}

/** An adapter only hears of the start: what it throws changes nothing. */
function tellStarted(call: Call, started: () => unknown): void {
  try {
    ignoreRejection(started());
  } catch (error) {
    reportFault(call, error, 'surface', 'a surface failed when it was told that the call starts');
  }
}

function runSessionScoped(
  call: Call,
  options: RunOptions,
  binding: Binding,
  create: NonNullable<Binding['entry']['internals']['create']>,
): void {
  const start = (made: MadeHandler): void => {
    if (call.ended) return finish(call, options, null, undefined);
    try {
      settle(call, options, made.handler(call.parsed, new HandlerContext(call)));
    } catch (thrown) {
      caught(call, options, thrown);
    }
    return undefined;
  };
  binding.handler ??= createSessionHandler(binding.entry);
  const { handler } = binding;
  if (handler.now !== undefined) return start(handler.now);
  handler.made ??= make(call, handler, create);
  void handler.made.then(start, (thrown: unknown) => caught(call, options, thrown));
  return undefined;
}

/** Makes a session's handler once. A failure is not kept: the next call tries again. */
function make(
  call: Call,
  handler: SessionHandler,
  create: NonNullable<Binding['entry']['internals']['create']>,
): Promise<MadeHandler> {
  const { callId: _callId, toolName: _toolName, ...info } = call.info();
  const { session } = call;
  session.retain();
  const made: Promise<MadeHandler> = Promise.resolve()
    .then(() => create(Object.freeze(info)))
    .then((one) => {
      if (typeof one !== 'object' || one === null || typeof one.handler !== 'function')
        throw new TypeError(
          `Expected \`create\` to answer { handler, dispose? }, got ${describe(one)}.`,
        );
      if (handler.made === made) handler.now = one;
      return one;
    })
    .catch((error: unknown) => {
      if (handler.made === made) {
        handler.made = undefined;
        session.release();
      }
      throw error;
    });
  return made;
}

function settle(call: Call, options: RunOptions, value: unknown): void {
  if (typeof value !== 'object' || value === null) return finish(call, options, value, undefined);
  if (isNativePromise(value)) return follow(call, options, value);
  let way: 'generator' | 'thenable' | 'value' = 'value';
  try {
    if (isGenerator(value)) way = 'generator';
    else if (typeof (value as { then?: unknown }).then === 'function') way = 'thenable';
  } catch {
    // A value that cannot even be looked at: normalising it will say so.
  }
  if (way === 'value') return returned(call, options, value);
  if (way === 'generator') {
    void drive(call, options, value as AsyncGenerator);
    return undefined;
  }
  return follow(call, options, Promise.resolve(value));
}

function follow(call: Call, options: RunOptions, promise: Promise<unknown>): void {
  promise.then(
    (settled) => returned(call, options, settled),
    (thrown: unknown) => caught(call, options, thrown),
  );
}

/** A proxy can throw when it is looked at; it is then no promise. */
function isNativePromise(value: object): value is Promise<unknown> {
  try {
    return value instanceof Promise;
  } catch {
    return false;
  }
}

function returned(call: Call, options: RunOptions, value: unknown): void {
  let outcome: ReturnType<typeof readOutcome>;
  try {
    outcome = readOutcome(value);
  } catch {
    // A revoked proxy: normalising it will say so.
  }
  if (outcome === undefined) return finish(call, options, value, undefined);
  if (outcome.kind === 'ok') return finish(call, options, outcome.output, outcome.metadata);
  if (!settledOnce(call, options, 'returned')) return undefined;
  return options.threw(call, failureError(call, outcome.failure));
}

function finish(
  call: Call,
  options: RunOptions,
  value: unknown,
  metadata: JsonObject | undefined,
): void {
  if (settledOnce(call, options, 'returned')) options.returned(call, value, metadata);
}

function caught(call: Call, options: RunOptions, thrown: unknown): void {
  if (settledOnce(call, options, 'threw')) return options.threw(call, thrownError(call, thrown));
  // That it stopped because it was told to is no failure.
  if (thrown !== call.extra?.abortReason && errorName(thrown) !== 'AbortError')
    reportFault(call, thrown, 'handler', 'a handler threw after its call had ended');
}

/**
 * Whether the call still waits for its handler; one that has ended only learns of the late
 * settling.
 */
function settledOnce(call: Call, options: RunOptions, settled: 'returned' | 'threw'): boolean {
  if (!call.handlerLive) return false;
  call.handlerLive = false;
  if (!call.ended) return true;
  options.late(call, settled);
  return false;
}

function isGenerator(value: object): value is AsyncGenerator {
  const { next, return: close } = value as { next?: unknown; return?: unknown };
  return (
    typeof next === 'function' &&
    typeof close === 'function' &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

/** Milliseconds that a generator which never waits may hold the event loop at a time. */
const longestTurnMs = 5;
// Taken when loaded: a test's fake of it must not keep a generator from going on.
const { setImmediate: soon = (run: () => void) => setTimeout(run, 0) } = globalThis;
const nextTurn = (): Promise<void> => new Promise((resolve) => void soon(resolve));

/** Runs a generator to its end: what it yields is progress, what it returns is the result. */
async function drive(call: Call, options: RunOptions, generator: AsyncGenerator): Promise<void> {
  const close = (): void => {
    // Not awaited: a generator that hangs in its clean-up must not hold the result.
    Promise.resolve()
      .then(() => generator.return(undefined))
      .then(undefined, (error: unknown) =>
        reportFault(call, error, 'handler', 'the clean-up of a generator threw'),
      );
  };
  if (call.ended) {
    close();
    return finish(call, options, null, undefined);
  }
  call.onEnd(close);
  const { registry } = call.session;
  let turn = registry.monotonic();
  try {
    for (let step = await generator.next(); ; step = await generator.next()) {
      if (step.done === true) return returned(call, options, await step.value);
      if (call.ended) return finish(call, options, null, undefined);
      yielded(call, step.value);
      if (registry.monotonic() - turn < longestTurnMs) continue;
      // A generator that never waits yields to microtasks alone, and no timer would fire: neither
      // its own deadline nor anybody's.
      await nextTurn();
      turn = registry.monotonic();
    }
  } catch (thrown) {
    caught(call, options, thrown);
  }
}

function yielded(call: Call, value: unknown): void {
  if (typeof value === 'string') return progress(call, 0, undefined, value);
  if (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { done?: unknown }).done === 'number'
  ) {
    const { done, total, message } = value as { done: number; total?: number; message?: string };
    return progress(call, done, total, message);
  }
  progress(call, Number.NaN);
  if (value !== undefined) emitEvent(call, 'yield', value);
  return undefined;
}

function startIdle(call: Call, idleTimeoutMs: number, now: number): void {
  const { registry } = call.session;
  const idle = {
    expire: () => registry.spine.expired(call, idleTimeoutMs),
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  call.more.idle = idle;
  registry.deadlines.add(idle, idleTimeoutMs, now);
}
