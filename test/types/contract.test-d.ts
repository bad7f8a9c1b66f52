/**
 * The exports hold what the contract says, name for name. Three kinds of proof:
 * `fits<Contract>(Ours)`: what the library gives is all that the contract promises.
 * `fits<Ours>(Contract)`: what the contract lets a host write is accepted. `adds`: every member is
 * there, and every further member is named here. Where a host writes, the library also takes an
 * explicit `undefined`; such types are proved in the second direction alone.
 */
import type * as Ours from '../../src/index.ts';
import type * as Contract from './contract.ts';
import { adds, fits, given, same } from './proof.ts';

interface Services {
  readonly db: { query(text: string): string };
}
type Elements<T> = T extends readonly (infer E)[] ? E : never;

// ---------- JSON and schemas
same<Ours.JsonPrimitive, Contract.JsonPrimitive>(true);
fits<Contract.JsonValue>(given<Ours.JsonValue>());
fits<Ours.JsonValue>(given<Contract.JsonValue>());
fits<Contract.JsonObject>(given<Ours.JsonObject>());
fits<Ours.JsonObject>(given<Contract.JsonObject>());
same<Ours.JsonSchema, Contract.JsonSchema>(true);
same<Ours.StandardSchema<1, 2>, Contract.StandardSchema<1, 2>>(true);
fits<Contract.Schema>(given<Ours.Schema>());
fits<Ours.Schema>(given<Contract.Schema>());
fits<Contract.TypedJsonSchema<1>>(given<Ours.TypedJsonSchema<1>>());
fits<Ours.TypedJsonSchema<1>>(given<Contract.TypedJsonSchema<1>>());
fits<typeof Contract.jsonSchema>(given<typeof Ours.jsonSchema>());
type Literal = {
  readonly type: 'object';
  readonly properties: {
    readonly a: { readonly type: 'string' };
    readonly b: { readonly enum: readonly [1, 2] };
    readonly c: { readonly type: 'integer'; readonly default: 1 };
  };
  readonly required: readonly ['a'];
};
// The contract asks callers for what has a default; the library fills it in, as it does for every
// other kind of schema.
same<Ours.ParsedOf<Literal>, Contract.ParsedOf<Literal>>(true);
fits<Ours.InputOf<Literal>>(given<Contract.InputOf<Literal>>());
same<Ours.ParsedOf<Ours.StandardSchema<1, 2>>, Contract.ParsedOf<Contract.StandardSchema<1, 2>>>(
  true,
);
same<Ours.InputOf<Ours.StandardSchema<1, 2>>, Contract.InputOf<Contract.StandardSchema<1, 2>>>(
  true,
);

// ---------- results
same<Ours.ErrorCode, Contract.ErrorCode>(true);
adds<Ours.ToolError, Contract.ToolError, 'cause'>(true);
// What was thrown, for code alone.
fits<Contract.ToolError>(given<Ours.ToolError>());
fits<Ours.ToolError>(given<Contract.ToolError>());
adds<Ours.ResultMetadata, Contract.ResultMetadata, 'replayed' | 'alongside' | 'logs'>(true);
fits<Contract.ResultMetadata>(given<Ours.ResultMetadata>());
fits<Ours.ResultMetadata>(given<Contract.ResultMetadata>());
fits<Contract.ToolResult<Services>>(given<Ours.ToolResult<Services>>());
fits<Ours.ToolResult<Services>>(given<Contract.ToolResult<Services>>());
fits<typeof Contract.ok>(given<typeof Ours.ok>());
fits<typeof Contract.fail>(given<typeof Ours.fail>());
fits<typeof Contract.content>(given<typeof Ours.content>());
fits<typeof Contract.serializeOutput>(given<typeof Ours.serializeOutput>());

// ---------- decisions
same<Ours.Allow, Contract.Allow>(true);
same<Ours.Ask, Contract.Ask>(true);
same<Ours.Deny, Contract.Deny>(true);
same<Ours.Decision, Contract.Decision>(true);
same<typeof Ours.allow, typeof Contract.allow>(true);
same<typeof Ours.ask, typeof Contract.ask>(true);
same<typeof Ours.deny, typeof Contract.deny>(true);

