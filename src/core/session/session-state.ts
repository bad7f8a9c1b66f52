/** The state of one session. Most parts are created on first use, so an idle session is small. */

import type { Approver } from '../../api/context.ts';
import type { Actor, DelegatedAgent } from '../../api/delegation.ts';
import type { ChangeReason, EventType } from '../../api/events.ts';
import type { Hook, Policy } from '../../api/policy.ts';
import type { Limits } from '../../api/profile.ts';
import type { Overrides } from '../../api/session-options.ts';
import { sessionClosed } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import { ApprovalDesk } from '../approval/grants.ts';
import { actorOf, noAgents } from '../call/actor.ts';
import { Binding, type ToolStatus } from '../call/binding.ts';
import type { FoundCall } from '../call/call.ts';
import { Counters } from '../call/counters.ts';
import { deliver, sign } from '../call/deliver.ts';
import { boundSlots } from '../call/session-limits.ts';
import type { CallSession, SessionCalls, SessionEvents } from '../call/session-port.ts';
import { EventHub } from '../events.ts';
import type { ResolvedProfile } from '../rules/profile.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { Slot } from '../slot.ts';
import { releaseExecutor } from '../tool/executors.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { SessionLife } from './close.ts';
import { emitListingChange, ListingCache } from './listing-change.ts';
import type { SessionRegistry } from './registry-port.ts';
import type { SessionSetup } from './session-setup.ts';
import { listingOf, type View } from './view.ts';

/** How a session acts for another one. */
export interface Acting {
  /** The call whose handler made the session. It makes all calls of the session. */
  readonly within: FoundCall | undefined;
  /** The agents for which the session acts. */
  readonly chain: readonly DelegatedAgent[];
  /** Its requests are made to its outer session, so their scopes count there too. */
  sharesScopes: boolean;
  /** The stamp of the outer session whose changes were taken over. */
  outerStamp: number;
}

/** The tools of one session. */
interface SessionTools {
  /** Tools that only this session has. */
  own: Map<string, ToolEntry> | undefined;
  /** Tools that parts bring to it. */
  brought: ReadonlyMap<string, ToolEntry> | undefined;
  /** Names of its own tools that were removed. */
  gone: Set<string> | undefined;
  bindings: Map<string, Binding> | undefined;
}

export class SessionState {
  readonly registry: SessionRegistry;
  readonly setup: SessionSetup;
  facts: JsonObject;
  /** The keys of the facts that another party has declared. The others are the host's. */
  declared: Set<string> | undefined;
  /** Asks a person if the session's options name nobody who does. A surface lends it. */
  lentApprover: Approver | undefined;
  /** The session for which this one acts; undefined for a session that a host has created. */
  outer: SessionState | undefined;
  /** How it acts for the outer session; undefined if there is none. */
  acting: Acting | undefined;
  #actor: Actor | undefined;
  profile: ResolvedProfile | undefined;
  profileId: string | undefined;
  overrides: Overrides | undefined;
  hooks: readonly Hook[];
  limits: Limits;
  /** Grows with every change that may change a verdict or a listing of this session. */
  stamp = 0;
  #epoch: number;
  closed = false;
  /** The registry's epoch at creation. A tool that was removed earlier never existed here. */
  readonly createdAt: number;
  readonly events: SessionEvents = { lastAnnounced: undefined, lastAnnouncedAt: 0, seq: 0 };
  readonly calls: SessionCalls = {
    inFlight: 0,
    queued: 0,
    ids: undefined,
    batched: undefined,
    fallbackIds: 0,
    slots: undefined,
    locks: undefined,
    rate: undefined,
    loop: undefined,
    counts: undefined,
    atReturn: undefined,
    idled: undefined,
  };
  readonly tools: SessionTools = {
    own: undefined,
    brought: undefined,
    gone: undefined,
    bindings: undefined,
  };
  hub: EventHub | undefined;
  desk: ApprovalDesk | undefined;
  readonly listing = new ListingCache();
  readonly life = new SessionLife();
  /** What parts keep. */
  slots: Map<Slot<unknown>, unknown> | undefined;

