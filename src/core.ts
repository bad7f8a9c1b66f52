/**
 * The entry `host-tools/core`: everything without parts. A host names the parts that it wants.
 */

// Tools

export type { Attribute } from './core/tool/attributes.ts';
export { defineTool } from './core/tool/define-tool.ts';
export type { Deprecation } from './core/tool/deprecation.ts';
export type { Executor } from './core/tool/executor.ts';
export type { FactRule } from './core/tool/fact-rule.ts';
export type { HostTool } from './core/tool/host-tool.ts';
export type { PolicyCall } from './core/tool/policy-call.ts';
export type { KnobsOf, ToolSpecBase } from './core/tool/spec-base.ts';
export type {
  AnyTool,
  DefineTool,
  ExecutorToolConfig,
  ExternalToolConfig,
  HandlerReturn,
  HostToolDefinition,
  OutputFor,
  SessionToolConfig,
  ToolConfig,
} from './core/tool/tool-config.ts';
export type { ToolAnnotations, ToolRef, ToolSummary } from './core/tool/tool-summary.ts';
export type {
  InputOf,
  JsonSchema,
  ParsedOf,
  Schema,
  StandardSchema,
  TypedJsonSchema,
} from './values/schema/schema.ts';
export { jsonSchema } from './values/schema/schema.ts';

// Registry and sessions

export type { CoreOptions } from './assembly/core-registry.ts';
export { HostToolRegistry } from './assembly/core-registry.ts';
export type { Part } from './core/part.ts';
export type { ToolRegistration } from './core/registry/registration.ts';
export type { Logger, RegistryOptions, SessionFor } from './core/registry/registry-options.ts';
export type { ToolScope } from './core/registry/scope.ts';
export type { UnusedRule } from './core/rules/rule-use.ts';
export type { BatchOptions, BatchResult } from './core/session/batch.ts';
export type {
  CallCounts,
  CallMetrics,
  DurationMetrics,
  ExecutorMetrics,
  RuleMetrics,
  ToolMetrics,
} from './core/session/metrics.ts';
export type { Approvals, EffectiveTools, ToolSession } from './core/session/session-api.ts';
export type { SessionOptions } from './core/session/session-options.ts';
export type { BatchPlan, PlannedCall, ToolCall } from './core/toolset/batch-plan.ts';
export type { Dropped, Overrides, Prerequisite } from './core/toolset/effective.ts';
export type { Authorization, ExternalOutcome } from './parts/explain/authorize.ts';
export type { Explanation } from './parts/explain/explain.ts';
export type { OriginOptions } from './parts/origins/origin-options.ts';
export type { SaidOptions } from './parts/origins/report-texts.ts';
export type { RuleFault } from './parts/rule-review/rule-faults.ts';
export type { Negotiation } from './values/capabilities.ts';
export { negotiate } from './values/capabilities.ts';

// Calls and results

export type {
  Approver,
  CallInfo,
  CallOptions,
  CallTool,
  LogLevel,
  Surface,
  SurfaceClient,
  ToolContext,
  TraceContext,
} from './core/context.ts';
export type { BeforeAnswer, Hook, HookCall } from './core/hooks.ts';
export type {
  Fail,
  Failure,
  Ok,
  ResultMetadata,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from './core/result.ts';
export { fail, ok } from './core/result.ts';
export { serializeOutput } from './core/serialize.ts';
export type { Content } from './values/content.ts';
export { content } from './values/content.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './values/json/value.ts';
export type { MaybePromise } from './values/maybe-promise.ts';

// Policy

export type {
  CallGate,
  Gate,
  GateCall,
  GateDenial,
  GateReplacement,
  GateSession,
  OutputGate,
  OutputGateCall,
} from './core/gates/gate.ts';
export { defineGate } from './core/gates/gate.ts';
export type { Allow, Ask, Decision, Deny, Effect } from './core/rules/decision.ts';
export { allow, ask, deny } from './core/rules/decision.ts';
export type { Limits } from './core/rules/limits.ts';
export type { Policy, PolicySubject } from './core/rules/policy.ts';
export type { Profile } from './core/rules/profile.ts';
export type { Glob, Rule, RuleOrigins, RuleTest, WhenTest } from './core/rules/rule.ts';
export type { Quota, QuotaSubject } from './parts/quotas/quota.ts';

// Origins

export type { KnownContainers } from './parts/origins/known-containers.ts';
export type {
  FoundOrigin,
  JudgedOrigin,
  Origin,
  OriginTold,
  OutputOrigin,
  Role,
  SeenAt,
} from './parts/origins/origin.ts';
export type { OriginRulesOptions } from './parts/origins/origin-rules.ts';

// Quotas

export type { QuotaLevel } from './parts/quotas/level.ts';
export type { MemoryQuotasOptions } from './parts/quotas/memory-quotas.ts';
export type { QuotaAnswer, QuotaSpend, QuotaStore, QuotaUse } from './parts/quotas/store.ts';

// Idempotency

export type { IdempotencyOptions } from './parts/idempotency/idempotency-options.ts';
export type { MemoryIdempotencyOptions } from './parts/idempotency/memory-idempotency.ts';
export type { ClaimAnswer, IdempotencyClaim, IdempotencyStore } from './parts/idempotency/store.ts';

// Offloading outputs

export type { MemoryOffloadOptions } from './parts/offload/memory-offload.ts';
export type { OffloadOptions } from './parts/offload/offload-options.ts';
export type { OffloadedOutput, OffloadStore } from './parts/offload/store.ts';

// Approvals

export type {
  ApprovalAnswer,
  ApprovalChoice,
  ApprovalPrompt,
  ApprovalRequest,
  Grant,
  PendingApproval,
} from './core/approval/request.ts';
export type { DiscoveryOptions } from './parts/discovery/discovery-options.ts';
export type { Embed } from './parts/discovery/meanings.ts';
export type { FoundTool, SearchOptions } from './parts/discovery/search.ts';
export type { ListedApproval } from './parts/durable-approvals/head.ts';
export type {
  NamedAnswer,
  PendingOptions,
  RegistryApprovals,
} from './parts/durable-approvals/registry-approvals.ts';
export type { ApprovalOutcome } from './parts/durable-approvals/settle-approval.ts';
export type {
  AnsweredApproval,
  ApprovalQuery,
  ApprovalRecord,
  ApprovalStore,
  InboxStore,
  SettledApproval,
  SuspendedApproval,
} from './parts/durable-approvals/store.ts';

// Events and errors

export type { ApprovalSettled } from './core/approval/settled.ts';
export type {
  AnyEvent,
  ChangeReason,
  Emitter,
  EventBase,
  EventType,
  ToolEvents,
} from './core/events.ts';
export { errorCodes } from './values/errors/codes.ts';
export type { CallStatus, ErrorCode, MisuseCode, ToolError } from './values/errors/index.ts';
export { isMisuseError, MisuseError } from './values/errors/index.ts';

// Coordinators

export type {
  CancellationPort,
  Coordinator,
  HookAction,
  HookHandler,
  HookResult,
  HooksPort,
} from './core/mount/coordinator.ts';
export type { Mount, MountOptions } from './core/mount/mount.ts';
export { mount, registerHostToolsOnSession } from './core/mount/mount.ts';
export type { MountedResult, MountedTool } from './core/mount/mounted-tool.ts';
