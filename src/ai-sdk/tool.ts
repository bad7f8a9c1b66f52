/** A tool as the AI SDK takes it: the part of its `Tool` type that versions 6 and 7 share, told structurally. */
import type { ToolResult } from '../index.ts';

/** JSON as the SDK types it. */
export type AiSdkJson = null | string | number | boolean | AiSdkJson[] | { [key: string]: AiSdkJson };

/** What the SDK tells a tool about one call. */
export interface AiSdkCall {
  /** The model's id for the call; becomes the session's call id. */
  readonly toolCallId: string;
  /** The conversation before the answer that holds the call. */
  readonly messages?: readonly unknown[];
  /** Ends the call when the run is aborted. */
  readonly abortSignal?: AbortSignal | undefined;
}

/** What `execute` resolves to: the session's result, marked where its output was made of content parts, so that the mark lasts through JSON. */
export type AiSdkResult = ToolResult & {
  /** The output is a list of content parts. */
  readonly content?: true;
};

/** One part of a tool's answer: the shapes that both versions take. Version 7 is given files as `{ type: "file", data: { type: "data", data }, mediaType }`, which version 6 has no type for. */
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
  | { type: 'error-text'; value: string; providerOptions?: { 'host-tools': { error: { [key: string]: string } } } };

/** An input schema: the SDK finds its own mark on it and shows the JSON Schema as it is. It refuses nothing, since the session validates. */
export interface AiSdkSchema {
  /** Takes everything. Types alone need it: the SDK's own mark has no name outside the SDK. */
  readonly '~standard': { readonly version: 1; readonly vendor: string; readonly validate: (value: unknown) => { readonly value: never } };
  /** The tool's own, frozen. */
  readonly jsonSchema: object;
}

/** A tool of the session, frozen. */
export interface AiSdkTool {
  /** The types of input and output are known at run time alone. */
  readonly type: 'dynamic';
  /** For the model. */
  readonly description: string;
  /** For people, where the definition has one. */
  readonly title?: string;
  /** `{ hostTool: { name, source, annotations } }`: the SDK puts it on the parts of a call as `toolMetadata` and shows it to no model. */
  readonly metadata: { [key: string]: AiSdkJson };
  /** Carries the tool's JSON Schema unchanged. */
  readonly inputSchema: AiSdkSchema;
  /** With `approvals: "sdk"` alone: whether a person must be asked about this call. */
  readonly needsApproval?: (input: unknown, call: AiSdkCall) => Promise<boolean>;
  /** Calls the tool. A failure is a result; it never rejects. */
  readonly execute: (input: unknown, call: AiSdkCall) => Promise<AiSdkResult>;
  /** What the model is shown: text; JSON where the tool declares an output; content parts; a failure as `error-text`. */
  readonly toModelOutput: (answer: { readonly output: unknown }) => AiSdkOutput;
}