// ---------- context
adds<Ours.CallInfo<Services>, Contract.CallInfo<Services>>(true);
fits<Contract.CallInfo<Services>>(given<Ours.CallInfo<Services>>());
fits<Ours.CallInfo<Services>>(given<Contract.CallInfo<Services>>());
adds<Ours.ToolContext<Services, 1>, Contract.ToolContext<Services, 1>, 'credentials' | 'delegate'>(
  true,
);
fits<Contract.ToolContext<Services, 1>>(given<Ours.ToolContext<Services, 1>>());
same<Ours.LogLevel, Contract.LogLevel>(true);
fits<Contract.CallTool>(given<Ours.CallTool>());
adds<Ours.CallOptions, Contract.CallOptions, 'resourceKey'>(true);
fits<Ours.CallOptions>(given<Contract.CallOptions>());
adds<
  Ours.Surface,
  Contract.Surface,
  'strictNulls' | 'started' | 'shownName' | 'traceContext' | 'scopes' | 'source' | 'unasked'
>(true);
fits<Ours.Surface>(given<Contract.Surface>());

// ---------- definitions
type OurDefinition = Ours.HostToolDefinition<'a', 1, 2, 3, Services>;
type ContractDefinition = Contract.HostToolDefinition<'a', 1, 2, 3, Services>;
adds<
  Pick<OurDefinition, keyof OurDefinition & string>,
  Pick<ContractDefinition, keyof ContractDefinition & string>,
  'category' | 'deprecated'
>(true);
fits<ContractDefinition>(given<OurDefinition>());
fits<Contract.AnyTool<Services>>(given<Ours.AnyTool<Services>>());
adds<Ours.ToolAnnotations, Contract.ToolAnnotations, 'reversible'>(true);
fits<Ours.ToolAnnotations>(given<Contract.ToolAnnotations>());
same<Ours.HandlerReturn<Services>, Contract.HandlerReturn<Services>>(true);
same<
  Ours.OutputFor<undefined, Promise<Ours.Ok<1> | Ours.Fail | 2>>,
  Contract.OutputFor<undefined, Promise<Ours.Ok<1> | Ours.Fail | 2>>
>(true);
same<Ours.OutputFor<Literal, 1>, Contract.OutputFor<Literal, 1>>(true);
same<Ours.KnobsOf<Literal>, Contract.KnobsOf<Literal>>(true);
same<Ours.KnobsOf<undefined>, Contract.KnobsOf<undefined>>(true);
// Who may answer.
adds<Ours.ApprovalPrompt, Contract.ApprovalPrompt, 'approvers'>(true);
fits<Ours.ApprovalPrompt>(given<Contract.ApprovalPrompt>());
fits<Contract.PolicyCall<1, 2, Services>>(given<Ours.PolicyCall<1, 2, Services>>());
adds<Ours.PolicyCall<1, 2, Services>, Contract.PolicyCall<1, 2, Services>>(true);
fits<Ours.FactRule>(given<Contract.FactRule>());
fits<Contract.FactRule>(given<Ours.FactRule>());
type Spec<T extends 'ours' | 'contract'> = T extends 'ours'
  ? Ours.ToolSpecBase<'a', Literal, undefined, Literal, Services>
  : Contract.ToolSpecBase<'a', Literal, undefined, Literal, Services>;
// Where the text of outputs comes from, and whether the tool is on its way out.
adds<Spec<'ours'>, Spec<'contract'>, 'deprecated' | 'origin' | 'scopes' | 'task' | 'ui'>(true);
fits<Spec<'ours'>>(given<Spec<'contract'>>());
fits<Ours.ToolConfig<'a', Literal, undefined, Literal, Services, 1>>(
  given<Contract.ToolConfig<'a', Literal, undefined, Literal, Services, 1>>(),
);
fits<Ours.SessionToolConfig<'a', Literal, undefined, Literal, Services, 1>>(
  given<Contract.SessionToolConfig<'a', Literal, undefined, Literal, Services, 1>>(),
);
fits<Ours.ExecutorToolConfig<'a', Literal, undefined, Literal, Services>>(
  given<Contract.ExecutorToolConfig<'a', Literal, undefined, Literal, Services>>(),
);
adds<Ours.Executor, Contract.Executor>(true);
fits<Ours.Executor>(given<Contract.Executor>());
fits<keyof Contract.DefineTool<Services>>(given<keyof Ours.DefineTool<Services>>());
fits<keyof typeof Contract.defineTool>(given<keyof typeof Ours.defineTool>());
fits<{ for<S>(): Ours.DefineTool<S> }>(given<typeof Ours.defineTool>());

