/**
 * The tool-related parts of the Messages API's requests and responses. The types are structural, so
 * the client's own types are compatible.
 */

/** A tool as the Messages API takes it. */
export interface AnthropicTool {
  /** The shown name. */
  name: string;
  /** The tool's description. */
  description: string;
  /** The input schema. */
  input_schema: AnthropicInputSchema;
  /** Present if the model can only write arguments that fit the schema. */
  strict?: true;
  /** Present if the definition is read only when the model has found the tool. */
  defer_loading?: true;
}

/** The provider's own search among deferred tools. */
export interface AnthropicToolSearch {
  /** The kind of search, with its version. */
  type: 'tool_search_tool_bm25_20251119';
  /** The name that the API requires. */
  name: 'tool_search_tool_bm25';
}

/** An input schema, with an object at its root. */
export interface AnthropicInputSchema {
  /** Always `object`. */
  type: 'object';
  /** The rest of the schema. */
  [keyword: string]: unknown;
}

/** What the tool runner passes to a tool about its call. */
export interface AnthropicRunContext {
  /** The `tool_use` block of the model. */
  readonly toolUse: { readonly id: string };
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal | null | undefined;
}

/** A tool for `client.beta.messages.toolRunner`. */
export interface AnthropicRunnableTool extends AnthropicTool {
  /** Returns the input unchanged, because the session validates it. */
  parse: (input: unknown) => unknown;
  /**
   * Calls the tool through the session. Rejects if the call fails; the runner then shows the model
   * an error with the same text.
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
    }
  /** A deferred tool, whose definition the model reads from here on. */
  | { type: 'tool_reference'; tool_name: string };

/** Images that the Messages API takes. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** The part of a model's message that is read. */
export interface AnthropicMessage {
  /** Only `tool_use` blocks are read. */
  readonly content: readonly AnthropicBlock[];
}

/** A block of a message. */
export interface AnthropicBlock {
  /** The type of the block, such as `tool_use`. */
  readonly type: string;
}

/** The answer to a call: a block of the next user message. */
export interface AnthropicToolResult {
  /** Always `tool_result`. */
  type: 'tool_result';
  /** The call's id. */
  tool_use_id: string;
  /** The text of the result, or blocks if it has images or documents that the API accepts. */
  content: string | AnthropicContent[];
  /** Present for a failed call. */
  is_error?: true;
}
