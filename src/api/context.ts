/** What a handler receives with a call, and what the caller may pass with it. */

import type { JsonObject, JsonValue } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { JsonSchema } from '../values/schema/schema.ts';
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts';
import type { Credential } from './credentials.ts';
import type { DelegateOptions } from './delegation.ts';
import type { ToolResult } from './result.ts';
import type { ToolSession } from './session.ts';
import type { ToolRef } from './tool.ts';

/** The session and the call: the part of the context that policies and hooks see. Frozen. */
export interface CallInfo<Services = unknown> {
  /** The session's id, as the host passed it to `createSession`. */
  readonly sessionId: string;
  /** The session's working directory. "" if the session has none. */
  readonly cwd: string;
  /** The session's `environment`. {} if it has none. The library never reads `process.env`. */
  readonly environment: Readonly<Record<string, string>>;
  /** The session's `metadata`. {} if it has none. */
  readonly metadata: JsonObject;
  /** The user or account that the session acts for. */
  readonly principal?: string;
  /** The session's `services`: the same object, not a copy. */
  readonly services: Services;
  /**
   * The id of the call, in its events, results and approvals. No two calls of a session that run at
   * the same time have the same id.
   */
  readonly callId: string;
  /** The name under which the tool is registered. */
  readonly toolName: string;
}

/** The severity of a log line, from lowest to highest. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error';

/** What the agent's client lets a handler do: ask its model, or ask its user. */
export interface SurfaceClient {
  /**
   * Asks the client's model. The request has the form of the client's own protocol, such as
   * `{ messages, maxTokens, … }`. Rejects if the client rejects.
   */
  sample?(request: JsonObject): Promise<JsonObject>;
  /**
   * Asks the client's user for input that matches the schema. Only `accept` comes with `content`,
   * which was checked. Rejects if the client cannot be asked, or gives another answer.
   * `key` names the question, for clients that answer by name, such as those of MCP in the 2026
   * era; without it, or if the call has used it, the question gets one.
   */
  elicit?(request: {
    message: string;
    requestedSchema: JsonSchema;
    key?: string;
  }): Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: JsonObject }>;
}

/**
 * The second argument of a handler. Each call gets its own, frozen. You can destructure any member.
 */
export interface ToolContext<
  Services = unknown,
  Knobs = unknown,
  Credentials extends string = never,
> extends CallInfo<Services> {
  /**
   * Aborts when the call ends early: it timed out, it was cancelled, or the session was closed.
   * Created on first access.
   */
  readonly signal: AbortSignal;
  /**
   * When the call times out, in epoch milliseconds of the registry's `now`. Computed on first
   * access.
   */
  readonly deadline?: number;
  /**
   * A key for your backend, so that it can detect a repeated request. Each call has a new one; a
   * suspended call keeps its key when it is resumed. Never derived from `callId`.
   */
  readonly idempotencyKey: string;
  /** The tool's settings in the session's profile. Frozen. */
  readonly knobs: Knobs;
  /** The credentials that the definition's `credentials` names: none without it. Frozen. */
  readonly credentials: Readonly<Record<Credentials, Credential>>;
  /** Reports progress and restarts the idle timeout. At most 1 000 events per call. */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Sends a `tool:event`. If the definition lists `events`, `type` must be one of them. `data` may
   * have up to 64 KB, and a call may send 1 000 events. Events beyond these limits are dropped, and
   * the logger gets a warning.
   */
  emit(type: string, data?: JsonValue): void;
  /** Logs a value: sends a `tool:event` of type `log`. */
  log(level: LogLevel, data: JsonValue): void;
  /** The agent's client, if it offers more than tool calls. */
  readonly client?: SurfaceClient;
  /**
   * Calls another tool, which the definition must list in `uses`. The call passes the same checks
   * as any other.
   */
  readonly tools: { call: CallTool };
  /**
   * Makes a session for a sub-agent, as `session.delegate` does. Its calls are calls of this
   * handler: `uses` must list their tools, their `parentCallId` is this call, and they and the
   * session end with it. Absent in sandboxes and other processes.
   * @throws MisuseError As `session.delegate`, and `closed` once the call has ended.
   */
  delegate?(options: DelegateOptions): ToolSession;
}

/**
 * Removes the nulls that mean "not given" from an input.
 * @param schema The JSON Schema of the input.
 * @param dropped Gets the path of each null that was removed.
 */
export type DropNulls = (
  input: JsonObject,
  schema: JsonObject,
  dropped: (path: string) => void,
) => JsonObject;

/**
 * What an adapter tells the session about one call. Only host code sets it. It is never read from a
 * payload. The session's own `approver` and `exposeErrors` take precedence.
 */
