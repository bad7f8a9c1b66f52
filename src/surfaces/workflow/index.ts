/**
 * Deterministic orchestration: which tools a model sees is computed, how its calls run is planned,
 * and both can be replayed.
 */

export type { BatchPlan, PlannedCall, ToolCall } from '../../api/batch.ts';
export type { Dropped, Prerequisite } from '../../api/session.ts';
export type { Overrides } from '../../api/session-options.ts';
export type { EffectiveSet } from '../../core/toolset/effective.ts';
export type { ProviderNameOptions, ProviderNames } from '../../core/toolset/provider-names.ts';
export { toProviderNames } from '../../core/toolset/provider-names.ts';
export type { Block, ToolSpec } from '../../core/toolset/tool-spec.ts';
export type {
  CodingAgentInput,
  CodingAgentParsed,
  CodingAgentPreset,
  CodingAgentTool,
  CodingAgentToolName,
} from './coding-agent-preset.ts';
export { codingAgentPreset, codingAgentTool } from './coding-agent-preset.ts';
export type { EffectiveBudget, EffectiveInput } from './compute-effective.ts';
export { computeEffective, toolSpecs } from './compute-effective.ts';
export { createWorkflow } from './create-workflow.ts';
export { runHostLoop } from './host-loop.ts';
export type {
  Generate,
  GenerateAnswer,
  GenerateRequest,
  HostLoopOptions,
  HostLoopResult,
  Message,
} from './host-loop-options.ts';
export { planBatch } from './plan-batch.ts';
export { reduce, replay } from './reduce.ts';
export { replayTrace, type TraceReport, writeTrace } from './trace.ts';
export type {
  BatchSettled,
  CallOutcome,
  ExecuteCalls,
  FactsUpdated,
  HostSessionUpdated,
  LlmGenerate,
  RunCancelled,
  RunCompleted,
  RunRequested,
  ToolCallSettled,
  ToolCallsObserved,
  ToolOverridesSet,
  ToolProfileSelected,
  ToolRegistrySet,
  ToolsListed,
  WorkflowCommand,
  WorkflowError,
  WorkflowEvent,
} from './workflow-events.ts';
export type {
  BatchCall,
  BatchState,
  Reduction,
  RunState,
  WorkflowOptions,
  WorkflowState,
} from './workflow-state.ts';
export { effectiveOf, serializeState } from './workflow-state.ts';
