/** Runs the handler, once, under its deadline. A timeout ends the call at once. */
import type { Executor } from '../../../api/tool-config.ts';
import { errorName, type ToolError } from '../../../values/errors/index.ts';
import { cloneJson, type JsonObject } from '../../../values/json/index.ts';
import { nextTurn } from '../../../values/limits/stretches.ts';
import { ignoreRejection } from '../../../values/maybe-promise.ts';
import { readOutcome } from '../../result.ts';
import type { MadeHandler } from '../../tool/definition.ts';
import type { FoundCall } from '../call.ts';
import { emitEvent, HandlerContext, progress } from '../handler-context.ts';
import { sentWith } from '../output-snapshot.ts';
import { reportFault } from '../report-fault.ts';
import { failureError, thrownError } from '../thrown-error.ts';
import { startClock } from '../when-ready.ts';

export interface RunOptions {
  /** Takes the value that the handler returned: at most once, and not after the call has ended. */
  returned(call: FoundCall, value: unknown, metadata: JsonObject | undefined): void;
  /** Takes the error with which the handler failed, under the same conditions. */
  threw(call: FoundCall, error: ToolError): void;
  /** The handler settled after the call had ended. */
  late(call: FoundCall, settled: 'returned' | 'threw'): void;
}

/** Starts the clock and the handler. */
export function run(call: FoundCall, options: RunOptions): void {
  if (call.ended) return;
  const { session, binding } = call;
  const { internals } = binding.entry;
  const { registry } = session;
  // Read before the surface may replace the tool.
  const made = binding.handler?.now;
  const started = call.options?.surface?.started;
  if (started !== undefined) {
    notifyStarted(call, started);
    if (call.ended) return;
  }
  if (binding.begins !== undefined) for (const tell of binding.begins) tell(call);
  call.state = 'running';
  call.handlerLive = true;
  // A profile that changes from now on affects only later calls.
  call.knobs = binding.status.knobs;
  const now = call.paused ? registry.monotonic() : call.startedAt;
  startClock(call, now);
  if (internals.execution.idleTimeoutMs !== undefined)
    startIdle(call, internals.execution.idleTimeoutMs, now);
  try {
    if (internals.handler !== undefined) {
      call.begun = true;
      settle(call, options, internals.handler(call.parsed, new HandlerContext(call)));
    } else if (typeof call.options?.elsewhere === 'function') {
      call.begun = true;
      settle(call, options, call.options.elsewhere(call, cloneJson(call.canonical)));
    } else if (internals.executor !== undefined) {
      call.begun = true;
      settle(call, options, execute(call, internals.executor));
    } else {
      call.begun = true;
      settle(call, options, (made as MadeHandler).handler(call.parsed, new HandlerContext(call)));
    }
  } catch (thrown) {
    caught(call, options, thrown);
  }
}

/** Tells the surface that the handler starts. If the surface throws, the call is not affected. */
function notifyStarted(call: FoundCall, started: () => unknown): void {
  try {
    ignoreRejection(started());
  } catch (error) {
    reportFault(call, error, 'surface', 'the `started` callback of a surface threw');
  }
}

function settle(call: FoundCall, options: RunOptions, value: unknown): void {
  if (typeof value !== 'object' || value === null) return finish(call, options, value, undefined);
  if (isNativePromise(value)) return follow(call, options, value);
  let way: 'generator' | 'thenable' | 'value' = 'value';
  try {
    if (isGenerator(value)) way = 'generator';
    else if (typeof (value as { then?: unknown }).then === 'function') way = 'thenable';
  } catch {
    // The value throws when it is inspected. The snapshot will report that.
  }
  if (way === 'value') return returned(call, options, value);
  if (way === 'generator') {
    void drive(call, options, value as AsyncGenerator);
    return undefined;
  }
  return follow(call, options, Promise.resolve(value));
}

