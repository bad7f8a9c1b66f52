/**
 * What goes to OpenAI's APIs and comes back, as far as tools are concerned. Structural: the
 * clients' own types fit.
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
}

/** What the Agents SDK tells a tool about its call. */
export interface OpenAIAgentsCallDetails {
  /** The model's item. */
  readonly toolCall?: { readonly callId: string } | undefined;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
}

/** An input schema as the Agents SDK types it. */
export interface OpenAIAgentsSchema {
  /** Always `object`. */
  type: 'object';
  /** By name. */
  properties: { [name: string]: unknown };
  /** Names that must be given. */
  required: string[];
  /** False in strict mode. */
  additionalProperties: boolean;
}

/** A function tool as `tool()` of the Agents SDK makes it; goes into an Agent's `tools`. */
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
  /** Never: approvals are the session's. */
  needsApproval: () => Promise<boolean>;
  /** Always: what is not effective is not listed. */
  isEnabled: () => Promise<boolean>;
  /**
   * Calls the tool through the session. A failed call is text, as any other result. Never rejects.
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

/** A chat completion message, or the part of it that is read. */
export interface OpenAIChatMessage {
  /** Calls that the model asks for. */
  readonly tool_calls?: readonly OpenAIChatCall[] | null | undefined;
}

/** A call in a chat completion message. */
export type OpenAIChatCall = OpenAIAnyCall | OpenAIFunctionCall;

/** Any call of Chat Completions. Those of custom tools are the host's own: they are passed over. */
export interface OpenAIAnyCall {
  /** Given back as `tool_call_id`. */
  readonly id: string;
  /** What kind of tool is called. */
  readonly type: 'function' | 'custom';
}

/**
 * A call of a function tool. Apart from {@link OpenAIAnyCall}: were `function` optional there, a
 * list of the client's own calls would be taken for a response's output.
 */
export interface OpenAIFunctionCall extends OpenAIAnyCall {
  /** The name and its arguments as JSON text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An item of a response's output. Only `function_call` items are read. */
export interface OpenAIResponseItem {
  /** What it is. */
  readonly type: string;
}

/** The answer to a call of Chat Completions: a message of its own. */
export interface OpenAIToolMessage {
  /** Always `tool`. */
  role: 'tool';
  /** The call's id. */
  tool_call_id: string;
  /** The text of the result; Chat Completions takes no media here. */
  content: string;
}

/** A part of an output, as the Responses API takes it. */
export type OpenAIOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

/** The answer to a call of the Responses API: an item of the next input. */
export interface OpenAIFunctionCallOutput {
  /** Always `function_call_output`. */
  type: 'function_call_output';
  /** The call's id. */
  call_id: string;
  /** The text of the result; parts where it has images or files that the API takes. */
  output: string | OpenAIOutputPart[];
}
