/**
 * A session's tools for OpenAI: Chat Completions, Responses and the Agents SDK. The host brings the
 * clients; this module does not load them.
 */

export type { SchemaLoss, SurfaceWarning } from '../shared/listing.ts';
// Calls
export type { OpenAIAgentsToolFactory } from './agents-tool.ts';
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
  OpenAIToolSearch,
  OpenAIToolSearchOutput,
} from './api-shapes.ts';
export type { OpenAIDispatchOptions } from './dispatch-openai.ts';
export { dispatchOpenAI } from './dispatch-openai.ts';
// Tools
export type { OpenAITools, OpenAIToolsOptions } from './to-openai-tools.ts';
export { toOpenAITools } from './to-openai-tools.ts';