function follow(call: FoundCall, options: RunOptions, promise: Promise<unknown>): void {
  // If nothing of the host runs when the call is ended early, there is no need to remember where.
  const { extra, session } = call;
  if (
    extra !== undefined ||
    session.registry.observers !== undefined ||
    session.hasListener('tool:error')
  )
    call.keepScope();
  promise.then(
    (settled) => returned(call, options, settled),
    (thrown: unknown) => caught(call, options, thrown),
  );
}

/** A proxy may throw when it is inspected. It then does not count as a promise. */
function isNativePromise(value: object): value is Promise<unknown> {
  try {
    return value instanceof Promise;
  } catch {
    return false;
  }
}

function returned(call: FoundCall, options: RunOptions, value: unknown): void {
  let outcome: ReturnType<typeof readOutcome>;
  try {
    outcome = readOutcome(value);
  } catch {
    // It is a revoked proxy. The snapshot will report that.
  }
  if (outcome === undefined) return finish(call, options, value, undefined);
  if (outcome.kind === 'ok') {
    if (sentWith.has(outcome)) call.more.ensureOutcome().alongside = sentWith.get(outcome);
    return finish(call, options, outcome.output, outcome.metadata);
  }
  if (!settledOnce(call, options, 'returned')) return undefined;
  return options.threw(call, failureError(call, outcome.failure));
}

function finish(
  call: FoundCall,
  options: RunOptions,
  value: unknown,
  metadata: JsonObject | undefined,
): void {
  if (settledOnce(call, options, 'returned')) options.returned(call, value, metadata);
}

function caught(call: FoundCall, options: RunOptions, thrown: unknown): void {
  if (settledOnce(call, options, 'threw')) return options.threw(call, thrownError(call, thrown));
  // A handler that stops because of the signal has not failed.
  if (thrown !== call.extra?.outcome?.abortReason && errorName(thrown) !== 'AbortError')
    reportFault(call, thrown, 'handler', 'a handler threw after its call had ended');
}

/**
 * Whether the call still waits for its handler. If the call has ended, the late settling is
 * counted.
 */
function settledOnce(call: FoundCall, options: RunOptions, settled: 'returned' | 'threw'): boolean {
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

/** Milliseconds for which a generator that never waits may block the event loop at a time. */
const longestTurnMs = 5;

/** Runs a generator to its end. What it yields is progress, and what it returns is the result. */
async function drive(
  call: FoundCall,
  options: RunOptions,
  generator: AsyncGenerator,
): Promise<void> {
  const close = (): void => {
    // Not awaited: a generator that hangs in its clean-up must not delay the result.
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
  call.keepScope();
  const { registry } = call.session;
  let turn = registry.monotonic();
  try {
    for (let step = await generator.next(); ; step = await generator.next()) {
      if (step.done === true) return returned(call, options, await step.value);
      if (call.ended) return finish(call, options, null, undefined);
      yielded(call, step.value);
      if (registry.monotonic() - turn < longestTurnMs) continue;
      // A generator that never waits only lets microtasks run, so no deadline of any call would
      // fire.
      await nextTurn();
      turn = registry.monotonic();
    }
  } catch (thrown) {
    caught(call, options, thrown);
  }
}

function yielded(call: FoundCall, value: unknown): void {
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

function startIdle(call: FoundCall, idleTimeoutMs: number, now: number): void {
  const { registry } = call.session;
  const idle = {
    expire: () => registry.spine.expired(call, idleTimeoutMs),
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  call.more.idle = idle;
  registry.waiting.deadlines.add(idle, idleTimeoutMs, now);
}

/** Runs a call on its executor, in the place that it has taken there. */
function execute(call: FoundCall, executor: Executor): Promise<unknown> {
  const { extra } = call;
  const input = cloneJson(call.canonical);
  const context = new HandlerContext(call);
  const place = extra?.place;
  if (extra === undefined || place === undefined) return executor.execute(input, context);
  extra.place = undefined;
  return place.run(input, context);
}
