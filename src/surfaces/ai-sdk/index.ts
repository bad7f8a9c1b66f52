/**
 * A session's tools for the AI SDK, versions 6 and 7. This module imports nothing from the SDK,
 * because the SDK's tools are plain objects.
 */

export type { AiSdkOptions } from './options.ts';
export type { AiSdkFailure, AiSdkMessage } from './outcomes.ts';
export type {
  AiSdkCall,
  AiSdkJson,
  AiSdkOutput,
  AiSdkPart,
  AiSdkPreliminary,
  AiSdkResult,
  AiSdkSchema,
  AiSdkShownName,
  AiSdkTool,
  AiSdkToolSet,
  AiSdkTypedTool,
} from './tool.ts';
export type { AiSdkTools } from './tool-set.ts';
export { toAiSdkTools } from './tool-set.ts';
