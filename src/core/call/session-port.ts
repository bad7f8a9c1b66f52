/**
 * What a call knows of its session, and of the registry of that session. Both know calls; a call
 * knows of them only what stands here.
 */

import type { Approver, CallOptions } from '../../api/context.ts';
import type { Actor } from '../../api/delegation.ts';
import type { EventType } from '../../api/events.ts';
import type { Effect, Hook, Policy } from '../../api/policy.ts';
import type { Limits } from '../../api/profile.ts';
import type { Logger } from '../../api/registry.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Prerequisite } from '../../api/session.ts';
import type { MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { AbortHub } from '../../values/limits/abort-hub.ts';
import type { Deadlines } from '../../values/limits/deadlines.ts';
import type { Locks } from '../../values/limits/locks.ts';
import type { OwnTimers } from '../../values/limits/own-timers.ts';
import type { RateWindow } from '../../values/limits/rate-window.ts';
import type { Semaphore } from '../../values/limits/semaphore.ts';
import type { WaitGraph } from '../../values/limits/wait-graph.ts';
import type { ApprovalDesk } from '../approval/grants.ts';
import type { EventHub } from '../events.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { SlotHolder } from '../slot.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { Binding, ToolStatus } from './binding.ts';
import type { Call, FoundCall } from './call.ts';
import type { CallObservers } from './call-observers.ts';
import type { CallPorts } from './call-ports.ts';
import type { CallTracers } from './call-tracers.ts';
import type { Counters } from './counters.ts';

/** The calls of one session: those that run, and what limits and counts them. */
export interface SessionCalls {
  inFlight: number;
  queued: number;
  /** Those in flight by id; undefined for the id of a call that a batch has not started yet. */
  ids: Map<string, Call | undefined> | undefined;
  /** The ids of all calls in running batches, including those that have ended. */
  batched: Set<string> | undefined;
  /** Numbers the ids that replace those of a failing `newId`. */
  fallbackIds: number;
  slots: Semaphore | undefined;
  locks: Locks | undefined;
  rate: RateWindow | undefined;
  loop: { key: string; count: number } | undefined;
  /** Created when the first call ends. */
  counts: Counters | undefined;
  /** Functions that get the result of each call whose handler has run. They do not throw. */
  atReturn: ((call: Call, result: ToolResult) => void)[] | undefined;
  /** Runs after each call has ended, for sessions that close when idle. */
  idled: (() => void) | undefined;
}

/** What was emitted in one session. */
export interface SessionEvents {
  /** The last announced call and its time, which later events can reuse. */
  lastAnnounced: Call | undefined;
  lastAnnouncedAt: number;
  seq: number;
}

/** What a call knows of its session. */
export interface CallSession extends SlotHolder {
  readonly registry: CallRegistry;
  /** The session for which this one acts; undefined for a session that a host has created. */
  readonly outer: CallSession | undefined;
  /** The call whose handler made the session. It makes all calls of the session. */
  readonly within: FoundCall | undefined;
  readonly closed: boolean;

  // What the host has said about it.
  readonly sessionId: string;
  readonly principal: string | undefined;
  readonly actor: Actor;
  readonly facts: JsonObject;
  readonly hooks: readonly Hook[];
  readonly limits: Limits;
  readonly rules: readonly CompiledRule[];
  readonly policies: readonly Policy<unknown>[];
  /** The rest of its options. */
  readonly setup: SlotHolder & {
    readonly sessionId: string;
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly metadata: JsonObject;
    readonly principal: string | undefined;
    readonly services: unknown;
    readonly approver: Approver | undefined;
    readonly approvalMode: 'ask' | 'suspend';
    readonly approvalTimeoutMs: number;
    readonly repair: 'off' | 'safe';
    readonly exposeErrors: 'message' | 'masked' | undefined;
  };
  readonly profile: object | undefined;

  // Its tools.
  /** What applies to a tool now; undefined if there is no such tool. */
  binding(name: string): Binding | undefined;
  /** The tool of this name, including internal ones. */
  entryOf(name: string): ToolEntry | undefined;
  /** The status of a tool, until something changes on which it depends. */
  statusOf(entry: ToolEntry): ToolStatus;
  /** What the session may show. */
  view(): { readonly names: readonly string[]; readonly prerequisites: readonly Prerequisite[] };
  /** Whether the session had a tool of this name that was removed. */
  knew(name: string): boolean;
  /** The stamp of its last change, after taking over those of the registry. */
  current(): number;
  readonly tools: {
    readonly gone: ReadonlySet<string> | undefined;
    readonly own: ReadonlyMap<string, ToolEntry> | undefined;
  };

  // Its calls.
  readonly calls: SessionCalls;
  counters(): Counters;
  /** Makes the registry keep the session alive: it holds something that closing must dispose. */
  retain(): void;
  /** Undoes one {@link retain}. */
  release(): void;

  // The people whom it asks.
  readonly lentApprover: Approver | undefined;
  readonly desk: ApprovalDesk | undefined;
  approvalDesk(): ApprovalDesk;

  // Its listeners.
  readonly hub: EventHub | undefined;
  readonly events: SessionEvents;
  /** Whether the session or the registry has a listener for an event. */
  hasListener(type: EventType): boolean;
  emit(type: Exclude<EventType, 'tools:changed'>, event: object, surface?: string): void;
}

/** The options of a registry that calls and sessions read. */
export interface RegistrySettings {
  readonly policies: readonly Policy<unknown>[];
  readonly default: Effect;
  readonly defaultTimeoutMs: number;
  readonly policyTimeoutMs: number;
  readonly graceMs: number;
  readonly logger: Logger | undefined;
}

/** What ends the waits of calls, and what they wait for. */
export interface Waiting {
  readonly deadlines: Deadlines | OwnTimers;
  readonly aborts: AbortHub;
  /** Which call waits for what. */
  readonly graph: WaitGraph;
  /** The locks that all sessions share; undefined if each has its own. */
  readonly locks: Locks | undefined;
}

/** What a call knows of the registry of its session. */
export interface CallRegistry extends SlotHolder {
  readonly ports: { readonly calls: CallPorts };
  readonly parts: {
    missing(place: 'call' | 'sessionMethods', name: string, what: string): MisuseError;
  };
  readonly rules: { readonly denies: boolean };
  readonly settings: RegistrySettings;
  readonly closed: boolean;
  readonly hub: EventHub;
  readonly observers: CallObservers | undefined;
  readonly tracers: CallTracers | undefined;
  readonly spine: CallControl;
  readonly sessions: {
    /** Those with calls that wait on an approver in this process. */
    readonly asking: { add(session: CallSession): unknown; delete(session: CallSession): unknown };
    /** Some profile limits the calls per minute. */
    readonly limitsRate: boolean;
  };
  readonly catalogue: {
    /** Limits the hints for unknown names. */
    readonly hints: RateWindow;
  };

  // What its calls share.
  readonly waiting: Waiting;
  /** Head of the list of calls in flight, of all sessions. */
  calls: Call | undefined;
  /** Calls that are being started at the moment, each inside the gates of the previous one. */
  nesting: number;

  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  newId(): string;
  /** Logs a message. If the logger throws or rejects, nothing is affected. */
  warn(data: object, message: string): void;
  /** Logs what the host's own code threw. */
  hostFault(
    thrown: unknown,
    where: object,
    message: string,
    errorOf?: (thrown: unknown) => unknown,
  ): void;
}

export interface CallControl {
  /** @param idleMs Given if the idle timeout expired, and not that of the call. */
  expired(call: Call, idleMs?: number): void;
  cancelled(call: Call, reason: unknown): void;
  closed(call: Call): void;
  callChild(
    parent: FoundCall,
    tool: unknown,
    input: unknown,
    options: CallOptions | undefined,
  ): Promise<ToolResult>;
}
