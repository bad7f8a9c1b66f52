/**
 * A session's tools for the AI SDK, versions 6 and 7. This module imports nothing from the SDK,
 * because the SDK's tools are plain objects.
 */

export type { AiSdkFailure } from './failure.ts';
export type { AiSdkShownName, AiSdkToolSet } from './named-tools.ts';
export type { AiSdkOptions } from './options.ts';
export type { AiSdkMessage } from './outcomes.ts';
export type {
  AiSdkCall,
  AiSdkJson,
  AiSdkOutput,
  AiSdkPart,
  AiSdkPreliminary,
  AiSdkResult,
  AiSdkSchema,
  AiSdkTool,
  AiSdkTypedTool,
} from './tool.ts';
export type { AiSdkTools } from './tool-set.ts';
export { toAiSdkTools } from './tool-set.ts';