  constructor(registry: SessionRegistry, setup: SessionSetup) {
    this.registry = registry;
    this.setup = setup;
    this.facts = setup.facts;
    this.overrides = setup.overrides;
    this.hooks = setup.hooks;
    this.profileId = setup.profileId;
    this.profile =
      setup.profileId === undefined ? undefined : registry.profiles.get(setup.profileId)?.resolved;
    this.limits = registry.limitsOf(setup.limits, this.profile);
    boundSlots(this);
    this.#epoch = registry.epoch;
    this.createdAt = registry.epoch;
  }

  get sessionId(): string {
    return this.setup.sessionId;
  }
  get principal(): string | undefined {
    return this.setup.principal;
  }
  get actor(): Actor {
    const { principal, labels } = this.setup;
    this.#actor ??= actorOf(principal, this.chain, labels);
    return this.#actor;
  }
  /** The agents for which it acts. */
  get chain(): readonly DelegatedAgent[] {
    return this.acting?.chain ?? noAgents;
  }
  /** The call whose handler made the session. It makes all calls of the session. */
  get within(): FoundCall | undefined {
    return this.acting?.within;
  }
  get rules(): readonly CompiledRule[] {
    return this.setup.rules;
  }
  get policies(): readonly Policy<unknown>[] {
    return this.setup.policies;
  }

  /** The stamp, after taking over changes of the registry. */
  current(): number {
    if (this.#epoch !== this.registry.epoch) this.#follow();
    const { outer, acting } = this;
    if (outer !== undefined && acting !== undefined && acting.outerStamp !== outer.current()) {
      acting.outerStamp = outer.stamp;
      this.stamp++;
      this.registry.ports.sessions.acting?.follow(this, outer);
    }
    return this.stamp;
  }

  #follow(): void {
    const { registry } = this;
    this.#epoch = registry.epoch;
    this.stamp++;
    if (this.profileId !== undefined) {
      this.profile = registry.profiles.get(this.profileId)?.resolved ?? this.profile;
      this.limits = registry.limitsOf(this.setup.limits, this.profile);
      boundSlots(this);
    }
    // A registry tool replaces the session's own tool of the same name, even if it came later.
    for (const [name, entry] of [...(this.tools.own ?? [])].filter(([name]) =>
      registry.catalogue.skeletons.has(nameSkeleton(name)),
    )) {
      entry.removed = true;
      this.tools.own?.delete(name);
      void releaseExecutor(entry, registry);
    }
  }

  /** Whether the session had a tool of this name that was removed. */
  knew(name: string): boolean {
    return (
      (this.registry.catalogue.removed.get(name) ?? -1) > this.createdAt ||
      this.tools.gone?.has(name) === true
    );
  }

  /** The tool of this name, including internal ones. */
  entryOf(name: string): ToolEntry | undefined {
    const brought = this.tools.brought?.get(name);
    const range = this.profile?.ranges?.get(name);
    let entry = this.outer?.entryOf(name);
    if (this.outer === undefined)
      entry = this.registry.catalogue.names.pick(name, range) ?? this.tools.own?.get(name);
    else if (entry === this.outer.tools.brought?.get(name)) entry = undefined;
    entry ??= brought;
    // The host may replace a tool of a part, but an imported server may not.
    return entry?.source === 'host' ? entry : (brought ?? entry);
  }

  /** What applies to a tool in this session now; undefined if there is no such tool. */
  binding(name: string): Binding | undefined {
    const stamp = this.current();
    const known = this.tools.bindings?.get(name);
    if (known !== undefined && known.stamp === stamp) return known;
    const entry = this.entryOf(name);
    if (entry === undefined) {
      if (known !== undefined) {
        known.retire();
        this.tools.bindings?.delete(name);
      }
      return undefined;
    }
    const binding = known !== undefined && known.entry === entry ? known : new Binding(this, entry);
    binding.refresh(stamp);
    if (binding !== known) {
      if (known !== undefined) binding.adopt(known);
      known?.retire();
      this.tools.bindings ??= new Map();
      this.tools.bindings.set(name, binding);
    }
    return binding;
  }