// ---------- rules, profiles, policies
same<Ours.Glob, Contract.Glob>(true);
// A rule can be tried before it is enforced.
adds<Ours.Rule, Contract.Rule, 'shadow' | 'origins' | 'actor' | 'approvers'>(true);
fits<Ours.Rule>(given<Contract.Rule>());
fits<Ours.WhenTest>(given<Contract.WhenTest>());
adds<Ours.WhenTest, Contract.WhenTest, 'origin' | 'alike'>(true);
fits<Ours.RuleTest>(given<Contract.RuleTest>());
adds<Ours.Profile, Contract.Profile, 'quotas' | 'approvers'>(true);
fits<Ours.Profile>(given<Contract.Profile>());
adds<
  Exclude<Elements<Ours.Profile['tools']>, string>,
  Exclude<Elements<Contract.Profile['tools']>, string>,
  'origins' | 'roles' | 'scopes' | 'task' | 'approvers'
>(true);
// A queue that is never left is a limit nobody can lift.
adds<Ours.Limits, Contract.Limits, 'queueTimeoutMs'>(true);
fits<Ours.Limits>(given<Contract.Limits>());
adds<Ours.PolicySubject<Services>, Contract.PolicySubject<Services>, 'signal'>(true);
fits<Contract.PolicySubject<Services>>(given<Ours.PolicySubject<Services>>());
adds<Ours.ToolSummary, Contract.ToolSummary>(true);
fits<Contract.ToolSummary>(given<Ours.ToolSummary>());
fits<Ours.ToolSummary>(given<Contract.ToolSummary>());
adds<Ours.Policy<Services>, Contract.Policy<Services>>(true);
fits<Ours.Policy<Services>>(given<Contract.Policy<Services>>());
fits<Contract.Policy<Services>>(given<Ours.Policy<Services>>());

// ---------- approvals
// Why a person is asked, where it is for a quota, and what tells questions apart.
adds<
  Ours.ApprovalRequest,
  Contract.ApprovalRequest,
  'quotas' | 'origins' | 'summary' | 'parent' | 'program' | 'login' | 'actor' | 'approvers'
>(true);
fits<Contract.ApprovalRequest>(given<Ours.ApprovalRequest>());
fits<Ours.ApprovalRequest>(given<Contract.ApprovalRequest>());
same<Ours.ApprovalChoice, Contract.ApprovalChoice>(true);
fits<Ours.ApprovalAnswer>(given<Contract.ApprovalAnswer>());
fits<Contract.ApprovalAnswer>(given<Ours.ApprovalAnswer>());
adds<Exclude<Ours.ApprovalAnswer, string>, Exclude<Contract.ApprovalAnswer, string>, 'roles'>(true);
adds<Ours.Grant, Contract.Grant>(true);
fits<Contract.Grant>(given<Ours.Grant>());
adds<
  Ours.PendingApproval,
  Contract.PendingApproval,
  | 'quotas'
  | 'origins'
  | 'summary'
  | 'parent'
  | 'program'
  | 'login'
  | 'actor'
  | 'approvers'
  | 'allowedBy'
>(true);
fits<Contract.PendingApproval>(given<Ours.PendingApproval>());
adds<Ours.Approvals, Contract.Approvals, 'outcome'>(true);
fits<Contract.Approvals>(given<Ours.Approvals>());

// ---------- registry, session
adds<
  Ours.RegistryOptions<Services>,
  Contract.RegistryOptions<Services>,
  | 'gates'
  | 'strictRules'
  | 'store'
  | 'quotas'
  | 'quotaStore'
  | 'origins'
  | 'idempotency'
  | 'offload'
  | 'undo'
  | 'maxDelegationDepth'
  | 'credentials'
