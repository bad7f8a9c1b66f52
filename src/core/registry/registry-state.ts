/** What the sessions of a registry share: tools, rules, profiles, clocks, timers and events. */

import type { ChangeReason } from '../../api/events.ts';
import type { Limits } from '../../api/profile.ts';
import type { RegistryOptions } from '../../api/registry.ts';
import type { Rule } from '../../api/rule.ts';
import { deepFreeze } from '../../values/json/index.ts';
import { AbortHub } from '../../values/limits/abort-hub.ts';
import { Deadlines } from '../../values/limits/deadlines.ts';
import { createLocks } from '../../values/limits/locks.ts';
import { OwnTimers, timersEndWithRequests } from '../../values/limits/own-timers.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { createWaitGraph } from '../../values/limits/wait-graph.ts';
import { errorToLog, logTo } from '../../values/logging.ts';
import { reading } from '../../values/options/index.ts';
import type { ToolStatus } from '../call/binding.ts';
import type { Call } from '../call/call.ts';
import type { CallObservers } from '../call/call-observers.ts';
import type { CallTracers } from '../call/call-tracers.ts';
import { createIds } from '../call/calls-in-flight.ts';
import type { CallControl, CallRegistry, RegistrySettings, Waiting } from '../call/session-port.ts';
import { EventHub } from '../events.ts';
import { tightestLimits } from '../rules/limits.ts';
import type { KnownProfile } from '../rules/lineage.ts';
import type { ResolvedProfile } from '../rules/profile.ts';
import type { CompiledRule } from '../rules/rule.ts';
import { RuleLayers } from '../rules/rule-layers.ts';
import { KnownSessions } from '../session/registry-port.ts';
import type { SessionState } from '../session/session-state.ts';
import { toolStatusOf } from '../session/tool-status.ts';
import { computeView, type SharedView, SharedViews, type View } from '../session/view.ts';
import type { Slot } from '../slot.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { RegistryParts } from './define-part.ts';
import type { Gathered, ToolsChange } from './gathered-changes.ts';
import { installGates } from './install-gates.ts';
import { Ports } from './ports.ts';
import { readRegistryOptions } from './registry-options.ts';
import { ToolCatalogue } from './tool-catalogue.ts';

const none: readonly never[] = Object.freeze([]);

export class RegistryState {
  readonly parts: RegistryParts;
  /** Filled by parts. */
  readonly ports = new Ports();
  /** What parts keep. */
  slots: Map<Slot<unknown>, unknown> | undefined;
  readonly catalogue: ToolCatalogue;
  /** It only tries definitions and runs no calls, so executors have no user in it. */
  isTrial = false;
  readonly profiles = new Map<string, KnownProfile>();
  readonly settings: RegistrySettings;
  readonly now: () => number;
  readonly newId: () => string;
  readonly waiting: Waiting;
  readonly hub: EventHub;
  /** Calls that are being started at the moment, each inside the gates of the previous one. */
  nesting = 0;
  /** Grows with every change to tools, rules or profiles that may change a verdict or a listing. */
  epoch = 0;
  closed = false;
  /** The observers of calls. Created when the first one is added. */
  observers: CallObservers | undefined;
  /** The tracers of calls. Absent if there are none. */
  tracers: CallTracers | undefined;
  /** Keep a call's shapes known to the engine; see `exemplars` in `call/handler-context.ts`. */
  exemplars: readonly object[] = [];
  readonly rules: RuleLayers;
  readonly sessions = new KnownSessions();
  readonly #sharedViews = new SharedViews();
  /** The changes so far, while several become one; see `together`. */
  gathered: Gathered | undefined;
  #timers: unknown = globalThis.setTimeout;
  #clock: { now(): number } = globalThis.performance;
  /** Head of the list of calls in flight, of all sessions. */
  calls: Call | undefined;
  readonly spine: CallControl;

  constructor(options: RegistryOptions<never>, spine: CallControl, parts: RegistryParts) {
    this.spine = spine;
    this.parts = parts;
    this.catalogue = new ToolCatalogue(parts);
    const { newId, now, rules, ...given } = readRegistryOptions(options, parts);
    this.settings = given;
    // The machine's clock is looked up at each reading, so that a test can fake it.
    this.now = now === undefined ? () => Date.now() : safeClock(now);
    this.newId = newId ?? createIds();
    const graph = createWaitGraph();
    this.waiting = {
      deadlines: timersEndWithRequests() ? new OwnTimers() : new Deadlines(),
      aborts: new AbortHub(),
      graph,
      locks: given.locks === 'registry' ? createLocks(graph) : undefined,
    };
    this.rules = reading('HostToolRegistry', 'rules', () => new RuleLayers(rules, parts));
    this.hub = new EventHub((error, type) => this.listenerFailed(error, type));
    for (const part of parts.specs) part.install?.(this.ports, this, given);
    for (const check of this.ports.installed) check();
    // Last, so that a gate before the handler comes after what parts reserve.
    installGates(this.ports, given.gates);
  }

