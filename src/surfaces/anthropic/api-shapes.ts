/**
 * What goes to the Messages API and comes back, as far as tools are concerned. Structural: the
 * client's own types fit.
 */

/** A tool as the Messages API takes it. */
export interface AnthropicTool {
  /** The shown name. */
  name: string;
  /** The tool's description. */
  description: string;
  /** The input schema. */
  input_schema: AnthropicInputSchema;
  /** Present where the model is held to the schema. */
  strict?: true;
}

/** An input schema: an object at its root. */
export interface AnthropicInputSchema {
  /** Always `object`. */
  type: 'object';
  /** The rest of the schema. */
  [keyword: string]: unknown;
}

/** What the tool runner tells a tool about its call. */
export interface AnthropicRunContext {
  /** The model's block. */
  readonly toolUse: { readonly id: string };
  /** Ends the call. */
  readonly signal?: AbortSignal | null | undefined;
}

/** A tool for `client.beta.messages.toolRunner`. */
export interface AnthropicRunnableTool extends AnthropicTool {
  /** Always the same: the session checks the input. */
  parse: (input: unknown) => unknown;
  /**
   * Calls the tool through the session. A failed call rejects, which the runner shows to the model
   * as an error with the same text.
   */
  run: (input: unknown, context?: AnthropicRunContext) => Promise<string | AnthropicContent[]>;
}

/** A part of a result, as the Messages API takes it. */
export type AnthropicContent =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: AnthropicImageType; data: string } }
  | {
      type: 'document';
      /** The file, in base 64. */
      source: { type: 'base64'; media_type: 'application/pdf'; data: string };
      /** The name of the file. */
      title?: string;
    };

/** Images that the Messages API takes. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** A message of the model, or the part of it that is read. */
export interface AnthropicMessage {
  /** Only `tool_use` blocks are read. */
  readonly content: readonly AnthropicBlock[];
}

/** A block of a message. */
export interface AnthropicBlock {
  /** What it is. */
  readonly type: string;
}

/** The answer to a call: a block of the next user message. */
export interface AnthropicToolResult {
  /** Always `tool_result`. */
  type: 'tool_result';
  /** The call's id. */
  tool_use_id: string;
  /** The text of the result; blocks where it has images or documents that the API takes. */
  content: string | AnthropicContent[];
  /** Present for a failed call. */
  is_error?: true;
}
