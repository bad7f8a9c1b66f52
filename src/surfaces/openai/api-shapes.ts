/**
 * The tool-related parts of the requests and responses of OpenAI's APIs. The types are structural,
 * so the clients' own types are compatible.
 */

/** Which API the tools are for: Chat Completions, Responses, or the Agents SDK. */
export type OpenAIApi = 'chat' | 'responses' | 'agents';

/** A tool as Chat Completions takes it. */
export interface OpenAIChatTool {
  /** Always `function`. */
  type: 'function';
  /** The function. */
  function: {
    /** The shown name. */
    name: string;
    /** The tool's description. */
    description: string;
    /** The input schema. */
    parameters: { [key: string]: unknown };
    /** Whether the model is held to the schema. */
    strict: boolean;
  };
}

/** A tool as the Responses API takes it. */
export interface OpenAIResponsesTool {
  /** Always `function`. */
  type: 'function';
  /** The shown name. */
  name: string;
  /** The tool's description. */
  description: string;
  /** The input schema. */
  parameters: { [key: string]: unknown };
  /** Whether the model is held to the schema. */
  strict: boolean;
  /** Present if the definition is read only when the model has found the tool. */
  defer_loading?: true;
}

/** The search among deferred tools, for the Responses API. */
export type OpenAIToolSearch =
  | { type: 'tool_search' }
  | {
      type: 'tool_search';
      /** The session searches. */
      execution: 'client';
      /** What the search does. */
      description: string;
      /** The input schema of the search. */
      parameters: { [key: string]: unknown };
    };

/** What the Agents SDK passes to a tool about its call. */
export interface OpenAIAgentsCallDetails {
  /** The model's item for the call. */
  readonly toolCall?: { readonly callId: string } | undefined;
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** An input schema as the Agents SDK types it. */
export interface OpenAIAgentsSchema {
  /** Always `object`. */
  type: 'object';
  /** The schemas of the properties, by name. */
  properties: { [name: string]: unknown };
  /** The names of the required properties. */
  required: string[];
  /** False in strict mode. */
  additionalProperties: boolean;
}

/** A function tool like those that the Agents SDK's `tool()` makes, for the `tools` of an agent. */
export interface OpenAIAgentsTool {
  /** Always `function`. */
  type: 'function';
  /** The shown name. */
  name: string;
  /** The tool's description. */
  description: string;
  /** The input schema. */
  parameters: OpenAIAgentsSchema;
  /** Whether the model is held to the schema. */
  strict: boolean;
  /** Always false, because the session handles approvals. */
  needsApproval: () => Promise<boolean>;
  /** Always true, because only effective tools are listed. */
  isEnabled: () => Promise<boolean>;
  /**
   * Calls the tool through the session. A failed call resolves to a text like any other result.
   * Never rejects.
   */
  invoke: (
    runContext: unknown,
    input: string,
    details?: OpenAIAgentsCallDetails,
  ) => Promise<string | OpenAIAgentsOutput[]>;
}

/** A part of an output, as the Agents SDK takes it. */
export type OpenAIAgentsOutput =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } }
  | { type: 'file'; file: { data: string; mediaType: string; filename: string } };

/** The tool of each API. */
export interface OpenAIToolOf {
  /** Chat Completions. */
  chat: OpenAIChatTool;
  /** Responses. */
  responses: OpenAIResponsesTool;
  /** The Agents SDK. */
  agents: OpenAIAgentsTool;
}

/** The part of a chat completion message that is read. */
export interface OpenAIChatMessage {
  /** Calls that the model asks for. */
  readonly tool_calls?: readonly OpenAIChatCall[] | null | undefined;
}

/** A call in a chat completion message. */
export type OpenAIChatCall = OpenAIAnyCall | OpenAIFunctionCall;

/** Any call of Chat Completions. Calls to custom tools are left to the host. */
export interface OpenAIAnyCall {
  /** The id of the call. The answer has it as `tool_call_id`. */
  readonly id: string;
  /** The kind of the called tool. */
  readonly type: 'function' | 'custom';
}

/**
 * A call to a function tool. It is separate from {@link OpenAIAnyCall}, because with an optional
 * `function` there, the types would accept a list of the client's own calls as a response's output.
 */
export interface OpenAIFunctionCall extends OpenAIAnyCall {
  /** The name, and the arguments as JSON text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An item of a response's output. Only `function_call` items are read. */
export interface OpenAIResponseItem {
  /** The type of the item, such as `function_call`. */
  readonly type: string;
}

/** The answer to a call of Chat Completions: a message of its own. */
export interface OpenAIToolMessage {
  /** Always `tool`. */
  role: 'tool';
  /** The call's id. */
  tool_call_id: string;
  /** The text of the result. Chat Completions accepts no media here. */
  content: string;
}

/** A part of an output, as the Responses API takes it. */
export type OpenAIOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

/** The answer to a search of the Responses API: an item of the next input. */
export interface OpenAIToolSearchOutput {
  /** Always `tool_search_output`. */
  type: 'tool_search_output';
  /** The search's id. */
  call_id: string;
  /** The session has searched. */
  execution: 'client';
  /** Always `completed`. */
  status: 'completed';
  /** The definitions that were found. */
  tools: OpenAIResponsesTool[];
}

/** The answer to a call of the Responses API: an item of the next input. */
export interface OpenAIFunctionCallOutput {
  /** Always `function_call_output`. */
  type: 'function_call_output';
  /** The call's id. */
  call_id: string;
  /** The text of the result, or parts if it has images or files that the API accepts. */
  output: string | OpenAIOutputPart[];
}
