/** The record of one call: what the stages read and write on its way. */
import { randomUUID } from 'node:crypto';
import type { Standing } from '../approval/grants.ts';
import type { PendingApproval, ReadAnswer } from '../approval/request.ts';
import type { CallInfo, Surface } from '../context.ts';
import type { ToolError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { AbortEntry } from '../limits/abort-hub.ts';
import type { Deadline, DeadlineList } from '../limits/deadlines.ts';
import type { Holder, Semaphore } from '../limits/semaphore.ts';
import type { Verdict } from '../policy/verdict.ts';
import type { Secrets } from '../redaction/secrets.ts';
import type { ToolResult } from '../result.ts';
import type { Binding } from './binding.ts';
import type { ReadCallOptions } from './call-options.ts';
import type { SessionState } from './session-state.ts';
import type { ToolEntry } from './tool-entry.ts';

/** What a resumed call brings along. */
export interface Resumed {
  readonly approvalId: string;
  readonly answer: ReadAnswer;
  readonly idempotencyKey: string;
  /** What was asked about. */
  readonly fingerprint: string;
  readonly source: string;
}

const noInput: JsonObject = Object.freeze({});

/**
 * One call. It is its own deadline, slot holder and abort entry, so that none of these is a further
 * object.
 */
export class Call implements Deadline, Holder, AbortEntry {
  readonly session: SessionState;
  readonly toolName: string;
  readonly callId: string;
  /** As it came. */
  readonly input: unknown;
  readonly options: ReadCallOptions | undefined;
  readonly parent: Call | undefined;
  /** Monotonic milliseconds. */
  startedAt = 0;
  /** The JSON that is validated, judged, shown and run. */
  canonical: JsonObject = noInput;
  /** Somewhere in the canonical input stands an own `__proto__`. */
  unsafe = false;
  /** The handler's own parse of the canonical input. */
  parsed: unknown;
  binding: Binding | undefined;
  /** The tool's settings, once its handler has started. */
  knobs: unknown;
  /** The session's stamp when the verdict was reached. */
  judgedAt = -1;
  verdict: Verdict | undefined;
  /** A person, or a grant, said yes. */
  approved = false;
  /** Something was waited for since the verdict. */
  waited = false;
  /** Something was waited for since the call came: its time does not count as the handler's. */
  paused = false;
  /** The stage to go on with, when not the next one. */
  goto = -1;
  /** The tool that lookup found. It stays, whatever replaces it. */
  entry: ToolEntry | undefined;
  /** Milliseconds that the handler may run. */
  timeoutMs = 0;
  /** The call counts on its entry's `inFlight`. */
  counted = false;
  /** An event of the call was announced by `tool:pre`. */
  announced = false;
  state: 'gates' | 'running' | 'shaping' | 'ended' = 'gates';
  /** The handler was started and has not settled. */
  handlerLive = false;
  extra: CallExtra | undefined;
  resolve: (result: ToolResult) => void = ignore;
  // The list of calls in flight.
  previous: Call | undefined;
  next: Call | undefined;
  // Deadline.
  dlPrev: Deadline | undefined;
  dlNext: Deadline | undefined;
  dlAt = 0;
  dlList: DeadlineList | undefined;
  // Holder.
  waitingFor: Semaphore | undefined;

  constructor(
    session: SessionState,
    toolName: string,
    callId: string,
    input: unknown,
    options: ReadCallOptions | undefined,
    parent: Call | undefined,
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

  /** 1, or 2 for a resumed call. */
  get attempt(): number {
    return this.resumed === undefined ? 1 : 2;
  }

  /** What a resumed call brought along. */
  get resumed(): Resumed | undefined {
    return this.extra?.resumed;
  }

  get owner(): object {
    return this.session;
  }

  get ended(): boolean {
    return this.state === 'ended';
  }

  /** What only some calls need, made when first needed. */
  get more(): CallExtra {
    this.extra ??= new CallExtra();
    return this.extra;
  }

  get surface(): Surface | undefined {
    return this.options?.surface ?? this.parent?.surface;
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
      more.controller = new AbortController();
      if (more.aborted) more.controller.abort(more.abortReason);
    }
    return more.controller.signal;
  }

  /** Runs `cleanup` when the call ends, however it does. */
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
    const { sessionId, cwd, environment, metadata, principal, services } = session;
    // One literal each: what is made by spreading is several times dearer to freeze.
    return Object.freeze(
      principal === undefined
        ? { sessionId, cwd, environment, metadata, services, callId, toolName }
        : { sessionId, cwd, environment, metadata, services, callId, toolName, principal },
    );
  }

  /** The deadline passed. */
  expire(): void {
    this.session.registry.spine.expired(this);
  }

  /** The caller's signal aborted. */
  aborted(reason: unknown): void {
    this.session.registry.spine.cancelled(this, reason);
  }
}

/** The rarely used half of a call. */
export class CallExtra {
  resumed: Resumed | undefined;
  /** The loop guard counted the call. */
  guarded = false;
  /** A person changed the input: it is validated and judged again. */
  edited = false;
  /** It was: what the person saw had its defaults filled in already. */
  wasEdited = false;
  /** How often the call was judged again. */
  rounds = 0;
  /** Monotonic milliseconds, of a call that ended early. */
  endedAt = 0;
  controller: AbortController | undefined;
  aborted = false;
  abortReason: unknown;
  idempotencyKey: string | undefined;
  repaired: { readonly path: string; readonly rule: string }[] | undefined;
  /** Texts in which `repair` looked for JSON, and found none. */
  unreadable = 0;
  holds: Semaphore[] | undefined;
  cleanups: Set<(result: ToolResult) => void> | undefined;
  children: Set<Call> | undefined;
  childCount = 0;
  /** Values that no event, prompt or error text may hold. */
  secrets: Secrets | undefined;
  /** The secrets of the input as it came, where `tool:pre` needed them. */
  sent: Secrets | undefined;
  idle: Deadline | undefined;
  eventCount = 0;
  /** The approval that was answered, for the events. */
  approvalId: string | undefined;
  /** The caller must not learn that the tool exists. */
  hidden = false;
  /** The error as it happened, where the model is shown a masked one. */
  unmasked: ToolError | undefined;
  /** The standing answer that let the call through; it may still be revoked. */
  grant: Standing | undefined;
  /** An answer for always that waits until the call's input is settled. */
  standing: { readonly approvalId: string; readonly answer: ReadAnswer } | undefined;
  /** The suspended request with its token, for the host. */
  pending: PendingApproval | undefined;
  /** Keeps the slots of a handler that outlives its call. */
  grace: Deadline | undefined;
  /** The whole input as text, where `repair` may read an object from it. */
  text: string | undefined;
}

function ignore(): void {}
