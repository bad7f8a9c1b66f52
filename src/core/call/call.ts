/** The record of one call: what the stages read and write as the call passes through them. */

import type { ApprovalRequest } from '../../api/approval.ts';
import type { CallInfo, Surface, TraceContext } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import { randomUUID } from '../../values/crypto.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { AbortEntry } from '../../values/limits/abort-hub.ts';
import { type AsyncScope, currentScope } from '../../values/limits/async-scope.ts';
import type { Deadline, DeadlineList } from '../../values/limits/deadlines.ts';
import type { Holder, Waitable } from '../../values/limits/wait-graph.ts';
import type { ReadAnswer } from '../approval/request.ts';
import type { Details, Verdict } from '../rules/verdict.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { Binding } from './binding.ts';
import { CallExtra } from './call-extra.ts';
import type { ReadCallOptions } from './call-options.ts';
import type { RuleCount } from './counters.ts';
import type { CallSession } from './session-port.ts';

/** What a resumed call carries over from the call that was suspended. */
export interface Resumed {
  readonly approvalId: string;
  /** Undefined for a program that only waited for its calls: nobody was asked about it. */
  readonly answer: ReadAnswer | undefined;
  readonly idempotencyKey: string;
  /** The fingerprint of the tool when approval was requested. */
  readonly fingerprint: string;
  /** The source of the tool when approval was requested. */
  readonly source: string;
  /** What the person was shown besides, and agreed to. */
  readonly details: Details | undefined;
  /** The call that made it, in another run or process, and where. */
  readonly place: Pick<ApprovalRequest, 'parent' | 'program'> | undefined;
  /** The place of the suspended call in a trace. */
  readonly trace: TraceContext | undefined;
}

/**
 * A call after lookup. Every stage after lookup takes this type, so that it cannot run before the
 * tool is known. It is the same object: a second one would cost every call an allocation.
 */
export interface FoundCall extends Call {
  binding: Binding;
  entry: ToolEntry;
}

/** Whether lookup has found the tool of a call. */
export function isFound(call: Call): call is FoundCall {
  return call.binding !== undefined;
}

const noInput: JsonObject = Object.freeze({});

/**
 * One call, with its fields grouped by the phase that first sets them. The call is its own
 * deadline, slot holder and abort entry, so that none of these needs a further object. It is one
 * record, since it is made for each call: with the handler's phase in an object of its own, the row
 * "check + timeout + budget" of `npm run bench` takes 3 to 6 in a hundred longer.
 */
export class Call implements Deadline, Holder, AbortEntry {
  // Arrival.
  readonly session: CallSession;
  readonly toolName: string;
  readonly callId: string;
  /** The input as the caller passed it. */
  readonly input: unknown;
  readonly options: ReadCallOptions | undefined;
  /** The call whose handler made this one. */
  readonly parent: FoundCall | undefined;
  /** Monotonic milliseconds. */
  startedAt = 0;

  // Admission.
  /** The JSON that is validated, judged, shown and run. */
  canonical: JsonObject = noInput;
  /** Some object in the canonical input has an own member named `__proto__`. */
  unsafe = false;
  /** `tool:pre` was emitted for the call, or would have been if it had a listener. */
  announced = false;

  // Lookup.
  /** The tool in this session. Always set together with {@link entry}; see {@link FoundCall}. */
  binding: Binding | undefined;
  /** The tool that lookup found. The call keeps it, even when the tool is replaced. */
  entry: ToolEntry | undefined;
  /** The call counts in its entry's `inFlight`. */
  counted = false;

  // Gates.
  /** The handler's own parse of the canonical input. */
  parsed: unknown;
  verdict: Verdict | undefined;
  /** The rules that have matched, once for each time the call was judged. */
  matched: RuleCount[] | undefined;
  /** The session's stamp when the verdict was reached. */
  judgedAt = -1;
  /** A person or a grant has approved the call. */
  approved = false;
  /** The call has waited for something since it was judged. */
  waited = false;
  /** The call has waited before its handler started; that time does not count as the handler's. */
  paused = false;

  // Handler.
  /** The tool's knobs at the start of the handler. */
  knobs: unknown;
  /** Milliseconds that the handler may run. */
  timeoutMs = 0;
  /** The handler has started, so what the call has reserved is spent. */
  begun = false;
  /** The handler has started and has not settled. */
  handlerLive = false;

