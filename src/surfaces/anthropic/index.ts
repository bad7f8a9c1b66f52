/**
 * A session's tools for Anthropic's Messages API. The host brings the client; this module does not
 * load it.
 */

export type { SchemaLoss, SurfaceWarning } from '../shared/listing.ts';
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
  AnthropicToolSearch,
} from './api-shapes.ts';
// Calls
export type { AnthropicDispatchOptions } from './dispatch-anthropic.ts';
export { dispatchAnthropic } from './dispatch-anthropic.ts';
// Tools
export {
  type AnthropicTools,
  type AnthropicToolsOptions,
  toAnthropicTools,
} from './to-anthropic-tools.ts';
