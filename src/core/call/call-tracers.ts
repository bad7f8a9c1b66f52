/** The port behind telemetry: tracers follow calls while they run. */

import type { TraceContext } from '../../api/context.ts';
import type { Actor } from '../../api/delegation.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { Call } from './call.ts';
import type { Step } from './step.ts';

/** The phases of a call that are traced separately. A call may have several phases `policy`. */
export type Phase = 'policy' | 'approval' | 'run';

/** What is known about a call when it arrives. */
export interface CallStart {
  /** The id of the call, unique in its session. */
  readonly callId: string;
  /** Undefined if the session has no tool of this name. */
  readonly tool: string | undefined;
  /** The tool's description, without secrets; undefined for an unknown name. */
  readonly description: string | undefined;
  /** Where the tool's calls run; undefined for an unknown name. */
  readonly executor: string | undefined;
  /** The tool belongs to the session alone, so its name may come from outside. */
  readonly ownTool: boolean;
  /** The id of the session. */
  readonly sessionId: string;
  /** `""` if the session acts for no one. */
  readonly principal: string;
  /** The same, with the agents through which it acts. */
  readonly actor: Actor;
  /** `""` for a direct call. */
  readonly surface: string;
  /** The id of the call that made this one; known also if that was in another process. */
  readonly parentCallId: string | undefined;
  /** The trace of the call whose handler made this one. */
  readonly parents: readonly CallTrace[] | undefined;
  /**
   * The caller's place in a trace, if the caller is elsewhere and has sent it. Its form is valid.
   */
  readonly from: TraceContext | undefined;
  /**
   * The place of a call in a trace before it was suspended, if this one goes on with it. Its form
   * is valid.
   */
  readonly suspended: TraceContext | undefined;
}

/** Why a phase or a call ended as it did. Its texts contain no secret of the call. */
export interface Told {
  /** Undefined after a success. */
  readonly code: string | undefined;
  readonly ruleId: string | undefined;
  readonly reason: string | undefined;
  readonly approvalId: string | undefined;
}

/** The end of a call. */
export interface CallEnd extends Told {
  /** Milliseconds since the call arrived. */
  readonly durationMs: number;
  /** The error's text. */
  readonly message: string | undefined;
  /** The input as it is now, redacted as in events. */
  readonly input: () => JsonValue;
  /** The output, redacted as in events; undefined if there is none. */
  readonly output: () => JsonValue | undefined;
}

/** Follows one call. Whatever its methods throw is reported and does not affect the call. */
export interface CallTrace {
  /** Runs a phase, or the beginning of a phase that waits, at once and exactly once. */
  within(phase: Phase, run: () => void): void;
  /** The phase is over. Not called for the phase in which the call ends. */
  left(phase: Phase, told: Told): void;
  /** The call has ended, and with it all open phases. Called once. */
  ended(end: CallEnd): void;
  /** The call's place in a trace, for requests that its handler makes elsewhere. */
  place?(): TraceContext | undefined;
}

/** What follows one call, as the call knows it. */
export interface CallTraces {
  readonly all: readonly CallTrace[];
  /** Runs a stage as a phase. */
  during(phase: Phase, stage: () => Step): Step;
  /** Runs the beginning of a phase. */
  run<T>(phase: Phase, run: () => T): T | undefined;
  /** A phase is over. A call that has ended has closed its phases. */
  left(phase: Phase, error: ToolError | undefined): void;
  ended(result: ToolResult): void;
  /** The place of the call in a trace. */
  place(): TraceContext | undefined;
}

/** The tracers of a registry, as its calls know them. */
export interface CallTracers {
  readonly all: readonly CallTracer[];
  /** Begins to follow a call. */
  begin(call: Call): void;
}

/** Begins to follow a call. If it throws, that is reported, and the call is not followed. */
export interface CallTracer {
  /** Called when a call arrives. Returns what follows it. */
  begin(start: CallStart): CallTrace;
}

/** Runs a stage as a phase of its call. */
export function inPhase<C extends Call>(call: C, phase: Phase, stage: (call: C) => Step): Step {
  const traces = call.extra?.traces;
  return traces === undefined ? stage(call) : traces.during(phase, () => stage(call));
}

/** The form of version 00, with which later versions begin. */
const traceparentForm = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
/** Texts longer than 512 characters may be dropped, as W3C Trace Context says. */
const tracestateForm = /^[ -~]{1,512}$/;

/**
 * The place that an object names, such as the `_meta` of a request; undefined if there is none or
 * it has the wrong form. Only own members count. Reading them may throw if the object's getters
 * throw.
 */
export function takeTraceContext(from: unknown): TraceContext | undefined {
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, 'traceparent'))
    return undefined;
  const { traceparent } = from as { readonly traceparent?: unknown };
  if (typeof traceparent !== 'string' || !traceparentForm.test(traceparent)) return undefined;
  const tracestate: unknown = Object.hasOwn(from, 'tracestate')
    ? (from as { readonly tracestate?: unknown }).tracestate
    : undefined;
  return typeof tracestate === 'string' && tracestateForm.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}
