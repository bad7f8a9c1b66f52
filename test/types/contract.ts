/**
 * The public types as they were agreed before there was code: the contract that
 * `contract.test-d.ts` holds the exports to. Declarations only; nothing here runs. The branded
 * types are the library's own, because a brand of another file could never match: what they carry
 * is proved in `inference.test-d.ts`.
 */
// biome-ignore-all lint/suspicious/noExplicitAny: the contract says where `any` stood in it.
import type { Store } from '../../src/extend.ts';
import type { Content, Fail, Ok, ToolRef } from '../../src/index.ts';

export type { Content, Fail, Ok, ToolRef };

// ---------- JSON and schemas
export type JsonPrimitive = string | number | boolean | null;
export type JsonValue =
  | JsonPrimitive
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * The part of Standard Schema we read. Vendored: no dependency, any zod 3.25+/4, Valibot, ArkType,
 * Effect.
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    readonly validate: (value: unknown, ...rest: never[]) => unknown;
  };
}
declare const jsonSchemaType: unique symbol;
export interface JsonSchema {
  readonly '~standard'?: never;
  readonly $schema?: string;
  readonly type?: string | readonly string[];
  readonly [keyword: string]: unknown;
}
export type TypedJsonSchema<T> = JsonSchema & { readonly [jsonSchemaType]?: T };
/** Names the type of a raw JSON Schema; the library still validates by the schema. */
export declare function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T>;

export type Schema = StandardSchema<any, any> | JsonSchema;

/** Best-effort static type of a literal JSON Schema; anything it does not know is JsonValue. */
type FromJson<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array'; readonly items: infer I }
              ? readonly FromJson<I>[]
              : S extends { readonly type: 'object'; readonly properties: infer P }
                ? Flat<
                    {
                      readonly [K in keyof P as K extends Present<S, P> ? K : never]: FromJson<
                        P[K]
                      >;
                    } & {
                      readonly [K in keyof P as K extends Present<S, P> ? never : K]?: FromJson<
                        P[K]
                      >;
                    }
                  >
                : S extends { readonly type: 'object' }
                  ? JsonObject
                  : JsonValue;
type Present<S, P> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];
type Flat<T> = { [K in keyof T]: T[K] } & {};

