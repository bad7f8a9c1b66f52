/** What a tape is: recorded tool traffic as plain JSON. */
import type {
  CallStatus,
  FactRule,
  JsonObject,
  JsonValue,
  ResultMetadata,
  ToolAnnotations,
  ToolError,
} from '../../index.ts';

/**
 * Recorded tool traffic. Plain JSON, so it can be kept in a file; no times, no durations. It holds
 * what events hold, and so no secret that a schema or a `redact` path marks.
 */
export interface Tape {
  /** Of the format. Another one is refused. */
  readonly version: 1;
  /**
   * The `redact` paths of the registry that was recorded: what is replayed is compared after the
   * same redaction. Absent without any.
   */
  readonly redact?: readonly string[];
  /**
   * The tools that the session could see or called, in the order in which they were first seen. A
   * tool that was replaced is in it once for each fingerprint.
   */
  readonly tools: readonly TapeTool[];
  /** The calls that ended, in the order in which they started. */
  readonly calls: readonly TapeCall[];
}

/**
 * What replay needs to register a tool again. Handlers, policies, approvals, timeouts and limits
 * are not on a tape.
 */
export interface TapeTool {
  /** As registered; a scope's prefix included. */
  readonly name: string;
  /** What the model was told. */
  readonly description: string;
  /** The tool's name for people. */
  readonly title?: string;
  /** The tool's own version. */
  readonly version?: string;
  /** The host's own grouping. */
  readonly category?: string;
  /** Absent without any. */
  readonly tags?: readonly string[];
  /** Absent without any. */
  readonly annotations?: ToolAnnotations;
  /** The input as JSON Schema. */
  readonly parameters: JsonObject;
  /** The output as JSON Schema. */
  readonly outputSchema?: JsonValue;
  /** The settings that a profile may give, as JSON Schema; read by nobody at replay. */
  readonly knobs?: JsonObject;
  /** The facts that it waits for. */
  readonly requires?: readonly FactRule[];
  /** The facts that it can bring about. */
  readonly provides?: readonly string[];
  /** Whether a batch may run it beside others. */
  readonly parallelSafe: boolean;
  /** Only where it is one text for all calls. */
  readonly resourceKey?: string;
  /** The recorded definition's. The replayed one has the same. */
  readonly fingerprint: string;
}

/** One call that ended. */
export interface TapeCall {
  /** As the session knew it. */
  readonly callId: string;
  /** The name that was called, also where no tool had it. */
  readonly tool: string;
  /**
   * The canonical input: after hooks and repair, with the defaults that the tool's JSON Schema
   * names, secrets redacted. As it was sent, where that was no JSON object or no tool had the name.
   */
  readonly input: JsonValue;
  /** How it ended. */
  readonly status: CallStatus;
  /**
   * Whether its handler was started. What gates refused is on the tape for the record, and is the
   * gates' business again at replay.
   */
  readonly ran: boolean;
  /** 2 for a call that was suspended and resumed. @default 1 */
  readonly attempt?: number;
  /**
   * The call whose handler made this one. Its parent is answered from the tape, so it does not
   * happen again.
   */
  readonly parentCallId?: string;
  /** Of the tool that answered or refused. */
  readonly fingerprint?: string;
  /** What the caller got, after hooks. */
  readonly result: TapeSuccess | TapeFailure;
}

/** The outcome of a call that succeeded. */
export interface TapeSuccess {
  readonly success: true;
  /** As events hold it: secrets redacted, cut where it was over its budget. */
  readonly output: JsonValue;
  /** The output was made of content parts. */
  readonly content?: true;
  /** What the handler added by `ok(output, metadata)`. */
  readonly handler?: JsonObject;
  /** That the output is a cut one. Replay gives the cut text as it is, without this mark. */
  readonly truncated?: NonNullable<ResultMetadata['truncated']>;
}

/** The outcome of a call that ended in any other way. */
export interface TapeFailure {
  readonly success: false;
  /** As events hold it: what really happened, also where the model was shown a masked error. */
  readonly error: ToolError;
  /**
   * The model was shown a masked error. Replay throws this one, so that it is masked again where
   * errors are.
   */
  readonly masked?: true;
}
