/** What a call is told, and what it may be told by its caller. */
import type { ApprovalAnswer, ApprovalRequest } from './approval/request.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { MaybePromise } from './maybe-promise.ts';
import type { ToolResult } from './result.ts';
import type { JsonSchema } from './schema/schema.ts';
import type { ToolRef } from './tool-summary.ts';

/** Who calls what, where: the part of the context that gates may see. Frozen. */
export interface CallInfo<Services = unknown> {
  /** The session's id, as the host gave it. */
  readonly sessionId: string;
  /** The session's working directory; "" unless given. */
  readonly cwd: string;
  /**
   * What the host gave the session as environment; `process.env` is never read. {} unless given.
   */
  readonly environment: Readonly<Record<string, string>>;
  /** What the host attached to the session. {} unless given. */
  readonly metadata: JsonObject;
  /** Who the session acts for. */
  readonly principal?: string;
  /** What the host gave the session as `services`: the same object, not a copy. */
  readonly services: Services;
  /** Unique among the session's calls in flight; correlates events, results and approvals. */
  readonly callId: string;
  /** The name that the tool is registered under. */
  readonly toolName: string;
}

/** How grave a handler's log line is, mildest first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error';

/** What an agent's client may offer a handler: to sample its model, to ask its person. */
export interface SurfaceClient {
  /**
   * Asks the client's model, in the client's own protocol: `{ messages, maxTokens, … }`. Rejects as
   * the client does.
   */
  sample?(request: JsonObject): Promise<JsonObject>;
  /**
   * Asks the client's person for input of the given schema. `content` comes with `accept` alone.
   */
  elicit?(request: {
    message: string;
    requestedSchema: JsonSchema;
  }): Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: JsonObject }>;
}

/**
 * What a handler is given beside its input. Frozen, fresh for each call; any member may be
 * destructured.
 */
export interface ToolContext<Services = unknown, Knobs = unknown> extends CallInfo<Services> {
  /** Aborts when the call ends early: timeout, cancellation, closing. Made when first read. */
  readonly signal: AbortSignal;
  /**
   * When the call times out, in epoch milliseconds by the registry's `now`. Computed when first
   * read.
   */
  readonly deadline?: number;
  /**
   * Fresh for each logical call, kept when a suspended call is resumed; never derived from
   * `callId`.
   */
  readonly idempotencyKey: string;
  /** The tool's settings in the session's profile. Frozen. */
  readonly knobs: Knobs;
  /** Reports progress and resets the idle timeout. At most 1 000 events a call. */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Sends a `tool:event`. Where the definition lists `events`, `type` must be one of them; data up
   * to 64 KB, 1 000 events a call; what is over is dropped and logged.
   */
  emit(type: string, data?: JsonValue): void;
  /** Writes to whoever listens to logs: a `tool:event` named `log`. */
  log(level: LogLevel, data: JsonValue): void;
  /** Only where the surface's client offers it. */
  readonly client?: SurfaceClient;
  /** Calls another tool that `uses` names, through every gate. */
  readonly tools: { call: CallTool };
}

/**
 * What a surface tells the spine about one call; host code only, never read from a payload. The
 * session's own `approver` and `exposeErrors` stand where given.
 */
export interface Surface {
  /** Shown in events as `surface`, such as `mcp`. */
  readonly name: string;
  /** The caller is an outsider: a tool out of its profile is then unknown to it. */
  readonly outside?: boolean | undefined;
  /** Asks a person for this call. Used where the session has none. */
  readonly approver?: Approver | undefined;
  /** What the client behind the surface offers; becomes `context.client`. */
  readonly client?: SurfaceClient | undefined;
  /**
   * `masked` hides what handlers throw from this caller. Used where the session says nothing.
   * @default "message"
   */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
  /**
   * The surface's schema dialect made optional properties nullable: a null where the tool's own
   * schema takes none means "not given" (`repaired`, rule `strict_null`). @default false
   */
  readonly strictNulls?: boolean | undefined;
  /**
   * The name under which this surface shows a tool, for messages that the model reads: an id that a
   * provider does not take as a name is shown as another one. It must give back names that it does
   * not know as they are. Holds for child calls too; `error.details`, events and metrics name tools
   * by their ids.
   * @default the tool's own name
   */
  readonly shownName?: ((name: string) => string) | undefined;
  /**
   * Told once when every gate has passed, before the handler starts; not of child calls. It must
   * not throw.
   */
  readonly started?: (() => void) | undefined;
}

/** Asks a person. An error or an unknown answer rejects. */
export type Approver = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => MaybePromise<ApprovalAnswer>;

/** What a caller may say about one call. */
export interface CallOptions {
  /**
   * Correlates the call. Given twice while the first is in flight: `duplicate_call_id`. @default a
   * fresh one
   */
  callId?: string | undefined;
  /** Cancels the call, at any time. */
  signal?: AbortSignal | undefined;
  /** Milliseconds; can only shorten the tool's timeout. */
  timeoutMs?: number | undefined;
  /** Given on, as `context.idempotencyKey`. @default a fresh one */
  idempotencyKey?: string | undefined;
  /** Calls with the same key never overlap. The tool's own key holds beside it. @default none */
  resourceKey?: string | undefined;
  /** Who asks. For adapters: host code alone gives it, never a payload. */
  surface?: Surface | undefined;
}

/**
 * Calls a tool by name or definition; a definition gives the types. Never throws, never rejects: a
 * failure is a result.
 */
export interface CallTool {
  <I, O>(tool: ToolRef<I, O>, input: I, options?: CallOptions): Promise<ToolResult<O>>;
  (name: string, input?: unknown, options?: CallOptions): Promise<ToolResult>;
}