export type InputOf<S> = // what a caller may send
  S extends { readonly '~standard': { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly input: infer I }
      ? I
      : unknown
    : typeof jsonSchemaType extends keyof S
      ? NonNullable<S[typeof jsonSchemaType & keyof S]>
      : FromJson<S> extends infer T
        ? JsonValue extends T
          ? JsonObject
          : T
        : never;
export type ParsedOf<S> = // what a handler gets
  S extends { readonly '~standard': { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly output: infer O }
      ? O
      : unknown
    : InputOf<S>;

// ---------- results
export declare function ok<T>(output: T, metadata?: JsonObject): Ok<T>;
export declare const content: {
  text(text: string): Content;
  image(base64: string, mimeType: string): Content;
  audio(base64: string, mimeType: string): Content;
  resource(resource: { uri: string; mimeType?: string; text?: string; blob?: string }): Content;
  link(link: { uri: string; name?: string; mimeType?: string }): Content;
};
export declare function fail(
  failure: string | { message: string; reason?: string; details?: JsonValue; retryable?: boolean },
): Fail;
export type ErrorCode =
  | 'tool_not_found'
  | 'tool_not_available'
  | 'invalid_input'
  | 'policy_denied'
  | 'policy_error'
  | 'approval_pending'
  | 'approval_denied'
  | 'approval_timeout'
  | 'timeout'
  | 'cancelled'
  | 'handler_error'
  | 'invalid_output'
  | 'rate_limited'
  | 'loop_detected'
  | 'tool_cycle'
  | 'session_closed'
  | 'duplicate_call_id'
  | 'sandbox_unavailable'
  | 'executor_lost'
  | 'internal';
export interface ToolError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason?: string;
  readonly ruleId?: string;
  readonly source?: string;
  readonly retryable: boolean;
  readonly details?: JsonValue;
}
export interface ResultMetadata {
  readonly callId: string;
  readonly toolName: string;
  readonly status: 'succeeded' | 'failed' | 'rejected' | 'cancelled' | 'pending';
  readonly durationMs: number;
  readonly attempt: number;
  readonly repaired?: readonly { path: string; rule: string }[];
  readonly fingerprint?: string;
  readonly truncated?: {
    originalChars: number;
    exact: boolean;
    strategy: 'head' | 'head_tail' | 'offload';
    handle?: string;
  };
  readonly handler?: JsonObject;
}
export type ToolResult<O = unknown> =
  | {
      readonly success: true;
      readonly output: O;
      readonly error?: undefined;
      readonly metadata: ResultMetadata;
    }
  | {
      readonly success: false;
      readonly error: ToolError;
      readonly output?: undefined;
      readonly metadata: ResultMetadata /** Not enumerable; only with `approval_pending`. */;
      readonly approval?: PendingApproval;
    };

// ---------- decisions
export interface Allow {
  readonly effect: 'allow';
}
export interface Ask {
  readonly effect: 'ask';
  readonly prompt?: string;
}
export interface Deny {
  readonly effect: 'deny';
  readonly reason: string;
  readonly message?: string;
}
export type Decision = Allow | Ask | Deny;
export declare function allow(): Allow;
export declare function ask(prompt?: string): Ask;
export declare function deny(reason: string, message?: string): Deny;
type MaybePromise<T> = T | Promise<T>;

// ---------- context
export interface CallInfo<Services = unknown> {
  readonly sessionId: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly principal?: string;
  readonly services: Services;
  readonly callId: string;
  readonly toolName: string;
}
export interface ToolContext<Services = unknown, Knobs = unknown> extends CallInfo<Services> {
  readonly signal: AbortSignal;
  readonly deadline?: number;
  readonly idempotencyKey: string;
  readonly knobs: Knobs;
  progress(done: number, total?: number, message?: string): void;
  emit(type: string, data?: JsonValue): void;
  log(level: LogLevel, data: JsonValue): void;
  /** Only where the surface's client offers it. */
  readonly client?: {
    sample?(request: JsonObject): Promise<JsonObject>;
    elicit?(request: {
      message: string;
      requestedSchema: JsonSchema;
    }): Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: JsonObject }>;
  };
  readonly tools: { call: CallTool };
}
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error';
export interface CallTool {
  <I, O>(tool: ToolRef<I, O>, input: I, options?: CallOptions): Promise<ToolResult<O>>;
  (name: string, input?: unknown, options?: CallOptions): Promise<ToolResult>;
}
export interface CallOptions {
  callId?: string;
  signal?: AbortSignal;
  timeoutMs?: number;
  idempotencyKey?: string;
  surface?: Surface;
}
/**
 * What a surface tells the spine about one call; host code only, never read from a payload. The
 * session's own `approver` and `exposeErrors`, where given, stand.
 */
export interface Surface {
  name: string;
  outside?: boolean;
  approver?: (
    request: ApprovalRequest,
    options: { signal: AbortSignal },
  ) => MaybePromise<ApprovalAnswer>;
  client?: ToolContext['client'];
  exposeErrors?: 'message' | 'masked';
}

// ---------- definition: NO handler on it; phantom types, covariant in/out, contravariant services
declare const toolServices: unique symbol;
export interface HostToolDefinition<
  Name extends string = string,
  I = unknown,
  O = unknown,
  K = unknown,
  in Services = never,
> extends ToolRef<I, O> {
  readonly name: Name;
  readonly description: string;
  readonly title?: string;
  readonly version?: string;
  readonly fingerprint: string;
  readonly parameters: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly knobsType?: K;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];
  readonly [toolServices]?: (services: Services) => void;
}
/** Any definition that a registry over `Services` can hold. */
export type AnyTool<Services = never> = HostToolDefinition<
  string,
  unknown,
  unknown,
  unknown,
  Services
>;

export interface ToolAnnotations {
  readOnly?: boolean;
  destructive?: boolean;
  idempotent?: boolean;
  openWorld?: boolean;
}
export type HandlerReturn<O> =
  | MaybePromise<O | Ok<O> | Fail>
  | AsyncGenerator<JsonValue | undefined, O | Ok<O> | Fail, unknown>;
type Plain<R> = R extends Fail ? never : R extends Ok<infer T> ? T : R extends void ? null : R;
type OutputFromReturn<R> =
  R extends AsyncGenerator<any, infer T, any> ? Plain<T> : Plain<Awaited<R>>;
