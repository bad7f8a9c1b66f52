/** A session's tools for OpenAI: Chat Completions, Responses and the Agents SDK. The clients are the host's; nothing of theirs is loaded here. */

// Calls
export type { OpenAIAgentsToolFactory } from './openai/agents-tool.ts';
// The APIs' shapes
export type {
  OpenAIAgentsCallDetails,
  OpenAIAgentsOutput,
  OpenAIAgentsSchema,
  OpenAIAgentsTool,
  OpenAIAnyCall,
  OpenAIApi,
  OpenAIChatCall,
  OpenAIChatMessage,
  OpenAIChatTool,
  OpenAIFunctionCall,
  OpenAIFunctionCallOutput,
  OpenAIOutputPart,
  OpenAIResponseItem,
  OpenAIResponsesTool,
  OpenAIToolMessage,
  OpenAIToolOf,
} from './openai/api-shapes.ts';
export type { OpenAIDispatchOptions } from './openai/dispatch-openai.ts';
export { dispatchOpenAI } from './openai/dispatch-openai.ts';
// Tools
export type { OpenAITools, OpenAIToolsOptions } from './openai/to-openai-tools.ts';
export { toOpenAITools } from './openai/to-openai-tools.ts';
export type { SchemaLoss, SurfaceWarning } from './shown/listing.ts';
