/**
 * The context that a handler is given: frozen, lazy, and without effect once the call has ended.
 */

import type {
  CallOptions,
  CallTool,
  LogLevel,
  SurfaceClient,
  ToolContext,
} from '../../api/context.ts';
import type { Credential } from '../../api/credentials.ts';
import type { DelegateOptions } from '../../api/delegation.ts';
import type { ToolSession } from '../../api/session.ts';
import { copyJson, deepFreeze, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { shortened } from '../../values/text/characters.ts';
import { Call, type FoundCall } from './call.ts';
import { shownJson, shownText } from './shown.ts';

const noCredentials = Object.freeze({});
const maxEvents = 1_000;
const maxEventChars = 65_536;

/** The call behind a context that the library made, for its own tools. Set by the class. */
export let callOf: (context: object) => FoundCall;

/** Its members are getters, so that what a handler does not read costs nothing. */
export class HandlerContext implements ToolContext<unknown, unknown, string> {
  readonly #call: FoundCall;

  static {
    callOf = (context) => (context as HandlerContext).#call;
  }

  constructor(call: FoundCall) {
    this.#call = call;
    Object.freeze(this);
  }

  /** The call behind the context of a handler. Undefined for an object that only looks like one. */
  static callOf(context: object): FoundCall | undefined {
    return #call in context ? context.#call : undefined;
  }

  get sessionId(): string {
    return this.#call.session.sessionId;
  }
  get cwd(): string {
    return this.#call.session.setup.cwd;
  }
  get environment(): Readonly<Record<string, string>> {
    return this.#call.session.setup.environment;
  }
  get metadata(): JsonObject {
    return this.#call.session.setup.metadata;
  }
  // `ToolContext` declares it as absent or a string, and a getter cannot be absent.
  get principal(): string {
    return this.#call.session.principal as string;
  }
  get services(): unknown {
    return this.#call.session.setup.services;
  }
  get callId(): string {
    return this.#call.callId;
  }
  get toolName(): string {
    return this.#call.toolName;
  }
  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get deadline(): number {
    const { registry } = this.#call.session;
    // A child's deadline is at most that of each call above it.
    let at = this.#call.dlAt;
    for (let call = this.#call.parent; call !== undefined; call = call.parent)
      at = Math.min(at, call.dlAt);
    return registry.now() + Math.max(0, at - registry.monotonic());
  }
  get idempotencyKey(): string {
    return this.#call.idempotencyKey;
  }
  get knobs(): unknown {
    return this.#call.knobs;
  }
  get client(): SurfaceClient {
    return this.#call.surface?.client as SurfaceClient;
  }
  get credentials(): Readonly<Record<string, Credential>> {
    return this.#call.extra?.credentials ?? noCredentials;
  }
  get progress(): (done: number, total?: number, message?: string) => void {
    return (done, total, message) => progress(this.#call, done, total, message);
  }
  get emit(): (type: string, data?: JsonValue) => void {
    return (type, data) => {
      const { events } = this.#call.entry.internals;
      if (events.length > 0 && !events.includes(type)) {
        this.#call.session.registry.warn(
          { tool: this.#call.toolName, event: shownName(this.#call, String(type)).slice(0, 100) },
          'an event that the definition does not declare was dropped',
        );
        return;
      }
      emitEvent(this.#call, type, data);
    };
  }
  get log(): (level: LogLevel, data: JsonValue) => void {
    return (level, data) => emitEvent(this.#call, 'log', { level, data });
  }
  get delegate(): (options: DelegateOptions) => ToolSession {
    return (options) => {
      const call = this.#call;
      const { parts, ports } = call.session.registry;
      const { delegate } = ports.calls;
      if (delegate === undefined)
        throw parts.missing('sessionMethods', 'delegate', 'context.delegate()');
      return delegate(call, options);
    };
  }
  get tools(): { call: CallTool } {
    return Object.freeze({
      call: ((tool: unknown, input: unknown, options?: CallOptions) =>
        this.#call.session.registry.spine.callChild(this.#call, tool, input, options)) as CallTool,
    });
  }
}
Object.freeze(HandlerContext.prototype);

/** Reports progress: resets the idle timeout and emits `tool:progress`. */
export function progress(call: FoundCall, done: number, total?: number, message?: string): void {
  if (call.state !== 'running') return;
  const { registry } = call.session;
  const idle = call.extra?.idle;
  const { idleTimeoutMs } = call.entry.internals.execution;
  // Adding a deadline that is already running moves it.
  if (idle !== undefined && idleTimeoutMs !== undefined)
    registry.waiting.deadlines.add(idle, idleTimeoutMs, registry.monotonic());
  if (!call.session.hasListener('tool:progress') || !Number.isFinite(done) || !mayEmit(call))
    return;
  const { toolName, callId } = call;
  call.session.emit(
    'tool:progress',
    {
      toolName,
      callId,
      done,
      ...(typeof total === 'number' && Number.isFinite(total) ? { total } : {}),
      ...(typeof message === 'string'
        ? { message: shortened(shownText(call, message), maxEventChars) }
        : {}),
    },
    call.surfaceName,
  );
}

/**
 * Emits a `tool:event`. Its data is bounded, and without what is hidden. Emits nothing once the
 * call has ended.
 */
export function emitEvent(call: FoundCall, name: string, data: unknown): void {
  if (
    call.state !== 'running' ||
    typeof name !== 'string' ||
    !call.session.hasListener('tool:event')
  )
    return;
  const { session, toolName, callId } = call;
  if (!mayEmit(call)) return;
  if (data === undefined)
    return session.emit(
      'tool:event',
      { toolName, callId, name: shownName(call, name) },
      call.surfaceName,
    );
  const copy = copyJson(data, { maxDepth: 64, maxValues: 10_000, maxChars: maxEventChars });
  // A character of JSON text takes at most six bytes, so only long data needs an exact count.
  if (
    !copy.ok ||
    copy.overflow ||
    (copy.size * 6 > maxEventChars && Buffer.byteLength(JSON.stringify(copy.value)) > maxEventChars)
  ) {
    session.registry.warn(
      {
        tool: toolName,
        event: shownName(call, name).slice(0, 100),
        reason: copy.ok ? 'over 64 KB' : copy.message,
      },
      'an event was dropped',
    );
    return undefined;
  }
  return session.emit(
    'tool:event',
    {
      toolName,
      callId,
      name: shownName(call, name),
      data: deepFreeze(shownJson(call, copy.value)),
    },
    call.surfaceName,
  );
}

/** The name of an event, bounded and without what is hidden. */
function shownName(call: FoundCall, name: string): string {
  return shownText(call, name).slice(0, 1_024);
}

function mayEmit(call: FoundCall): boolean {
  const { more } = call;
  if (++more.eventCount === maxEvents + 1)
    call.session.registry.warn(
      { tool: call.toolName, limit: maxEvents },
      'a call emitted more events than its limit; the rest is dropped',
    );
  return more.eventCount <= maxEvents;
}

/**
 * A call and a context that are never used. An engine forgets the shape of objects, and the code
 * compiled for it, when a garbage collection leaves none of them. The next ten thousand calls would
 * then cost several times as much, so a registry keeps these.
 */
export function exemplars(): readonly object[] {
  const call = new Call(undefined as never, '', '', undefined, undefined, undefined, undefined);
  call.startedAt = 0.5;
  call.dlAt = 0.5;
  return [call, new HandlerContext(call as FoundCall)];
}