type Needed<OS> = [OS] extends [Schema] ? InputOf<OS> : unknown;
export type OutputFor<OS, R> = [OS] extends [Schema] ? ParsedOf<OS> : OutputFromReturn<R>;

export interface ApprovalPrompt {
  title: string;
  message?: string;
  risk?: 'low' | 'medium' | 'high';
}
export interface PolicyCall<I, K, S> {
  readonly input: I;
  readonly knobs: K;
  readonly context: CallInfo<S>;
  allow(): Allow;
  ask(prompt?: string): Ask;
  deny(reason: string, message?: string): Deny;
}

export interface ToolSpecBase<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> {
  name: Name;
  description: string;
  parameters: P;
  outputSchema?: OS;
  title?: string;
  version?: string;
  category?: string;
  tags?: readonly string[];
  annotations?: ToolAnnotations;
  policy?: {
    knobs?: KS;
    check?(call: PolicyCall<ParsedOf<P>, KnobsOf<KS>, S>): MaybePromise<Decision>;
  };
  requiresApproval?:
    | boolean
    | ApprovalPrompt
    | ((input: ParsedOf<P>, context: CallInfo<S>) => MaybePromise<boolean | ApprovalPrompt>);
  attributes?: Readonly<
    Record<string, (value: unknown, context: CallInfo<S>) => MaybePromise<JsonValue | undefined>>
  >;
  timeoutMs?: number;
  idleTimeoutMs?: number;
  requires?: readonly FactRule[];
  parallelSafe?: boolean;
  resourceKey?: string | ((input: ParsedOf<P>) => string);
  maxOutputChars?: number;
  outputStrategy?: 'head' | 'head_tail' | 'offload';
  maxConcurrency?: number;
  uses?: readonly (string | ToolRef<any, any>)[];
  events?: readonly string[];
  scope?: 'global' | 'session';
  exposure?: 'model' | 'internal';
  provides?: readonly string[];
}
export type FactRule =
  | { fact: string; equals: JsonPrimitive }
  | { fact: string; in: readonly JsonPrimitive[] };
export type KnobsOf<KS> = [KS] extends [Schema] ? ParsedOf<KS> : Readonly<Record<string, never>>;

export interface ToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  create?: never;
  executor?: never;
}
/** Where a handler runs when it is not inline; `execute` gets the canonical input. */
export interface Executor {
  readonly kind?: string | undefined;
  execute(input: JsonObject, context: ToolContext<any, any>): Promise<unknown>;
  dispose?(): MaybePromise<void>;
}
export interface ExecutorToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  executor: Executor;
  handler?: never;
  create?: never;
}
export interface SessionToolConfig<
  Name extends string,
  P extends Schema,
  OS extends Schema | undefined,
  KS extends Schema | undefined,
  S,
  R,
> extends ToolSpecBase<Name, P, OS, KS, S> {
  create: (session: Omit<CallInfo<S>, 'callId' | 'toolName'>) => MaybePromise<{
    handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
    dispose?(): MaybePromise<void>;
  }>;
  handler?: never;
  executor?: never;
}
export type DefineTool<S> = <
  const Name extends string,
  const P extends Schema,
  const OS extends Schema | undefined = undefined,
  const KS extends Schema | undefined = undefined,
  R extends HandlerReturn<Needed<OS>> = HandlerReturn<Needed<OS>>,
>(
  config:
    | ToolConfig<Name, P, OS, KS, S, R>
    | SessionToolConfig<Name, P, OS, KS, S, R>
    | ExecutorToolConfig<Name, P, OS, KS, S>,
) => HostToolDefinition<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S>;
/**
 * Standalone: needs no services. `defineTool.for<Services>()` gives the same function over typed
 * services.
 */
export declare const defineTool: DefineTool<unknown> & { for<Services>(): DefineTool<Services> };

