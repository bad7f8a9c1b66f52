/** Who follows calls while they run: the port behind telemetry. Not part of the public list. */
import type { TraceContext } from '../context.ts';
import type { JsonValue } from '../json/index.ts';

/** The parts of a call that are followed by themselves. A call may have several of `policy`. */
export type Phase = 'policy' | 'approval' | 'run';

/** What is known of a call when it arrives. */
export interface CallStart {
  readonly callId: string;
  /** Undefined for a name that no tool of the session has. */
  readonly tool: string | undefined;
  /** Where its calls run; undefined for such a name. */
  readonly executor: string | undefined;
  /** The tool belongs to the session alone, so its name may come from outside. */
  readonly ownTool: boolean;
  readonly sessionId: string;
  /** `""` if the session acts for no one. */
  readonly principal: string;
  /** `""` for a direct call. */
  readonly surface: string;
  /** How the call whose handler made this one is followed. */
  readonly parents: readonly CallTrace[] | undefined;
  /** Where the caller is, if it is elsewhere and has said so. Its form is right. */
  readonly from: TraceContext | undefined;
}

/** Why a phase or a call ended as it did. Its texts hold no secret of the call. */
export interface Told {
  /** Undefined if it went well. */
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

/** Follows one call. What its methods throw is reported and does not affect the call. */
export interface CallTrace {
  /** Runs a phase, or the beginning of one that waits, at once and exactly once. */
  within(phase: Phase, run: () => void): void;
  /** The phase is over. Not called for a phase in which the call ends. */
  left(phase: Phase, told: Told): void;
  /** The call has ended, and with it the phases that are open. Called once. */
  ended(end: CallEnd): void;
  /** Where the call is in a trace, for what its handler calls elsewhere. */
  place?(): TraceContext | undefined;
}

/** Begins to follow calls. What it throws is reported, and the call is then not followed. */
export interface CallTracer {
  begin(start: CallStart): CallTrace;
}
