/** Informs the tracers that follow calls. Nothing that they do affects a call. */

import type { ToolContext, TraceContext } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { type Call, type FoundCall, isFound } from './call.ts';
import type { CallEnd, CallTrace, CallTracer, Phase, Told } from './call-tracers.ts';
import { HandlerContext } from './handler-context.ts';
import { postedResult } from './posted-result.ts';
import { reportFault } from './report-fault.ts';
import { shownInput, shownText } from './shown.ts';
import { GoTo, type Next, type Step } from './step.ts';
import { takeTraceContext } from './trace-context.ts';

/** Begins to follow a call. */
export function beginTraces(call: Call, tracers: readonly CallTracer[]): void {
  const { session, toolName, callId, parent } = call;
  const entry = session.entryOf(toolName);
  const start = {
    callId,
    tool: entry === undefined ? undefined : toolName,
    description: entry === undefined ? undefined : shownText(call, entry.definition.description),
    executor: entry?.internals.runsIn,
    ownTool: entry !== undefined && session.own?.get(toolName) === entry,
    sessionId: session.sessionId,
    principal: session.actor,
    surface: call.surfaceName,
    parents: parent?.extra?.traces,
    // A child call did not come from the caller, so the caller's trace is not its parent.
    from: parent === undefined ? takeTraceContext(call.surface?.traceContext) : undefined,
  };
  const traces: CallTrace[] = [];
  for (const tracer of tracers) guarded(call, () => void traces.push(tracer.begin(start)));
  if (traces.length === 0) return;
  if (!call.ended) call.more.traces = traces;
  // A tracer may run the host's code, and that may have closed the session.
  else for (const trace of traces) guarded(call, () => trace.ended(endedEarly));
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

/** Runs a stage as a phase of its call. */
export function inPhase<C extends Call>(call: C, phase: Phase, stage: (call: C) => Step): Step {
  const traces = call.extra?.traces;
  if (traces === undefined) return stage(call);
  const outcome = within(call, traces, phase, () => stage(call));
  const left = (settled: Next): Next => {
    leave(call, phase, settled instanceof GoTo ? undefined : settled);
    return settled;
  };
  return outcome instanceof Promise ? outcome.then(left) : left(outcome);
}

/** Runs the code that starts a handler, so that spans of the handler belong to its call. */
export function inRun(call: FoundCall, run: (call: FoundCall) => void): void {
  const traces = call.extra?.traces;
  if (traces === undefined) run(call);
  else within(call, traces, 'run', () => run(call));
}

/** Notes that a phase is over. A call that has ended has closed its phases. */
export function leave(call: Call, phase: Phase, error: ToolError | undefined): void {
  const traces = call.extra?.traces;
  if (traces === undefined || call.ended) return;
  const told = toldOf(call, error);
  for (const trace of traces) guarded(call, () => trace.left(phase, told));
}

/** Notes the end of a call. */
export function endTraces(call: Call, result: ToolResult): void {
  const { extra } = call;
  const traces = extra?.traces;
  if (extra === undefined || traces === undefined) return;
  extra.traces = undefined;
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
  for (const trace of traces) guarded(call, () => trace.ended(end));
}

/**
 * The place of a handler's call in a trace, to be sent with the requests that the handler makes.
 * Undefined if no tracer follows the call, or the context is not the one that the handler got.
 */
export function traceContextOf(context: ToolContext): TraceContext | undefined {
  const call = HandlerContext.callOf(context);
  const traces = call?.extra?.traces;
  if (call === undefined || traces === undefined) return undefined;
  let place: TraceContext | undefined;
  for (const trace of traces)
    guarded(call, () => {
      place ??= takeTraceContext(trace.place?.());
    });
  return place;
}

function toldOf({ verdict, extra }: Call, error: ToolError | undefined): Told {
  return {
    code: error?.code,
    ruleId: error?.ruleId ?? verdict?.ruleId,
    reason: error?.reason ?? verdict?.reason,
    approvalId: extra?.approval?.id,
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