  // All phases.
  state: 'gates' | 'running' | 'shaping' | 'ended' = 'gates';
  extra: CallExtra | undefined;
  /** The context of its caller, once it cannot end in the caller's turn any more. */
  scope: AsyncScope | undefined;
  /** Undefined until there is a promise: most refused calls have ended before they need one. */
  resolve: ((result: ToolResult) => void) | undefined;
  /** The result of a call that ended without a promise. */
  result: ToolResult | undefined;

  // The list of calls in flight.
  previous: Call | undefined;
  next: Call | undefined;
  // Deadline.
  dlPrev: Deadline | undefined;
  dlNext: Deadline | undefined;
  dlAt = 0;
  dlList: DeadlineList | undefined;
  // Holder.
  waitingFor: Waitable | undefined;

  constructor(
    session: CallSession,
    toolName: string,
    callId: string,
    input: unknown,
    options: ReadCallOptions | undefined,
    parent: FoundCall | undefined,
    resumed: Resumed | undefined,
  ) {
    this.session = session;
    this.toolName = toolName;
    this.callId = callId;
    this.input = input;
    this.options = options;
    this.parent = parent;
    if (resumed !== undefined) this.more.resumed = resumed;
  }

  /** The call that runs. It is another one if this one is only judged. */
  get actual(): Call {
    return this;
  }

  /** 1, or 2 for a resumed call. */
  get attempt(): number {
    return this.resumed === undefined ? 1 : 2;
  }

  /** Present on a resumed call. */
  get resumed(): Resumed | undefined {
    return this.extra?.resumed;
  }

  /** What is known of the call that made this one, which may have been in another process. */
  get caller(): ApprovalRequest['parent'] {
    const { parent } = this;
    return parent === undefined
      ? this.resumed?.place?.parent
      : { callId: parent.callId, tool: parent.entry.summary.name };
  }

  get owner(): object {
    return this.session;
  }

  get ended(): boolean {
    return this.state === 'ended';
  }

  /** What only some calls need. Created on first use. */
  get more(): CallExtra {
    this.extra ??= new CallExtra();
    return this.extra;
  }

  get surface(): Surface | undefined {
    return this.options?.surface ?? this.parent?.surface;
  }

  /** The name of its surface, as rules and events see it; `""` for a direct call. */
  get surfaceName(): string {
    return this.surface?.name ?? '';
  }

  /**
   * The input. It is still one text if repair has not read it yet, and null if it is not valid
   * JSON.
   */
  get given(): JsonValue {
    return this.extra?.text ?? (this.canonical === noInput ? null : this.canonical);
  }

  get idempotencyKey(): string {
    const { more } = this;
    more.idempotencyKey ??=
      this.resumed?.idempotencyKey ?? this.options?.idempotencyKey ?? randomUUID();
    return more.idempotencyKey;
  }

  /** Aborts when the call ends early. */
  get signal(): AbortSignal {
    const { more } = this;
    if (more.controller === undefined) {
      this.keepScope();
      more.controller = new AbortController();
      if (more.outcome?.aborted === true) more.controller.abort(more.outcome.abortReason);
    }
    return more.controller.signal;
  }

  /** Remembers the context, before the call goes on in a later turn. */
  keepScope(): void {
    this.scope ??= currentScope();
  }

  /** Runs `cleanup` when the call ends, whatever ends it. */
  onEnd(cleanup: (result: ToolResult) => void): void {
    const { more } = this;
    more.cleanups ??= new Set();
    more.cleanups.add(cleanup);
  }

  offEnd(cleanup: (result: ToolResult) => void): void {
    this.extra?.cleanups?.delete(cleanup);
  }

  /** The part of the context that gates may see; frozen. */
  info(): CallInfo {
    const { session, callId, toolName } = this;
    const { sessionId, cwd, environment, metadata, principal, services } = session.setup;
    // Two literals: an object made by spreading costs several times as much to freeze.
    return Object.freeze(
      principal === undefined
        ? { sessionId, cwd, environment, metadata, services, callId, toolName }
        : { sessionId, cwd, environment, metadata, services, callId, toolName, principal },
    );
  }

  /** Answers the caller, now or when it has got its promise. */
  answer(result: ToolResult): void {
    if (this.resolve === undefined) this.result = result;
    else this.resolve(result);
  }

  /** Runs when the deadline has passed. */
  expire(): void {
    this.session.registry.spine.expired(this);
  }

  /** Runs when the caller's signal has aborted. */
  aborted(reason: unknown): void {
    this.session.registry.spine.cancelled(this, reason);
  }
}
