/** A session's tools for Anthropic's Messages API. The client is the host's; nothing of it is loaded here. */

// The API's shapes
export type {
  AnthropicBlock,
  AnthropicContent,
  AnthropicImageType,
  AnthropicInputSchema,
  AnthropicMessage,
  AnthropicRunContext,
  AnthropicRunnableTool,
  AnthropicTool,
  AnthropicToolResult,
} from './anthropic/api-shapes.ts';
// Calls
export type { AnthropicDispatchOptions } from './anthropic/dispatch-anthropic.ts';
export { dispatchAnthropic } from './anthropic/dispatch-anthropic.ts';
// Tools
export type { AnthropicTools, AnthropicToolsOptions } from './anthropic/to-anthropic-tools.ts';
export { toAnthropicTools } from './anthropic/to-anthropic-tools.ts';
export type { SchemaLoss, SurfaceWarning } from './shown/listing.ts';
