/** The context of a handler in a sandbox. It has everything except the host's `services`. */
import type { Credential } from '../../../api/credentials.ts';
import type { ToolResult } from '../../../api/result.ts';
import type { CallTool, LogLevel, SurfaceClient, ToolContext } from '../../../core.ts';
import { heldCredential } from '../../../values/credential.ts';
import { messageOf } from '../../../values/errors/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../values/json/index.ts';
import { maxMessage, type SentContext, valueLimits } from '../messages.ts';
import type { Asks } from './asks.ts';

/** The part of a call that the context uses. */
export interface ContextPort {
  readonly signal: AbortSignal;
  readonly asks: Asks;
  /** Returns the value of `services`, which the host cannot send. May throw. */
  readonly services: unknown;
  progress(done: unknown, total: unknown, message: unknown): void;
  emit(name: unknown, data: unknown, log?: true): void;
}

/** A context. Its members are getters, as in the host. */
export class SandboxContext implements ToolContext<unknown, unknown, string> {
  readonly #sent: SentContext;
  readonly #run: ContextPort;

  constructor(sent: SentContext, run: ContextPort) {
    this.#sent = sent;
    this.#run = run;
    Object.freeze(this);
  }

  get sessionId(): string {
    return this.#sent.sessionId;
  }
  get cwd(): string {
    return this.#sent.cwd;
  }
  get environment(): Readonly<Record<string, string>> {
    return this.#sent.environment;
  }
  get metadata(): JsonObject {
    return this.#sent.metadata;
  }
  // `ToolContext` has each of these members either absent or with a value. A getter cannot be
  // absent, so its value may be undefined, which the type hides.
  get principal(): string {
    return this.#sent.principal as string;
  }
  get deadline(): number {
    return this.#sent.deadline as number;
  }
  get services(): unknown {
    return this.#run.services;
  }
  get callId(): string {
    return this.#sent.callId;
  }
  get toolName(): string {
    return this.#sent.toolName;
  }
  get signal(): AbortSignal {
    return this.#run.signal;
  }
  get idempotencyKey(): string {
    return this.#sent.idempotencyKey;
  }
  get knobs(): JsonValue {
    return this.#sent.knobs;
  }
  get credentials(): Readonly<Record<string, Credential>> {
    const all: Record<string, Credential> = Object.create(null) as Record<string, Credential>;
    for (const { name, token, expiresAt } of this.#sent.credentials ?? [])
      all[name] = heldCredential(token, expiresAt);
    return Object.freeze(all);
  }
  get client(): SurfaceClient {
    const { sample, elicit } = this.#sent;
    const asking = (kind: 'sample' | 'elicit') => (request: unknown) =>
      this.#question(kind, request);
    return (
      sample || elicit
        ? {
            ...(sample ? { sample: asking('sample') } : {}),
            ...(elicit ? { elicit: asking('elicit') } : {}),
          }
        : undefined
    ) as SurfaceClient;
  }
  get progress(): (done: number, total?: number, message?: string) => void {
    return (done, total, message) => this.#run.progress(done, total, message);
  }
  get emit(): (type: string, data?: JsonValue) => void {
    return (type, data) => this.#run.emit(type, data);
  }
  get log(): (level: LogLevel, data: JsonValue) => void {
    return (level, data) => this.#run.emit('log', { level, data }, true);
  }
  get tools(): { call: CallTool } {
    return Object.freeze({
      call: ((tool: unknown, input: unknown, options: unknown) =>
        this.#callTool(tool, input ?? {}, options ?? {})) as CallTool,
    });
  }

  async #question(kind: 'sample' | 'elicit', request: unknown): Promise<JsonValue> {
    const input = sendable(request);
    if ('fault' in input) throw new TypeError(`Expected a request that is JSON: ${input.fault}.`);
    return this.#run.asks.ask({ kind, name: '', input: input.value, options: {} });
  }

  async #callTool(tool: unknown, input: unknown, options: unknown): Promise<unknown> {
    const name = String(
      typeof tool === 'object' && tool !== null ? (tool as { name?: unknown }).name : tool,
    );
    const sent = sendable(input);
    if ('fault' in sent) return refused(name, `The input is not valid: ${sent.fault}.`);
    const { signal, ...others } = options as { signal?: AbortSignal };
    const more = sendable(others);
    if ('fault' in more || !isJsonObject(more.value))
      return refused(name, 'The options of the call cannot cross the boundary of a sandbox.');
    return this.#run.asks.ask({
      kind: 'tool',
      name: name.slice(0, 1_024),
      input: sent.value,
      options: more.value,
      signal,
    });
  }
}
Object.freeze(SandboxContext.prototype);

/** The result of a child call whose input cannot be sent. */
function refused(toolName: string, message: string): ToolResult {
  return {
    success: false,
    error: { code: 'invalid_input', message, retryable: false },
    metadata: { callId: '', toolName, status: 'rejected', durationMs: 0, attempt: 1 },
  };
}

export const tooLong = `more than ${maxMessage} bytes, which is the most that crosses a sandbox`;

/** Copies a value as JSON, or says why it is not JSON. Never throws. */
function sendable(value: unknown): { value: JsonValue } | { fault: string } {
  try {
    const copy = copyJson(value, valueLimits);
    if (!copy.ok)
      return { fault: copy.path === '' ? copy.message : `${copy.message} at ${copy.path}` };
    return copy.overflow ? { fault: tooLong } : { value: copy.value };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}
