/** The core's public list. */

// Approvals
export type { ApprovalAnswer, ApprovalChoice, ApprovalPrompt, ApprovalRequest, Grant, PendingApproval } from './approval/request.ts';
export type { ApprovalRecord, ApprovalStore } from './approval/store.ts';
export type { BatchOptions, BatchResult } from './batch.ts';
export type { Content } from './content.ts';
export { content } from './content.ts';
// Calls
export type { Approver, CallInfo, CallOptions, CallTool, LogLevel, Surface, SurfaceClient, ToolContext } from './context.ts';
// Coordinators
export type { CancellationPort, Coordinator, HookAction, HookHandler, HookResult, HooksPort } from './coordinator.ts';
// Policy
export type { Allow, Ask, Decision, Deny, Effect } from './decision.ts';
export { allow, ask, deny } from './decision.ts';
export { hostToolRegistry } from './default-registry.ts';
export { defineTool } from './define-tool.ts';
export type { CallStatus, ErrorCode, MisuseCode, ToolError } from './errors.ts';
export { errorCodes, isMisuseError, MisuseError } from './errors.ts';
// Events and errors
export type { AnyEvent, ChangeReason, Emitter, EventBase, EventType, ToolEvents } from './events.ts';
export type { Explanation } from './explain.ts';
export type { BeforeAnswer, Hook, HookCall } from './hooks.ts';
export type { HostTool } from './host-tool.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './json.ts';
export type { MaybePromise } from './maybe-promise.ts';
export type { Mount, MountedResult, MountedTool, MountOptions } from './mount.ts';
export { mount, registerHostToolsOnSession } from './mount.ts';
export type { Policy, PolicySubject } from './policy.ts';
export type { Limits, Profile } from './profile.ts';
export type { ToolRegistration } from './registration.ts';
export { HostToolRegistry } from './registry.ts';
export type { Fail, Failure, Ok, ResultMetadata, ToolFailure, ToolResult, ToolSuccess } from './result.ts';
export { fail, ok } from './result.ts';
export type { Glob, Rule, WhenTest } from './rules.ts';
export type { InputOf, JsonSchema, ParsedOf, Schema, StandardSchema, TypedJsonSchema } from './schema/schema.ts';
export { jsonSchema } from './schema/schema.ts';
export type { ToolScope } from './scope.ts';
export { serializeOutput } from './serialize.ts';
export type { SessionOptions } from './session-options.ts';
// Registry and sessions
export type { Logger, RegistryOptions } from './state/registry-options.ts';
// Tools
export type {
  AnyTool,
  DefineTool,
  Executor,
  ExecutorToolConfig,
  FactRule,
  HandlerReturn,
  HostToolDefinition,
  KnobsOf,
  OutputFor,
  PolicyCall,
  SessionToolConfig,
  ToolConfig,
  ToolSpecBase,
} from './tool-config.ts';
export type { ToolRef } from './tool-ref.ts';
export type { Approvals, EffectiveTools, ToolSession } from './tool-session.ts';
export type { ToolAnnotations, ToolSummary } from './tool-summary.ts';
export type { Dropped, Overrides, Prerequisite } from './workflow/effective.ts';
export type { BatchPlan, PlannedCall, ToolCall } from './workflow/plan.ts';
