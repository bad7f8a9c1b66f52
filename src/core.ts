/**
 * The entry `host-tools/core`: everything without parts. A host names the parts that it wants.
 */

// Tools

export type { HostTool } from './api/session.ts';
export type {
  AnyTool,
  Deprecation,
  FactRule,
  HostToolDefinition,
  ToolAnnotations,
  ToolRef,
  ToolSummary,
} from './api/tool.ts';
export type {
  DefineTool,
  Executor,
  ExecutorToolConfig,
  ExternalToolConfig,
  HandlerReturn,
  OutputFor,
  SessionToolConfig,
  ToolConfig,
} from './api/tool-config.ts';
export type { Attribute, KnobsOf, PolicyCall, ToolSpecBase, ToolUi } from './api/tool-fields.ts';
export { defineTool } from './core/tool/define-tool.ts';
export {
  type InputOf,
  type JsonSchema,
  jsonSchema,
  type ParsedOf,
  type Schema,
  type StandardSchema,
  type TypedJsonSchema,
} from './values/schema/schema.ts';

// Registry and sessions

export type { Approvals } from './api/answers.ts';
export type { BatchOptions, BatchPlan, BatchResult, PlannedCall, ToolCall } from './api/batch.ts';
export type { Authorization, Explanation, ExternalOutcome, RuleFault } from './api/explanation.ts';
export type {
  CallCounts,
  CallMetrics,
  DurationMetrics,
  ExecutorMetrics,
  RuleMetrics,
  ToolMetrics,
} from './api/metrics.ts';
export type { OriginOptions, SaidOptions } from './api/origins.ts';
export type { Logger, RegistryOptions, SessionFor } from './api/registry.ts';
export type { Dropped, EffectiveTools, Prerequisite, ToolSession } from './api/session.ts';
export type { Overrides, SessionOptions } from './api/session-options.ts';
export type { ToolRegistration } from './api/tool.ts';
export type { CoreOptions } from './assembly/core-registry.ts';
export { HostToolRegistry } from './assembly/core-registry.ts';
export type { Part } from './core/part.ts';
export type { ToolScope } from './core/registry/scope.ts';
export type { UnusedRule } from './core/rules/rule-use.ts';
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
} from './api/context.ts';
export type { BeforeAnswer, Hook, HookCall } from './api/policy.ts';
export type {
  Fail,
  Failure,
  Ok,
  ResultMetadata,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from './api/result.ts';
export { fail, ok } from './core/result.ts';
export { serializeOutput } from './core/serialize.ts';
export type { Content } from './values/content.ts';
export { content } from './values/content.ts';
export type { JsonObject, JsonPrimitive, JsonValue } from './values/json/value.ts';
export type { MaybePromise } from './values/maybe-promise.ts';

// Credentials

export type {
  Credential,
  CredentialAnswer,
  CredentialNames,
  CredentialNeed,
  CredentialNeeds,
  CredentialRequest,
  CredentialResolver,
  RegistryCredentials,
} from './api/credentials.ts';

// Policy

export type { Actor, DelegatedAgent, DelegateOptions } from './api/delegation.ts';
export type {
  CallGate,
  Gate,
  GateCall,
  GateDenial,
  GateReplacement,
  GateSession,
  OutputGate,
  OutputGateCall,
} from './api/gate.ts';
export type { Allow, Ask, Decision, Deny, Effect, Policy, PolicySubject } from './api/policy.ts';
export type { Limits, Profile } from './api/profile.ts';
export type { Quota, QuotaSubject } from './api/quotas.ts';
export type { Glob, Rule, RuleOrigins, RuleTest, WhenTest } from './api/rule.ts';
export { defineGate } from './core/gates/define-gate.ts';
export { allow, ask, deny } from './core/rules/decision.ts';

// Origins

export type {
  FoundOrigin,
  JudgedOrigin,
  KnownContainers,
  Origin,
  OriginTold,
  OutputOrigin,
  Role,
  SeenAt,
} from './api/origins.ts';
export type { OriginRulesOptions } from './parts/origins/origin-rules.ts';

// Quotas

export type { QuotaLevel } from './api/quotas.ts';

// Idempotency

export type { IdempotencyOptions } from './api/registry.ts';

// Offloading outputs

export type { OffloadOptions } from './api/registry.ts';

// Undo

export type { UndoOptions } from './api/registry.ts';
export type { CallLeft, RevertedCalls } from './api/session.ts';

// Approvals

export type { Answerer, ApprovalOutcome, Approvers, GivenAnswer } from './api/answers.ts';
export type {
  ApprovalAnswer,
  ApprovalChoice,
  ApprovalPrompt,
  ApprovalRequest,
  AwaitedLogin,
  Grant,
  PendingApproval,
} from './api/approval.ts';
export type { SuspendedApproval } from './api/approval-store.ts';
export type {
  CodeAnswer,
  CodeError,
  CodeFault,
  CodeLimits,
  CodeOptions,
  CodeOutcome,
  CodeProgram,
  CodeRequest,
  CodeRunner,
} from './api/code.ts';
export type { FoundTool, SearchOptions } from './api/session.ts';
export type { DiscoveryOptions, Embed } from './api/session-options.ts';
export type { ListedApproval } from './parts/durable-approvals/head.ts';
export type {
  NamedAnswer,
  PendingOptions,
  RegistryApprovals,
} from './parts/durable-approvals/registry-approvals.ts';

// Events and errors

export type { ApprovalSettled } from './api/approval.ts';
export type {
  AnyEvent,
  ChangeReason,
  Emitter,
  EventBase,
  EventType,
  ToolEvents,
} from './api/events.ts';
export type { ErrorCode } from './values/errors/codes.ts';
export { errorCodes } from './values/errors/error-codes.ts';
export {
  type CallStatus,
  isMisuseError,
  type MisuseCode,
  MisuseError,
  type ToolError,
} from './values/errors/index.ts';

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