>(true);
fits<Ours.RegistryOptions<Services>>(given<Contract.RegistryOptions<Services>>());
adds<
  Ours.SessionOptions<Services>,
  Contract.SessionOptions<Services>,
  'gates' | 'quotas' | 'origins' | 'discovery' | 'code' | 'scopes' | 'labels'
>(true);
adds<
  Ours.SessionOptions,
  Contract.SessionOptions<unknown>,
  'gates' | 'quotas' | 'origins' | 'discovery' | 'code' | 'scopes' | 'labels'
>(true);
fits<Ours.SessionOptions<Services>>(given<Contract.SessionOptions<Services>>());
fits<Ours.SessionOptions>(given<Contract.SessionOptions<unknown>>());
adds<Ours.Overrides, Contract.Overrides>(true);
fits<Ours.Overrides>(given<Contract.Overrides>());
adds<Ours.HookCall, Contract.HookCall>(true);
fits<Contract.HookCall>(given<Ours.HookCall>());
adds<Ours.Hook, Contract.Hook>(true);
fits<Ours.Hook>(given<Contract.Hook>());
fits<Contract.Hook>(given<Ours.Hook>());
adds<Ours.ToolRegistration, Contract.ToolRegistration>(true);
fits<Contract.ToolRegistration>(given<Ours.ToolRegistration>());
adds<Ours.HostTool<1, 2>, Contract.HostTool<1, 2>, 'deprecated' | 'executor'>(true);
fits<Contract.HostTool<1, 2>>(given<Ours.HostTool<1, 2>>());
adds<Ours.ToolEvents, Contract.ToolEvents, 'policy:shadow' | 'approval:settled'>(true);
fits<Contract.ToolEvents>(given<Ours.ToolEvents>());
// What every event of a session says since: who acted, and through what.
type Who = 'principal' | 'surface' | 'actor';
// What is asked of a running system most: how long, which try, whose child.
adds<
  Ours.ToolEvents['tool:pre'],
  Contract.ToolEvents['tool:pre'],
  'attempt' | 'parentCallId' | Who
>(true);
adds<Ours.ToolEvents['tool:post'], Contract.ToolEvents['tool:post'], 'durationMs' | Who>(true);
adds<
  Ours.ToolEvents['tool:error'],
  Contract.ToolEvents['tool:error'],
  'durationMs' | 'status' | 'input' | 'logs' | Who
>(true);
adds<Ours.ToolEvents['policy:check'], Contract.ToolEvents['policy:check'], 'origins' | Who>(true);
adds<Ours.ToolEvents['session:start'], Contract.ToolEvents['session:start'], 'profile' | Who>(true);
adds<Ours.ToolEvents['tools:changed'], Contract.ToolEvents['tools:changed'], 'reason'>(true);
adds<Ours.ToolEvents['approval:granted'], Contract.ToolEvents['approval:granted'], 'answers' | Who>(
  true,
);
adds<Ours.ToolEvents['approval:denied'], Contract.ToolEvents['approval:denied'], 'answers' | Who>(
  true,
);
type Unchanged = Exclude<
  keyof Ours.ToolEvents,
  | 'tool:pre'
  | 'tool:post'
  | 'tool:error'
  | 'policy:check'
  | 'session:start'
  | 'tools:changed'
  | 'policy:shadow'
  | 'approval:granted'
  | 'approval:denied'
  | 'approval:settled'
>;
same<
  { [K in Unchanged]: Exclude<keyof Ours.ToolEvents[K], Who> },
  { [K in Unchanged]: keyof Contract.ToolEvents[K] }
>(true);
adds<Ours.EventBase, Contract.EventBase, Who>(true);
fits<Contract.EventBase>(given<Ours.EventBase>());
fits<Contract.Emitter<{ a: 1; b: { c: 2 } }>>(given<Ours.Emitter<{ a: 1; b: { c: 2 } }>>());
adds<Ours.ToolCall, Contract.ToolCall>(true);
fits<Ours.ToolCall>(given<Contract.ToolCall>());
adds<Ours.BatchPlan, Contract.BatchPlan>(true);
fits<Contract.BatchPlan>(given<Ours.BatchPlan>());
adds<Elements<Ours.BatchPlan['calls']>, Elements<Contract.BatchPlan['calls']>>(true);
// The code that a call would end with, which its decision alone does not say.
adds<
  Ours.Explanation,
  Contract.Explanation,
  'code' | 'quotas' | 'deprecated' | 'origins' | 'executor' | 'budget' | 'ruleFaults' | 'approvers'