// ---------- rules, profiles, policies
export type Glob = string;
export interface Rule {
  id?: string;
  effect: 'allow' | 'ask' | 'deny';
  tools?: Glob | readonly Glob[];
  tags?: string | readonly string[];
  annotations?: ToolAnnotations;
  source?: Glob;
  principal?: RuleTest;
  surface?: RuleTest;
  facts?: Readonly<Record<string, RuleTest>>;
  when?: Readonly<Record<string, RuleTest>> | readonly ({ path: readonly string[] } & WhenTest)[];
  reason?: string;
}
export type RuleTest = JsonPrimitive | WhenTest;
export interface WhenTest {
  equals?: JsonPrimitive;
  in?: readonly JsonPrimitive[] | { fact: string };
  glob?: Glob;
  matches?: string;
  gt?: number;
  gte?: number;
  lt?: number;
  lte?: number;
  exists?: boolean;
  size?: RuleTest;
  not?: RuleTest;
  any?: readonly RuleTest[];
}
export interface Profile {
  id: string;
  extends?: string | readonly string[];
  tools: readonly (
    | string
    | {
        name: string;
        optional?: boolean;
        knobs?: JsonObject;
        requiresApproval?: true;
        timeoutMs?: number;
        maxOutputChars?: number;
      }
  )[];
  rules?: readonly Rule[];
  limits?: Limits;
  default?: 'allow' | 'ask' | 'deny';
}
export interface Limits {
  callsPerMinute?: number;
  maxConcurrentCalls?: number;
  maxQueuedCalls?: number;
  maxPendingApprovals?: number;
  loopGuard?: number | false;
  maxInputBytes?: number;
  maxOutputChars?: number;
}
export interface PolicySubject<S> {
  readonly tool: ToolSummary;
  readonly input: JsonObject;
  readonly context: CallInfo<S>;
  readonly knobs: JsonObject;
  readonly facts: JsonObject;
  readonly surface: string;
  readonly attributes: JsonObject;
}
export interface ToolSummary {
  readonly name: string;
  readonly source: string;
  readonly tags: readonly string[];
  readonly annotations: ToolAnnotations;
  readonly fingerprint: string;
}
export type Policy<S> = {
  id: string;
  check(call: PolicySubject<S>): MaybePromise<Decision | undefined>;
};

// ---------- approvals
export interface ApprovalRequest {
  readonly id: string;
  readonly sessionId: string;
  readonly principal?: string;
  readonly callId: string;
  readonly tool: ToolSummary;
  readonly input: JsonObject;
  readonly title: string;
  readonly message?: string;
  readonly risk?: 'low' | 'medium' | 'high';
  readonly ruleId?: string;
  readonly source: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly hiddenFields: readonly string[];
}
export type ApprovalChoice = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
export type ApprovalAnswer =
  | ApprovalChoice
  | {
      decision: ApprovalChoice;
      by?: string;
      message?: string;
      input?: JsonObject;
      grant?: { match?: 'input' | 'tool'; uses?: number; expiresInMs?: number };
    };
export interface Grant {
  readonly id: string;
  readonly tool: string;
  readonly effect: 'allow' | 'reject';
  readonly by?: string;
  readonly usesLeft?: number;
  readonly expiresAt?: number;
}
/** `token` only where a call was suspended. */
export interface PendingApproval extends ApprovalRequest {
  readonly token?: string;
}
export interface Approvals {
  pending(): Promise<readonly PendingApproval[]>;
  answer(id: string, answer: ApprovalAnswer): boolean;
  resume(token: string, answer: ApprovalAnswer): Promise<ToolResult>;
  grants(): readonly Grant[];
  revoke(id: string): boolean;
}

