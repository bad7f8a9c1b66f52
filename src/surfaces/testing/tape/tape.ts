/** The format of a tape: recorded tool calls as plain JSON. */
import type {
  CallStatus,
  FactRule,
  JsonObject,
  JsonValue,
  ResultMetadata,
  ToolAnnotations,
  ToolError,
} from '../../../core.ts';

/**
 * Recorded tool calls. A tape is plain JSON, so it can be kept in a file, and has no times or
 * durations. It holds what events hold, and so no secrets that a schema or a `redact` path marks.
 */
export interface Tape {
  /** The version of the format. Any other one is refused. */
  readonly version: 1;
  /**
   * The `redact` paths of the recorded registry, if it had any. Replayed inputs are redacted in the
   * same way before they are compared.
   */
  readonly redact?: readonly string[];
  /**
   * The tools that the session could see or called, in the order in which they were first seen. A
   * tool that was replaced is listed once for each fingerprint.
   */
  readonly tools: readonly TapeTool[];
  /** The calls that have ended, in the order in which they started. */
  readonly calls: readonly TapeCall[];
}

/**
 * What replay needs to register a tool again. Handlers, policies, approvals, timeouts and limits
 * are not on a tape.
 */
export interface TapeTool {
  /** The name as registered, including a scope's prefix. */
  readonly name: string;
  /** The description that the model was shown. */
  readonly description: string;
  /** The name that people are shown. */
  readonly title?: string;
  /** The tool's own version. */
  readonly version?: string;
  /** The host's own grouping. */
  readonly category?: string;
  /** Absent if empty. */
  readonly tags?: readonly string[];
  /** Absent if empty. */
  readonly annotations?: ToolAnnotations;
  /** The input as JSON Schema. */
  readonly parameters: JsonObject;
  /** The output as JSON Schema. */
  readonly outputSchema?: JsonValue;
  /** The schema of the settings that a profile can give, as JSON Schema. Replay does not use it. */
  readonly knobs?: JsonObject;
  /** The facts that the tool requires. */
  readonly requires?: readonly FactRule[];
  /** The facts that the tool can establish. */
  readonly provides?: readonly string[];
  /** Whether a batch may run it in parallel with other calls. */
  readonly parallelSafe: boolean;
  /** Present only if it is the same text for all calls. */
  readonly resourceKey?: string;
  /** The fingerprint of the recorded definition. The replayed definition has the same one. */
  readonly fingerprint: string;
}

/** One call that ended. */
export interface TapeCall {
  /** The id that the call had in its session. */
  readonly callId: string;
  /** The name that was called, even if no tool had it. */
  readonly tool: string;
  /**
   * The canonical input: after hooks and repair, with the defaults of the tool's JSON Schema, and
   * with secrets redacted. If the input was not a JSON object or no tool had the name, it is the
   * input as it was sent.
   */
  readonly input: JsonValue;
  /** How it ended. */
  readonly status: CallStatus;
  /**
   * Whether its handler was started. Calls that gates refused are on the tape for information; at
   * replay the gates decide again.
   */
  readonly ran: boolean;
  /** The attempt: 2 for a call that was suspended and resumed. @default 1 */
  readonly attempt?: number;
  /**
   * The id of the call whose handler made this one. At replay that call is answered from the tape,
   * so this one is not made again.
   */
  readonly parentCallId?: string;
  /** The fingerprint of the tool that answered or refused the call. */
  readonly fingerprint?: string;
  /** The result that the caller got, after hooks. */
  readonly result: TapeSuccess | TapeFailure;
}

/** The outcome of a call that succeeded. */
export interface TapeSuccess {
  readonly success: true;
  /** The output as events hold it: with secrets redacted, and cut if it was over its limit. */
  readonly output: JsonValue;
  /** Present if the output consisted of content parts. */
  readonly content?: true;
  /** The metadata that the handler added with `ok(output, metadata)`. */
  readonly handler?: JsonObject;
  /** Present if the output was cut. Replay returns the cut output, without this mark. */
  readonly truncated?: NonNullable<ResultMetadata['truncated']>;
}

/** The outcome of a call that ended in any other way. */
export interface TapeFailure {
  readonly success: false;
  /** The error as events hold it: the real one, even if the model was shown a masked error. */
  readonly error: ToolError;
  /**
   * Present if the model was shown a masked error. Replay throws this error, so that a session that
   * masks errors masks it again.
   */
  readonly masked?: true;
}
