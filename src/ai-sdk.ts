/** A session's tools for the AI SDK, versions 6 and 7. Nothing of the SDK is imported: its tools are plain objects. */

export type { AiSdkCall, AiSdkJson, AiSdkOutput, AiSdkPart, AiSdkResult, AiSdkSchema, AiSdkTool } from './ai-sdk/tool.ts';
export type { AiSdkOptions, AiSdkTools } from './ai-sdk/tool-set.ts';
export { toAiSdkTools } from './ai-sdk/tool-set.ts';