// ---------- registry, session
export interface RegistryOptions<S> {
  rules?: readonly Rule[];
  policies?: readonly Policy<S>[];
  default?: 'allow' | 'ask' | 'deny';
  defaultTimeoutMs?: number;
  policyTimeoutMs?: number;
  graceMs?: number;
  locks?: 'session' | 'registry';
  approvals?: {
    secret: string | Uint8Array | readonly (string | Uint8Array)[];
    store?: Store;
    ttlMs?: number;
  };
  redact?: readonly string[];
  now?: () => number;
  newId?: () => string;
  logger?: {
    warn(data: object, message?: string): void;
    error(data: object, message?: string): void;
  };
}
type ServicesPart<S> = unknown extends S ? { services?: S } : { services: S };
export type SessionOptions<S> = ServicesPart<S> & {
  sessionId: string;
  cwd?: string;
  environment?: Record<string, string>;
  metadata?: JsonObject;
  principal?: string;
  profile?: string;
  facts?: JsonObject;
  overrides?: Overrides;
  rules?: readonly Rule[];
  policies?: readonly Policy<S>[];
  hooks?: readonly Hook[];
  approver?: (
    request: ApprovalRequest,
    options: { signal: AbortSignal },
  ) => MaybePromise<ApprovalAnswer>;
  approvalMode?: 'ask' | 'suspend';
  approvalTimeoutMs?: number;
  repair?: 'off' | 'safe';
  exposeErrors?: 'message' | 'masked';
  limits?: Limits;
  idleTimeoutMs?: number;
  signal?: AbortSignal;
};
export interface Overrides {
  enable?: readonly string[];
  disable?: readonly string[];
  force?: readonly string[];
}
export interface HookCall {
  readonly callId: string;
  readonly tool: ToolSummary;
  readonly input: JsonObject;
  readonly sessionId: string;
}
export interface Hook {
  before?(
    call: HookCall,
  ): MaybePromise<
    | void
    | { action: 'continue' }
    | { action: 'modify'; input: JsonObject }
    | { action: 'deny'; reason: string; message?: string }
  >;
  after?(call: HookCall, result: ToolResult): MaybePromise<ToolResult | void>;
}
export interface ToolRegistration {
  readonly name: string;
  update(patch: { description?: string; timeoutMs?: number; requiresApproval?: boolean }): void;
  disable(): void;
  enable(): void;
  unregister(): boolean;
  drain(): Promise<void>;
  [Symbol.dispose](): void;
}
export interface HostTool<I = unknown, O = unknown> {
  readonly name: string;
  readonly description: string;
  readonly title?: string;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];
  readonly version?: string;
  readonly source: string;
  /** The JSON Schema; `parameters` and `getSchema()` are the same frozen object. */
  readonly inputSchema: JsonSchema;
  readonly parameters: JsonSchema;
  getSchema(): JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly requiresApproval: boolean;
  readonly fingerprint: string;
  execute(input: I, options?: CallOptions): Promise<ToolResult<O>>;
}
export interface ToolEvents {
  'tool:pre': EventBase & { toolName: string; callId: string; input: JsonValue };
  'tool:post': EventBase & { toolName: string; callId: string; result: JsonValue };
  'tool:error': EventBase & { toolName: string; callId: string; error: ToolError };
  'tool:progress': EventBase & {
    toolName: string;
    callId: string;
    done: number;
    total?: number;
    message?: string;
  };
  'tool:event': EventBase & { toolName: string; callId: string; name: string; data?: JsonValue };
  'tool:late': EventBase & {
    toolName: string;
    callId: string;
    settled: 'returned' | 'threw';
    afterMs: number;
  };
  'policy:check': EventBase & {
    toolName: string;
    callId: string;
    effect: 'allow' | 'ask' | 'deny';
    ruleId?: string;
    source?: string;
    reason?: string;
  };
  'approval:required': EventBase & { request: ApprovalRequest };
  'approval:granted': EventBase & {
    toolName: string;
    callId: string;
    approvalId: string;
    by?: string;
  };
  'approval:denied': EventBase & {
    toolName: string;
    callId: string;
    approvalId: string;
    reason: string;
    by?: string;
    message?: string;
  };
  'session:start': EventBase;
  'session:end': EventBase;
  'policy:violation': EventBase & {
    toolName: string;
    callId: string;
    reason: string;
    ruleId?: string;
    source?: string;
  };
  'tools:changed': {
    at: number;
    added: readonly string[];
    removed: readonly string[];
    modified: readonly string[];
  };
}
export interface EventBase {
  sessionId: string;
  at: number;
  seq: number;
}
export interface Emitter<M> {
  on<K extends keyof M>(type: K, listener: (event: M[K]) => void): () => void;
  on(
    type: '*',
    listener: (event: { [K in keyof M]: { type: K } & M[K] }[keyof M]) => void,
  ): () => void;
}
export interface ToolCall {
  id: string;
  name: string;
  arguments?: unknown;
  resourceKey?: string;
}
export interface ToolSession<S = unknown> {
  [Symbol.asyncDispose](): Promise<void>;
  readonly sessionId: string;
  tools(): readonly HostTool[];
  tool<I, O>(ref: ToolRef<I, O>): HostTool<I, O> | undefined;
  tool(name: string): HostTool | undefined;
  call: CallTool;
  plan(calls: readonly ToolCall[]): BatchPlan;
  effectiveTools(): {
    names: readonly string[];
    tools: readonly HostTool[];
    dropped: readonly { name: string; code: string }[];
    prerequisites: readonly { tool: string; fact: string; unlocks: readonly string[] }[];
    revision: number;
    hash: string;
  };
  executeBatch(
    calls: readonly ToolCall[],
    options?: { maxConcurrency?: number; stopOnError?: boolean; signal?: AbortSignal },
  ): Promise<{
    plan: BatchPlan;
    results: readonly { callId: string; toolName: string; result: ToolResult }[];
  }>;
  register(definition: AnyTool<S>): ToolRegistration;
  setProfile(id: string): void;
  setOverrides(o: Overrides): void;
  setFacts(facts: JsonObject): void;
  use(hook: Hook): () => void;
  explain(name: string, input?: unknown): Promise<Explanation>;
  readonly approvals: Approvals;
  readonly events: Emitter<ToolEvents>;
  metrics(): JsonObject;
  close(): Promise<void>;
}
export interface Explanation {
  readonly visible: boolean;
  readonly hiddenBy?: string;
  readonly unlockedBy?: readonly string[];
  readonly decision?: Decision;
  readonly ruleId?: string;
  readonly source?: string;
  readonly steps: readonly JsonObject[];
}
export interface ToolScope<S> {
  readonly source: string;
  register(d: AnyTool<S>): ToolRegistration;
  registerAll(d: readonly AnyTool<S>[]): readonly ToolRegistration[];
  listNames(): readonly string[];
  drain(): Promise<void>;
  dispose(): Promise<void>;
}
export declare class HostToolRegistry<S = unknown> {
  constructor(options?: RegistryOptions<S>);
  register(definition: AnyTool<S>): ToolRegistration;
  registerAll(definitions: readonly AnyTool<S>[]): readonly ToolRegistration[];
  registerOrReplace(definition: AnyTool<S>): boolean;
  unregister(name: string): boolean;
  get(name: string): AnyTool<S> | undefined;
  listTools(): readonly AnyTool<S>[];
  listNames(): readonly string[];
  clear(): number;
  close(): Promise<void>;
  readonly count: number;
  readonly revision: number;
  readonly events: Emitter<ToolEvents>;
  defineProfile(profile: Profile): void;
  profile(id: string): Profile | undefined;
  scope(source: string, options?: { prefix?: string; rules?: readonly Rule[] }): ToolScope<S>;
  addRules(rules: readonly Rule[]): () => void;
  createSession(options: SessionOptions<S>): ToolSession<S>;
  createSessionTools(
    sessionId: string,
    context: Omit<SessionOptions<S>, 'sessionId'>,
  ): readonly HostTool[];
}
export declare function serializeOutput(result: ToolResult): string;
export interface BatchPlan {
  readonly groups: readonly (readonly string[])[];
  readonly calls: readonly { id: string; name: string; accepted: boolean; code?: ErrorCode }[];
  readonly hash: string;
}
/** Thrown at a host's programming mistakes; nothing else is thrown. */
export declare class MisuseError extends Error {
  readonly name: 'MisuseError';
  readonly code: string;
}
export interface Coordinator {
  mount(point: string, module: unknown, name?: string): unknown;
  unmount(point: string, name?: string): unknown;
  get(point: string, name?: string): unknown;
  registerContributor?(channel: string, name: string, callback: () => unknown): unknown;
  registerCleanup?(fn: () => MaybePromise<void>): unknown;
  registerCapability?(name: string, value: unknown): unknown;
  readonly hooks?: unknown;
  readonly cancellation?: unknown;
}
export interface Mount {
  readonly mounted: readonly string[];
  readonly failed: readonly { name: string; error: string }[];
  refresh(): Promise<void>;
  unmount(): Promise<void>;
}
export declare function mount<S>(
  session: ToolSession<S>,
  coordinator: Coordinator,
  options?: { onConflict?: 'skip' | 'replace' },
): Promise<Mount>;
export declare function registerHostToolsOnSession<S>(
  target: unknown,
  registry: HostToolRegistry<S>,
  options: SessionOptions<S>,
): Promise<string[]>;
export declare const hostToolRegistry: HostToolRegistry;
