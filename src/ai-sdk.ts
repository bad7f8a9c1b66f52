/** A session's tools for the AI SDK, versions 6 and 7. Nothing of the SDK is imported: its tools are plain objects. */

export type { AiSdkFailure } from './ai-sdk/failure.ts';
export type { AiSdkShownName, AiSdkToolSet } from './ai-sdk/named-tools.ts';
export type { AiSdkOptions } from './ai-sdk/options.ts';
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
} from './ai-sdk/tool.ts';
export type { AiSdkTools } from './ai-sdk/tool-set.ts';
export { toAiSdkTools } from './ai-sdk/tool-set.ts';