  /** The status of a tool, until something changes on which it depends. */
  statusOf(entry: ToolEntry): ToolStatus {
    return this.registry.toolStatusOf(this, entry);
  }

  /** What the session shows, until something changes on which it depends. */
  view(): View {
    return this.registry.viewOf(this);
  }

  /** Whether the session or the registry has a listener for an event. */
  hasListener(type: EventType): boolean {
    return this.registry.hub.hasListener(type) || this.hub?.hasListener(type) === true;
  }

  /**
   * Emits here and on the registry. Callers check {@link hasListener} first, so that no event is
   * made without a listener.
   * @param event A new object, whose members are not shared or are frozen.
   * @param surface The name of the surface of the event's call. @default none
   */
  emit(type: Exclude<EventType, 'tools:changed'>, event: object, surface = ''): void {
    sign(this, type, event, surface);
    deliver(this, type, event);
  }

  /**
   * This session's listeners. From the first one on, the registry informs the session of changes.
   */
  listeners(): EventHub {
    this.hub ??= new EventHub(
      (error, type) => this.registry.listenerFailed(error, type),
      (type) => {
        this.watch();
        if (type === '*' || type === 'tools:changed')
          this.listing.shown ??= listingOf(this).entries;
      },
    );
    return this.hub;
  }

  /** Lets the registry inform this session of changes and of closing, without keeping it alive. */
  watch(): void {
    if (this.life.watched) return;
    this.life.watched = true;
    const ref = new WeakRef(this);
    this.registry.sessions.watchers.add(ref);
    this.atClosing(() => {
      this.registry.sessions.watchers.delete(ref);
    });
  }

  /** Makes the registry keep this session alive: it holds something that closing must dispose. */
  retain(): void {
    this.life.holds++;
    this.registry.sessions.held.add(this);
  }

  /** Undoes one {@link retain}. */
  release(): void {
    if (--this.life.holds <= 0) this.registry.sessions.held.delete(this);
  }

  /** Runs `cleanup` when the session closes. */
  atClosing(cleanup: () => void | Promise<void>): void {
    this.life.atClose ??= [];
    this.life.atClose.push(cleanup);
  }

  /** Notes a change that was made in this session. */
  touch(reason: ChangeReason): void {
    this.stamp++;
    // What the outer session limits is applied again.
    if (this.acting !== undefined) this.acting.outerStamp = -1;
    this.changed(reason);
  }

  /** Takes over a change, and emits `tools:changed` if the listing differs from the last one. */
  changed(reason: ChangeReason): void {
    this.current();
    if (this.life.holds > 0) retireHandlers(this);
    emitListingChange(this, reason);
  }

  /** Waiting approvals and grants. Created on first use. */
  approvalDesk(): ApprovalDesk {
    this.desk ??= new ApprovalDesk();
    return this.desk;
  }

  /** The counts of its calls. Created when the first one ends. */
  counters(): Counters {
    this.calls.counts ??= new Counters(this.registry.sessions.counts);
    return this.calls.counts;
  }

  /** @throws MisuseError `closed`. */
  checkOpen(action: string): void {
    if (this.closed || this.registry.closed) throw sessionClosed(this.sessionId, action);
  }
}

/** All of a session, of which calls know a part. */
export function wholeSession(session: CallSession): SessionState {
  // Nothing else makes calls.
  return session as SessionState;
}

/**
 * Disposes the handlers of tools that were removed or replaced, without waiting for the next use of
 * the tool.
 */
function retireHandlers(session: SessionState): void {
  // Binding the name again retires the old binding.
  for (const [name, { entry, handler }] of [...(session.tools.bindings ?? [])])
    if (handler !== undefined && session.entryOf(name) !== entry) session.binding(name);
}