  /** The rules that apply to tools of this source. */
  rulesFor(source: string): readonly CompiledRule[] {
    return this.rules.of(source);
  }

  /** The rules of the registry and its scopes. */
  allRules(): readonly CompiledRule[] {
    return this.rules.all();
  }

  /** Adds rules after the existing ones. The returned function removes them. */
  addRules(rules: readonly Rule[], layer: string, source: string | undefined): () => void {
    return this.added(
      this.rules.add(rules, layer, source, (added) => this.ports.review?.added(added)),
    );
  }

  /** Notes that rules, or the like, were added. Returns a function that removes them, once. */
  added(remove: () => void): () => void {
    this.changed('rules');
    let removed = false;
    return () => {
      if (removed) return;
      removed = true;
      remove();
      this.changed('rules');
    };
  }

  /** Notes a change to rules or profiles, which may affect listings and verdicts. */
  changed(reason: ChangeReason): void {
    this.epoch++;
    this.followChange(reason);
  }

  /** Lets watched sessions compare their listings with the previous ones. */
  followChange(reason: ChangeReason): void {
    if (this.gathered !== undefined) return this.gathered.note(reason);
    this.sessions.each((session) => session.changed(reason));
  }

  /** What a session shows. Cached until something that it depends on changes. */
  viewOf(session: SessionState): View {
    const shared = this.#sharedViewOf(session);
    shared.view ??= computeView(session);
    return shared.view;
  }

  /** The status of a tool in a session. Cached like {@link viewOf}. */
  toolStatusOf(session: SessionState, entry: ToolEntry): ToolStatus {
    // A shared view must not keep what is brought to one session.
    if (entry === session.tools.brought?.get(entry.name)) return toolStatusOf(session, entry);
    const { statuses } = this.#sharedViewOf(session);
    let status = statuses.get(entry);
    if (status === undefined) {
      status = toolStatusOf(session, entry);
      statuses.set(entry, status);
    }
    return status;
  }

  #sharedViewOf(session: SessionState): SharedView {
    const stamp = session.current();
    const { listing } = session;
    if (listing.shared === undefined || listing.sharedStamp !== stamp) {
      listing.shared = this.#sharedViews.get(session);
      listing.sharedStamp = stamp;
    }
    return listing.shared;
  }

  /** A session's limits combined with its profile's: the tightest of each. */
  limitsOf(own: Limits, profile: ResolvedProfile | undefined): Limits {
    return profile === undefined ? own : tightestLimits(own, profile.limits);
  }

  /** Emits `tools:changed` on the registry only. */
  emitToolsChanged(change: ToolsChange): void {
    if (this.gathered !== undefined) return this.gathered.add(change);
    if (!this.hub.hasListener('tools:changed')) return;
    const { added = none, removed = none, modified = none } = change;
    const event = {
      type: 'tools:changed',
      at: this.now(),
      added: [...added],
      removed: [...removed],
      modified: [...modified],
      reason: 'registry',
    };
    this.hub.emit('tools:changed', deepFreeze(event));
  }

  /** Monotonic milliseconds. The clock is looked up at each call, so that a test can fake it. */
  monotonic(): number {
    // The global `performance` is a getter that costs as much as the clock. It is faked together
    // with `setTimeout`, which is cheap to read.
    if (globalThis.setTimeout !== this.#timers) {
      this.#timers = globalThis.setTimeout;
      this.#clock = globalThis.performance;
    }
    return this.#clock.now();
  }

  listenerFailed(error: unknown, type: string): void {
    this.hostFault(error, { event: type, source: 'listener' }, 'an event listener failed');
  }

  /** Logs a message. If the logger throws or rejects, nothing is affected. */
  warn(data: object, message: string, level: 'warn' | 'error' = 'warn'): void {
    logTo(this.settings.logger, level, data, message);
  }

  /**
   * Logs what the host's own code threw, with its stack, as `{ err, ...where }`.
   * @param errorOf The error to log, without what the call in which it was thrown hides.
   */
  hostFault(
    thrown: unknown,
    where: object,
    message: string,
    errorOf: (thrown: unknown) => unknown = errorToLog,
  ): void {
    const { logger } = this.settings;
    if (logger !== undefined) logTo(logger, 'error', { err: errorOf(thrown), ...where }, message);
  }
}

/** All of a registry, of which calls and sessions know a part. */
export function wholeRegistry(registry: CallRegistry): RegistryState {
  // Nothing else has sessions.
  return registry as RegistryState;
}