>(true);
fits<Contract.Explanation>(given<Ours.Explanation>());
// What the user wrote, where arguments came from, and permission for tools that run elsewhere.
adds<
  Ours.ToolSession<Services>,
  Contract.ToolSession<Services>,
  'said' | 'originOf' | 'authorize' | 'search' | 'declarations' | 'revert' | 'delegate'
>(true);
fits<Contract.ToolSession<Services>>(given<Ours.ToolSession<Services>>());
fits<Contract.ToolSession>(given<Ours.ToolSession>());
adds<
  ReturnType<Ours.ToolSession['effectiveTools']>,
  ReturnType<Contract.ToolSession['effectiveTools']>
>(true);
adds<
  Awaited<ReturnType<Ours.ToolSession['executeBatch']>>,
  Awaited<ReturnType<Contract.ToolSession['executeBatch']>>
>(true);
// Whatever can be disposed answers to `await using`.
adds<Ours.ToolScope<Services>, Contract.ToolScope<Services>, typeof Symbol.asyncDispose>(true);
fits<Contract.ToolScope<Services>>(given<Ours.ToolScope<Services>>());
adds<
  Ours.HostToolRegistry<Services>,
  Contract.HostToolRegistry<Services>,
  // What outlives a session, and which rules do nothing.
  typeof Symbol.asyncDispose | 'metrics' | 'unusedRules' | 'addQuotas' | 'approvals' | 'credentials'
>(true);
// `profile()` gives back what was given, and a host may write `undefined` for what it leaves out.
fits<Omit<Contract.HostToolRegistry<Services>, 'profile'>>(
  given<Ours.HostToolRegistry<Services>>(),
);
same<ReturnType<Ours.HostToolRegistry['profile']>, Ours.Profile | undefined>(true);
fits<new (options?: Contract.RegistryOptions<Services>) => Ours.HostToolRegistry<Services>>(
  given<typeof Ours.HostToolRegistry<Services>>(),
);
fits<new (options?: Contract.RegistryOptions<unknown>) => Ours.HostToolRegistry>(
  given<typeof Ours.HostToolRegistry>(),
);
same<ReturnType<Ours.HostToolRegistry<Services>['listTools']>, readonly Ours.AnyTool<Services>[]>(
  true,
);
same<typeof Ours.hostToolRegistry, Ours.HostToolRegistry>(true);
same<keyof typeof Contract.hostToolRegistry, keyof Contract.HostToolRegistry>(true);

// ---------- errors, coordinators
adds<Ours.MisuseError, Contract.MisuseError, Extract<keyof Ours.MisuseError, symbol> | 'part'>(
  true,
);
fits<Contract.MisuseError>(given<Ours.MisuseError>());
adds<Ours.Coordinator, Contract.Coordinator, 'capabilities'>(true);
fits<Ours.Coordinator>(given<Contract.Coordinator>());
fits<Contract.Coordinator>(given<Ours.Coordinator>());
adds<Ours.Mount, Contract.Mount>(true);
fits<Contract.Mount>(given<Ours.Mount>());
fits<
  (
    session: Ours.ToolSession<Services>,
    coordinator: Contract.Coordinator,
    options?: { onConflict?: 'skip' | 'replace' },
  ) => Promise<Contract.Mount>
>(given<typeof Ours.mount<Services>>());
fits<
  (
    target: unknown,
    registry: Ours.HostToolRegistry<Services>,
    options: Contract.SessionOptions<Services>,
  ) => Promise<string[]>
>(given<typeof Ours.registerHostToolsOnSession<Services>>());
fits<ReturnType<typeof Contract.mount>>(given<ReturnType<typeof Ours.mount>>());
same<
  ReturnType<typeof Ours.registerHostToolsOnSession>,
  ReturnType<typeof Contract.registerHostToolsOnSession>
>(true);
