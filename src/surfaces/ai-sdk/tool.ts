/**
 * A tool as the AI SDK takes it: the part of its `Tool` type that versions 6 and 7 share, told
 * structurally.
 */
import type { JsonValue, ToolResult } from '../../index.ts';

/** JSON as the SDK types it. */
export type AiSdkJson =
  | null
  | string
  | number
  | boolean
  | AiSdkJson[]
  | { [key: string]: AiSdkJson };

/** What the SDK tells a tool about one call. */
export interface AiSdkCall {
  /** The model's id for the call; becomes the session's call id. */
  readonly toolCallId: string;
  /** The conversation before the answer that holds the call. */
  readonly messages?: readonly unknown[];
  /** Ends the call when the run is aborted. */
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * What `execute` resolves to: the session's result, marked where its output was made of content
 * parts, so that the mark lasts through JSON.
 */
export type AiSdkResult<O = unknown> = ToolResult<O> & {
  /** The output is a list of content parts. */
  readonly content?: true;
};

/**
 * What a handler that is a generator has yielded so far: a preliminary result of the SDK. Told from
 * a result by `success`, which it has not.
 */
export interface AiSdkPreliminary {
  readonly success?: undefined;
  /** Always true. */
  readonly preliminary: true;
  /** The value; of a text or of progress `{ done, total?, message? }`. */
  readonly yielded: JsonValue;
}

/**
 * One part of a tool's answer: the shapes that both versions take. Version 7 is given files as
 * `{ type: "file", data: { type: "data", data }, mediaType }`, which version 6 has no type for.
 */
export type AiSdkPart =
  | { type: 'text'; text: string }
  /** Base64. */
  | { type: 'image-data' | 'file-data'; data: string; mediaType: string };

/** What the model is shown of a result. */
export type AiSdkOutput =
  | { type: 'text'; value: string }
  | { type: 'json'; value: AiSdkJson }
  | { type: 'content'; value: AiSdkPart[] }
  /** A failed call. `providerOptions["host-tools"].error` is `{ code, reason?, ruleId? }`. */
  | {
      type: 'error-text';
      /** The text of the error for the model. */
      value: string;
      /** The error in parts that code can read. */
      providerOptions?: { 'host-tools': { error: { [key: string]: string } } };
    };

/**
 * An input schema: the SDK finds its own mark on it and shows the JSON Schema as it is. It refuses
 * nothing, since the session validates.
 */
export interface AiSdkSchema<I = never> {
  /** Takes everything. Types alone need it: the SDK's own mark has no name outside the SDK. */
  readonly '~standard': {
    readonly version: 1;
    /** Names this package. */
    readonly vendor: string;
    /** Answers the value as it came. */
    readonly validate: (value: unknown) => { readonly value: I };
  };
  /** The tool's own, frozen. */
  readonly jsonSchema: object;
}

/** A tool of the session, frozen. Its type of input and output is known at run time alone. */
export interface AiSdkTool extends AiSdkToolBase<unknown, unknown, never> {
  /** The SDK then types its results as unknown. */
  readonly type: 'dynamic';
}

/** A tool of the session, frozen, with the types of its definition. */
export interface AiSdkTypedTool<I, O> extends AiSdkToolBase<I, O, I> {
  /** Absent: the SDK then types its results. */
  readonly type?: undefined;
}

/** What both have. `S`: what the schema says it gives. */
interface AiSdkToolBase<I, O, S> {
  /** For the model. */
  readonly description: string;
  /** For people, where the definition has one. */
  readonly title?: string;
  /**
   * `{ hostTool: { name, source, annotations } }`: the SDK puts it on the parts of a call as
   * `toolMetadata` and shows it to no model.
   */
  readonly metadata: { [key: string]: AiSdkJson };
  /** Carries the tool's JSON Schema unchanged. */
  readonly inputSchema: AiSdkSchema<S>;
  /** With `approvals: "sdk"` alone: whether a person must be asked about this call. */
  readonly needsApproval?: (input: I, call: AiSdkCall) => Promise<boolean>;
  /**
   * Calls the tool. A failure is a result, and it never rejects, unless `failures: "errors"` asks
   * for that. Where the handler is a generator the promise can also be iterated: what the handler
   * yields comes first, and the result last. Awaited, it is always the result.
   */
  readonly execute: (input: I, call: AiSdkCall) => Promise<AiSdkResult<O> | AiSdkPreliminary>;
  /**
   * What the model is shown: text; JSON where the tool declares an output; content parts; a failure
   * as `error-text`.
   */
  readonly toModelOutput: (answer: { readonly output: unknown }) => AiSdkOutput;
}
