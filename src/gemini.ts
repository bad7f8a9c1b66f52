/** A session's tools for the Gemini API. The client is the host's; nothing of it is loaded here. */

// The API's shapes
export type {
  GeminiContent,
  GeminiFunctionCall,
  GeminiFunctionDeclaration,
  GeminiFunctionResponse,
  GeminiFunctionResponsePart,
  GeminiPart,
  GeminiResponse,
  GeminiTool,
} from './gemini/api-shapes.ts';
// Calls
export type { GeminiDispatchOptions } from './gemini/dispatch-gemini.ts';
export { dispatchGemini } from './gemini/dispatch-gemini.ts';
// Tools
export type { GeminiCallableTool, GeminiTools, GeminiToolsOptions } from './gemini/to-gemini-tools.ts';
export { toGeminiTools } from './gemini/to-gemini-tools.ts';
export type { SchemaLoss, SurfaceWarning } from './shown/listing.ts';
