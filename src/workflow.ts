/** Deterministic orchestration: what a model is shown is computed, what it asks for is planned, and both can be replayed. */

// A preset
export type { CodingAgentInput, CodingAgentParsed, CodingAgentPreset, CodingAgentTool, CodingAgentToolName } from './workflow/coding-agent-preset.ts';
export { codingAgentPreset, codingAgentTool } from './workflow/coding-agent-preset.ts';
// Effective tools and plans
export { computeEffective } from './workflow/compute-effective.ts';
// A host loop
export type { Generate, GenerateAnswer, GenerateRequest, Message } from './workflow/conversation.ts';
// A workflow
export { createWorkflow } from './workflow/create-workflow.ts';
export type { Block, Dropped, EffectiveBudget, EffectiveInput, EffectiveSet, Overrides, Prerequisite, ToolSpec } from './workflow/effective.ts';
export type { HostLoopOptions, HostLoopResult } from './workflow/host-loop.ts';
export { runHostLoop } from './workflow/host-loop.ts';
export type { BatchPlan, PlannedCall, ToolCall } from './workflow/plan.ts';
export { planBatch } from './workflow/plan.ts';
export type { ProviderNameOptions, ProviderNames } from './workflow/provider-names.ts';
export { toProviderNames } from './workflow/provider-names.ts';
export { reduce, replay } from './workflow/reduce.ts';
export { toolSpecs } from './workflow/tool-specs.ts';
// Traces
export type { TraceReport } from './workflow/trace.ts';
export { replayTrace, writeTrace } from './workflow/trace.ts';
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
  WorkflowCommand,
  WorkflowError,
  WorkflowEvent,
} from './workflow/workflow-events.ts';
export type { BatchCall, BatchState, Reduction, RunState, WorkflowOptions, WorkflowState } from './workflow/workflow-state.ts';
export { effectiveOf, serializeState } from './workflow/workflow-state.ts';
