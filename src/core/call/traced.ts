/**
 * Informs the tracers that follow calls. Nothing that they do affects a call. The core knows only
 * the types, so that the code comes with the first tracer.
 */

import type { ToolContext, TraceContext } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { type Call, isFound } from './call.ts';
import {
  type CallEnd,
  type CallTrace,
  type CallTracer,
  type CallTracers,
  type CallTraces,
  type Phase,
  type Told,
  takeTraceContext,
} from './call-tracers.ts';
import { HandlerContext } from './handler-context.ts';
import { postedResult } from './posted-result.ts';
import { reportFault } from './report-fault.ts';
import { shownInput, shownText } from './shown.ts';
import { GoTo, type Next, type Step } from './step.ts';

/** The tracers of a registry. */
export class Tracers implements CallTracers {
  readonly all: readonly CallTracer[];

  constructor(all: readonly CallTracer[]) {
    this.all = all;
  }

  begin(call: Call): void {
    const { session, toolName, callId, parent } = call;
    const entry = session.entryOf(toolName);
    const start = {
      callId,
      tool: entry === undefined ? undefined : toolName,
      description: entry === undefined ? undefined : shownText(call, entry.definition.description),
      executor: entry?.internals.runsIn,
      ownTool: entry !== undefined && session.tools.own?.get(toolName) === entry,
      sessionId: session.sessionId,
      principal: session.actor.principal,
      actor: session.actor,
      surface: call.surfaceName,
      parentCallId: call.caller?.callId,
      parents: parent?.extra?.traces?.all,
      // A child call did not come from the caller, so the caller's trace is not its parent.
      from: parent === undefined ? takeTraceContext(call.surface?.traceContext) : undefined,
      suspended: call.resumed?.trace,
    };
    const traces: CallTrace[] = [];
    for (const tracer of this.all) guarded(call, () => void traces.push(tracer.begin(start)));
    if (traces.length === 0) return;
    if (!call.ended) call.more.traces = new Traces(call, traces);
    // A tracer may run the host's code, and that may have closed the session.
    else for (const trace of traces) guarded(call, () => trace.ended(endedEarly));
  }
}

const endedEarly: CallEnd = Object.freeze({
  code: 'session_closed',
  ruleId: undefined,
  reason: undefined,
  approvalId: undefined,
  durationMs: 0,
  message: undefined,
  input: () => null,
  output: () => undefined,
});

/** What follows one call. */
class Traces implements CallTraces {
  readonly all: readonly CallTrace[];
  readonly #call: Call;

  constructor(call: Call, all: readonly CallTrace[]) {
    this.#call = call;
    this.all = all;
  }

  during(phase: Phase, stage: () => Step): Step {
    const outcome = this.run(phase, stage);
    const left = (settled: Next): Next => {
      this.left(phase, settled instanceof GoTo ? undefined : settled);
      return settled;
    };
    return outcome instanceof Promise ? outcome.then(left) : left(outcome);
  }

  run<T>(phase: Phase, run: () => T): T | undefined {
    return within(this.#call, this.all, phase, run);
  }

  left(phase: Phase, error: ToolError | undefined): void {
    const call = this.#call;
    if (call.ended) return;
    const told = toldOf(call, error);
    for (const trace of this.all) guarded(call, () => trace.left(phase, told));
  }

  ended(result: ToolResult): void {
    const call = this.#call;
    call.more.traces = undefined;
    const error = result.success ? undefined : result.error;
    const { code, ruleId, reason, approvalId } = toldOf(call, error);
    const end = {
      code,
      ruleId,
      reason,
      approvalId,
      durationMs: result.metadata.durationMs,
      message: error?.message,
      input: () => shownInput(call),
      output: () => {
        if (!result.success || !isFound(call)) return undefined;
        return (postedResult(call, result) as { output: never }).output;
      },
    };
    for (const trace of this.all) guarded(call, () => trace.ended(end));
  }

  place(): TraceContext | undefined {
    let place: TraceContext | undefined;
    for (const trace of this.all)
      guarded(this.#call, () => {
        place ??= takeTraceContext(trace.place?.());
      });
    return place;
  }
}

/**
 * The place of a handler's call in a trace, to be sent with the requests that the handler makes.
 * Undefined if no tracer follows the call, or the context is not the one that the handler got.
 */
export function traceContextOf(context: ToolContext): TraceContext | undefined {
  return HandlerContext.callOf(context)?.extra?.traces?.place();
}

function toldOf({ verdict, extra }: Call, error: ToolError | undefined): Told {
  return {
    code: error?.code,
    ruleId: error?.ruleId ?? verdict?.ruleId,
    reason: error?.reason ?? verdict?.reason,
    approvalId: extra?.question?.id,
  };
}

/**
 * Runs `run` inside all traces, once, even if a trace fails to run it. Throws what `run` throws.
 */
function within<T>(
  call: Call,
  traces: readonly CallTrace[],
  phase: Phase,
  run: () => T,
): T | undefined {
  let begun = false;
  let value: T | undefined;
  let fault: { readonly thrown: unknown } | undefined;
  const once = (): void => {
    if (begun) return;
    begun = true;
    try {
      value = run();
    } catch (thrown) {
      fault = { thrown };
    }
  };
  let layer = once;
  for (const trace of traces) {
    const inner = layer;
    layer = () => guarded(call, () => trace.within(phase, inner));
  }
  layer();
  once();
  // The compiler's analysis does not see that `once` has run.
  const failed = fault as { readonly thrown: unknown } | undefined;
  if (failed !== undefined) throw failed.thrown;
  return value;
}

function guarded(call: Call, run: () => void): void {
  try {
    run();
  } catch (error) {
    reportFault(call, error, 'telemetry', 'a call could not be traced');
  }
}