export interface Surface {
  /** The adapter's name, such as `mcp`. Events have it as `surface`. */
  readonly name: string;
  /**
   * Of an app (MCP Apps): the source of the tool whose app it is, such as `mcp:charts`. With the
   * name `app`, the call may use the tools of this source only, and also those that no model sees.
   * @default none
   */
  readonly source?: string | undefined;
  /**
   * Whether the caller is outside the host's process. Tools outside the profile are then
   * `unknown_tool` to it.
   * @default false
   */
  readonly outside?: boolean | undefined;
  /** Asks a person about this call. Used if the session has no approver. @default none */
  readonly approver?: Approver | undefined;
  /** What the client offers to handlers, as `context.client`. @default nothing */
  readonly client?: SurfaceClient | undefined;
  /**
   * `masked` hides the messages of thrown errors from this caller. Used if the session does not set
   * `exposeErrors`.
   * @default "message"
   */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
  /**
   * Whether the adapter's schema made optional properties nullable. A null that the tool's own
   * schema does not accept then means "not given" (`repaired`, rule `strict_null`). A function
   * removes such nulls itself. In a registry of `host-tools/core`, `true` needs the part
   * `jsonSchemas()`.
   * @default false
   */
  readonly strictNulls?: boolean | DropNulls | undefined;
  /**
   * Returns the name under which this adapter shows a tool, for messages that the model reads.
   * Providers do not accept every name, so an adapter may have to show a different one. It must
   * return a name that it does not know unchanged. Child calls use it too. `error.details`, events
   * and metrics have the tool's own name.
   * @default the tool's own name
   */
  readonly shownName?: ((name: string) => string) | undefined;
  /**
   * Called once, when all checks have passed and before the handler starts. Not called for child
   * calls. It must not throw.
   * @default none
   */
  readonly started?: (() => void) | undefined;
  /**
   * The caller's place in a trace, if the request brought one. `instrument` of `host-tools/otel`
   * then makes the call's span a child of it. It decides nothing, so it may come from outside. A
   * value of the wrong form is ignored.
   * @default none
   */
  readonly traceContext?: TraceContext | undefined;
  /**
   * The scopes that the caller's token grants to this request, for tools with `scopes`.
   * @default those of the session
   */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Whether the tool already runs elsewhere, and nobody was asked before. Audit logs record that,
   * and what a rule asks about is denied (`unasked`), because no answer could change it.
   * @default false
   */
  readonly unasked?: boolean | undefined;
}

/**
 * Asks a person. An error or an invalid answer rejects the call.
 */
export type Approver = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => MaybePromise<ApprovalAnswer>;

/** Options of one call. */
export interface CallOptions {
  /**
   * The id of the call. If another call with this id is still running, the new one fails with
   * `duplicate_call_id`.
   * @default a random id
   */
  callId?: string | undefined;
  /** Cancels the call when it aborts, at any time. @default none */
  signal?: AbortSignal | undefined;
  /** Milliseconds, above 0. It can only shorten the tool's timeout. @default the tool's timeout */
  timeoutMs?: number | undefined;
  /**
   * Passed to the handler as `context.idempotencyKey`. In a registry with `idempotency`, calls with
   * the same key, tool, principal and arguments run once. Not blank. @default a random key
   */
  idempotencyKey?: string | undefined;
  /**
   * Calls with the same key never overlap. The tool's own `resourceKey` applies as well.
   * @default none
   */
  resourceKey?: string | undefined;
  /** For adapters. Set it from host code only, never from a payload. @default none */
  surface?: Surface | undefined;
}

/** The type of `session.call` and of `context.tools.call`. */
export interface CallTool {
  // Only one of the two takes an input. If both did, the compiler would report a mistake in the
  // input as "no overload matches this call", at the tool and not at the input.
  /**
   * Calls a tool that needs no input, by its definition or its name. Never throws and never
   * rejects: a failure is a result.
   */
  <I, O>(
    tool: string | (ToolRef<I, O> & (Record<never, never> extends I ? unknown : 'needs an input')),
  ): Promise<ToolResult<O>>;
  /**
   * Calls a tool by its definition or its name. The definition types the input and the output.
   * Never throws and never rejects: a failure is a result.
   *
   * @example
   * ```ts
   * const result = await session.call(add, { a: 1, b: 2 });
   * if (result.success) console.log(result.output);
   * else console.error(result.error.code, result.error.message);
   * ```
   */
  <I, O>(tool: ToolRef<I, O> | string, input: I, options?: CallOptions): Promise<ToolResult<O>>;
}

/**
 * A place in a trace, in the form of [W3C Trace Context](https://www.w3.org/TR/trace-context/).
 *
 * @example
 * ```ts
 * import type { TraceContext } from 'host-tools';
 *
 * const traceContext: TraceContext = {
 *   traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
 * };
 * await session.call('deploy', {}, { surface: { name: 'queue', traceContext } });
 * ```
 */
export interface TraceContext {
  /** Version, trace id, span id and flags: 55 characters. */
  readonly traceparent: string;
  /** What tracing systems add, up to 512 characters. @default none */
  readonly tracestate?: string | undefined;
}
