/** The public exports of the core. */

// Tools

export type {
  InputOf,
  JsonSchema,
  ParsedOf,
  Schema,
  StandardSchema,
  TypedJsonSchema,
} from './schema/schema.ts';
export { jsonSchema } from './schema/schema.ts';
export type { Attribute } from './tool/attributes.ts';
export type { DefinitionChange, DefinitionComparison } from './tool/compare-definitions.ts';
export { compareDefinitions } from './tool/compare-definitions.ts';
export { defineTool } from './tool/define-tool.ts';
export type { Deprecation } from './tool/deprecation.ts';
export type { Executor } from './tool/executor.ts';
export type { FactRule } from './tool/fact-rule.ts';
export type { HostTool } from './tool/host-tool.ts';
export type { PolicyCall } from './tool/policy-call.ts';
export type { KnobsOf, ToolSpecBase } from './tool/spec-base.ts';
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
} from './tool/tool-config.ts';
export type { ToolAnnotations, ToolRef, ToolSummary } from './tool-summary.ts';

// Registry and sessions

export type { Negotiation } from './capabilities.ts';
export { negotiate } from './capabilities.ts';
export type { RuleFault } from './dead-rules/rule-faults.ts';
export { hostToolRegistry } from './registry/default-registry.ts';
export { HostToolRegistry } from './registry/registry.ts';
export type { ToolScope } from './registry/scope.ts';
export type { Authorization, ExternalOutcome } from './session/authorize.ts';
export type { BatchOptions, BatchResult } from './session/batch.ts';
export type { Explanation } from './session/explain.ts';
export type {
  CallCounts,
  CallMetrics,
  DurationMetrics,
  ExecutorMetrics,
  RuleMetrics,
  ToolMetrics,
} from './session/metrics.ts';
export type { SaidOptions } from './session/origins.ts';
export type { Approvals, EffectiveTools, ToolSession } from './session/session-api.ts';
export type { SessionOptions } from './session/session-options.ts';
export type { OriginOptions } from './state/origin-options.ts';
export type { ToolRegistration } from './state/registration.ts';
export type { Logger, RegistryOptions, SessionFor } from './state/registry-options.ts';
export type { UnusedRule } from './state/rule-use.ts';
export type { BatchPlan, PlannedCall, ToolCall } from './toolset/batch-plan.ts';
export type { Dropped, Overrides, Prerequisite } from './toolset/effective.ts';

// Calls and results

export type { Content } from './content.ts';
export { content } from './content.ts';
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
} from './context.ts';
export type { BeforeAnswer, Hook, HookCall } from './hooks.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './json/value.ts';
export type { MaybePromise } from './maybe-promise.ts';
export type {
  Fail,
  Failure,
  Ok,
  ResultMetadata,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from './result.ts';
export { fail, ok } from './result.ts';
export { serializeOutput } from './serialize.ts';

// Policy

export type { Allow, Ask, Decision, Deny, Effect } from './policy/decision.ts';
export { allow, ask, deny } from './policy/decision.ts';
export type { Limits } from './policy/limits.ts';
export type { Policy, PolicySubject } from './policy/policy.ts';
export type { Profile } from './policy/profile.ts';
export type { Quota, QuotaSubject } from './policy/quota.ts';
export type { Glob, Rule, RuleOrigins, RuleTest, WhenTest } from './policy/rule.ts';

// Origins

export type { KnownContainers } from './origins/known-containers.ts';
export type {
  FoundOrigin,
  JudgedOrigin,
  Origin,
  OriginTold,
  OutputOrigin,
  Role,
  SeenAt,
} from './origins/origin.ts';
export type { OriginRulesOptions } from './policy/origin-rules.ts';
export { originRules } from './policy/origin-rules.ts';

// Quotas

export type { QuotaLevel } from './quota/level.ts';
export type { MemoryQuotasOptions } from './quota/memory-quotas.ts';
export { memoryQuotas } from './quota/memory-quotas.ts';
export type { QuotaAnswer, QuotaSpend, QuotaStore, QuotaUse } from './quota/store.ts';

// Idempotency

export type { MemoryIdempotencyOptions } from './idempotency/memory-idempotency.ts';
export { memoryIdempotency } from './idempotency/memory-idempotency.ts';
export type { ClaimAnswer, IdempotencyClaim, IdempotencyStore } from './idempotency/store.ts';
export type { IdempotencyOptions } from './state/idempotency-options.ts';

// Offloading outputs

export type { MemoryOffloadOptions } from './offload/memory-offload.ts';
export { memoryOffload } from './offload/memory-offload.ts';
export type { OffloadedOutput, OffloadStore } from './offload/store.ts';
export type { OffloadOptions } from './state/offload-options.ts';

// Approvals

export type { ListedApproval } from './approval/head.ts';
export type {
  ApprovalAnswer,
  ApprovalChoice,
  ApprovalPrompt,
  ApprovalRequest,
  Grant,
  PendingApproval,
} from './approval/request.ts';
export type {
  AnsweredApproval,
  ApprovalQuery,
  ApprovalRecord,
  ApprovalStore,
  InboxStore,
  SettledApproval,
  SuspendedApproval,
} from './approval/store.ts';
export type {
  NamedAnswer,
  PendingOptions,
  RegistryApprovals,
} from './registry/registry-approvals.ts';
export type { Embed } from './search/meanings.ts';
export type { FoundTool, SearchOptions } from './session/search.ts';
export type { ApprovalOutcome } from './session/settle-approval.ts';
export type { DiscoveryOptions } from './state/discovery-options.ts';

// Events and errors

export type { ApprovalSettled } from './approval/settled.ts';
export { errorCodes } from './errors/codes.ts';
export type { CallStatus, ErrorCode, MisuseCode, ToolError } from './errors/index.ts';
export { isMisuseError, MisuseError } from './errors/index.ts';
export type {
  AnyEvent,
  ChangeReason,
  Emitter,
  EventBase,
  EventType,
  ToolEvents,
} from './events.ts';

// Coordinators

export type {
  CancellationPort,
  Coordinator,
  HookAction,
  HookHandler,
  HookResult,
  HooksPort,
} from './mount/coordinator.ts';
export type { Mount, MountOptions } from './mount/mount.ts';
export { mount, registerHostToolsOnSession } from './mount/mount.ts';
export type { MountedResult, MountedTool } from './mount/mounted-tool.ts';
