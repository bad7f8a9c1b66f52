/**
 * A session's tools for the Gemini API. The host brings the client; this module does not load it.
 */

export type { SchemaLoss, SurfaceWarning } from '../shared/listing.ts';
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
} from './api-shapes.ts';
// Calls
export type { GeminiDispatchOptions } from './dispatch-gemini.ts';
export { dispatchGemini } from './dispatch-gemini.ts';
// Tools
export type { GeminiCallableTool, GeminiTools, GeminiToolsOptions } from './to-gemini-tools.ts';
export { toGeminiTools } from './to-gemini-tools.ts';
