/** What a registry's sessions share: the tool table, rules, profiles, clocks, timers and events. */

import { type ApprovalStore, memoryApprovalStore } from '../approval/store.ts';
import { createTokenSigner, type Key, type TokenSigner } from '../approval/token.ts';
import { UsedTokens } from '../approval/used-tokens.ts';
import type { CallOptions } from '../context.ts';
import { type ChangeReason, EventHub } from '../events.ts';
import { deepFreeze } from '../json.ts';
import { AbortHub } from '../limits/abort-hub.ts';
import { Deadlines } from '../limits/deadlines.ts';
import { createLocks, type Locks } from '../limits/locks.ts';
import { RateWindow } from '../limits/rate-window.ts';
import { createWaitGraph, type WaitGraph } from '../limits/semaphore.ts';
import { loggedError, logTo } from '../logging.ts';
import { readOptions } from '../options.ts';
import type { Effect } from '../policy/decision.ts';
import { type Limits, tightestLimits } from '../policy/limits.ts';
import type { KnownProfile } from '../policy/lineage.ts';
import type { Policy } from '../policy/policy.ts';
import type { ResolvedProfile } from '../policy/profile.ts';
import type { CompiledRule, Rule } from '../policy/rule.ts';
import { compileRules } from '../policy/rules.ts';
import { createRedactor, type Redactor } from '../redaction/redactor.ts';
import type { ToolResult } from '../result.ts';
import { nameSkeleton } from '../text/names.ts';
import type { Call } from './call.ts';
import type { ExecutorUsers } from './executors.ts';
import { createGathered, type Gathered, type ToolsChange } from './gathered-changes.ts';
import { createIds } from './id-source.ts';
import {
  checkDuration,
  checkPolicies,
  checkStore,
  knownOptions,
  type Logger,
  misuse,
  type RegistryOptions,
  safeClock,
} from './registry-options.ts';
import type { SessionState } from './session-state.ts';
import type { ToolEntry } from './tool-entry.ts';
import { type ToolStatus, toolStatusOf } from './tool-status.ts';
import { computeView, type SharedView, SharedViews, type View } from './view.ts';

/** What the records of calls need of the spine, so that state does not import the pipeline. */
export interface CallControl {
  expired(call: Call, idleMs?: number): void;
  cancelled(call: Call, reason: unknown): void;
  closed(call: Call): void;
  callChild(
    parent: Call,
    tool: unknown,
    input: unknown,
    options: CallOptions | undefined,
  ): Promise<ToolResult>;
}

const none: readonly never[] = Object.freeze([]);

/** A layer of rules that {@link RegistryState.addRules} brought. */
interface RuleLayer {
  readonly rules: readonly CompiledRule[];
  /** A scope's rules touch its own tools alone. */
  readonly source: string | undefined;
}

/** Most names of removed tools that are remembered. */
const mostRemoved = 10_000;

export class RegistryState {
  readonly tools = new Map<string, ToolEntry>();
  readonly executorUsers: ExecutorUsers = new WeakMap();
  readonly skeletons = new Map<string, string>();
  readonly profiles = new Map<string, KnownProfile>();
  readonly policies: readonly Policy<unknown>[];
  readonly default: Effect;
  readonly defaultTimeoutMs: number;
  readonly policyTimeoutMs: number;
  readonly graceMs: number;
  readonly ttlMs: number;
  readonly redact: readonly string[];
  readonly now: () => number;
  readonly newId: () => string;
  readonly logger: Logger | undefined;
  readonly signer: TokenSigner | undefined;
  readonly store: ApprovalStore;
  readonly usedTokens = new UsedTokens();
  readonly deadlines = new Deadlines();
  readonly aborts = new AbortHub();
  readonly waits: WaitGraph = createWaitGraph();
  /**
   * Searching a thousand names takes a millisecond or two: a flood of made-up names gets no hints.
   */
  readonly hints = new RateWindow(100, 1_000);
  readonly locks: Locks | undefined;
  readonly hub: EventHub;
  /**
   * Names of tools that were removed, with the epoch of their removal: sessions that were there
   * before are told so.
   */
  readonly removed = new Map<string, number>();
  /** Grows with every change of tools; what hosts see. */
  revision = 0;
  /**
   * Some profile limits calls per minute: sessions count theirs, also while their own profile does
   * not.
   */
  limitsRate = false;
  /** Calls that are being started right now, one inside the gates of another. */
  nesting = 0;
  /** Grows with every change that may change a verdict or a listing: tools, rules, profiles. */
  epoch = 0;
  closed = false;
  /** Kept alive for the engine's sake; see the spine. */
  exemplars: readonly object[] = [];
  #layers: readonly RuleLayer[];
  /** Names rules without an id; never reused. */
  #ruleCount: number;
  /**
   * Sessions that must hear of changes or closing. Weak, but for those that hold something open.
   */
  readonly watchers = new Set<WeakRef<SessionState>>();
  readonly held = new Set<SessionState>();
  readonly #sharedViews = new SharedViews();
  #pathRedactor: Redactor | undefined | null = null;
  #gathered: Gathered | undefined;
  #timers: unknown = globalThis.setTimeout;
  #clock: { now(): number } = globalThis.performance;
  /** Head of the list of calls in flight, over all sessions. */
  calls: Call | undefined;
  readonly spine: CallControl;

  constructor(options: RegistryOptions<never>, spine: CallControl) {
    this.spine = spine;
    const {
      rules = none,
      policies = none,
      default: effect = 'allow',
      defaultTimeoutMs = 120_000,
      policyTimeoutMs = 5_000,
      graceMs = 30_000,
      locks = 'session',
      approvals,
      redact = none,
      now,
      newId,
      logger,
    } = readOptions<RegistryOptions<unknown>>('HostToolRegistry', options, knownOptions);
    checkDuration('defaultTimeoutMs', defaultTimeoutMs);
    checkDuration('policyTimeoutMs', policyTimeoutMs);
    checkDuration('graceMs', graceMs);
    if (effect !== 'allow' && effect !== 'ask' && effect !== 'deny')
      throw misuse('default', '"allow", "ask" or "deny"', effect);
    if (locks !== 'session' && locks !== 'registry')
      throw misuse('locks', '"session" or "registry"', locks);
    if (!Array.isArray(redact) || redact.some((path) => typeof path !== 'string' || path === ''))
      throw misuse('redact', 'an array of non-empty paths', redact);
    if (now !== undefined && typeof now !== 'function')
      throw misuse('now', 'a function that answers epoch milliseconds', now);
    if (newId !== undefined && typeof newId !== 'function')
      throw misuse('newId', 'a function that answers a string', newId);
    this.policies = checkPolicies(policies as readonly Policy<unknown>[], 'registry');
    this.default = effect;
    this.defaultTimeoutMs = defaultTimeoutMs;
    this.policyTimeoutMs = policyTimeoutMs;
    this.graceMs = graceMs;
    this.redact = Object.freeze([...redact]);
    // The machine's clock is looked up at each reading, so that a test's fake of it counts.
    this.now = now === undefined ? () => Date.now() : safeClock(now);
    this.newId = newId ?? createIds();
    this.logger = logger;
    const {
      secret,
      ttlMs = 3_600_000,
      store,
    } = readOptions<NonNullable<RegistryOptions['approvals']>>(
      'HostToolRegistry: approvals',
      approvals,
      ['secret', 'ttlMs', 'store'],
    );
    this.ttlMs = ttlMs;
    checkDuration('approvals.ttlMs', this.ttlMs);
    this.signer = approvals === undefined ? undefined : createTokenSigner(secret as Key);
    this.store = checkStore(store) ?? memoryApprovalStore(this.now);
    this.locks = locks === 'registry' ? createLocks(this.waits) : undefined;
    this.#layers = [{ rules: compileRules(rules, 'registry'), source: undefined }];
    this.#ruleCount = rules.length;
    this.hub = new EventHub((error, type) => this.listenerFailed(error, type));
  }

  /** Rules that touch a tool of this source, in the order in which they came. */
  rulesFor(source: string): readonly CompiledRule[] {
    const rules: CompiledRule[] = [];
    for (const layer of this.#layers)
      if (layer.source === undefined || layer.source === source) rules.push(...layer.rules);
    return rules;
  }

  /** Adds rules after those that are there; returns what takes them away. */
  addRules(rules: readonly Rule[], layer: string, source: string | undefined): () => void {
    const added: RuleLayer = {
      rules: compileRules(rules, layer, source === undefined ? this.#ruleCount : 0),
      source,
    };
    if (source === undefined) this.#ruleCount += added.rules.length;
    this.#layers = [...this.#layers, added];
    this.changed('rules');
    let there = true;
    return () => {
      if (!there) return;
      there = false;
      this.#layers = this.#layers.filter((one) => one !== added);
      this.changed('rules');
    };
  }

  /** Something beside the tools changed that a listing or a verdict may depend on. */
  changed(reason: ChangeReason): void {
    this.epoch++;
    this.followChange(reason);
  }

  /**
   * Several changes as one: sessions and listeners are told of all of them at the end, and never
   * see the registry in between.
   */
  together<T>(run: () => T): T {
    if (this.#gathered !== undefined) return run();
    const gathered = createGathered();
    this.#gathered = gathered;
    try {
      return run();
    } finally {
      this.#gathered = undefined;
      const tools = gathered.tools();
      if (tools !== undefined) this.emitToolsChanged(tools);
      if (gathered.reason !== undefined) this.followChange(gathered.reason);
    }
  }

  /** Lets sessions that are watched compare what they show. */
  followChange(reason: ChangeReason): void {
    if (this.#gathered !== undefined) {
      this.#gathered.note(reason);
      return;
    }
    for (const session of this.held) session.changed(reason);
    for (const ref of this.watchers) {
      const session = ref.deref();
      if (session === undefined) this.watchers.delete(ref);
      else if (!this.held.has(session)) session.changed(reason);
    }
  }

  /** What a session is shown. Cached until something that it depends on changes. */
  viewOf(session: SessionState): View {
    const outlook = this.#sharedViewOf(session);
    outlook.view ??= computeView(session);
    return outlook.view;
  }

  /** Where a tool stands in a session. */
  toolStatusOf(session: SessionState, entry: ToolEntry): ToolStatus {
    const { statuses: standings } = this.#sharedViewOf(session);
    let standing = standings.get(entry);
    if (standing === undefined) {
      standing = toolStatusOf(session, entry);
      standings.set(entry, standing);
    }
    return standing;
  }

  #sharedViewOf(session: SessionState): SharedView {
    const stamp = session.current();
    if (session.sharedView === undefined || session.sharedViewStamp !== stamp) {
      session.sharedView = this.#sharedViews.get(session);
      session.sharedViewStamp = stamp;
    }
    return session.sharedView;
  }

  /** A session's limits with its profile's: the tightest of each. */
  limitsOf(own: Limits, profile: ResolvedProfile | undefined): Limits {
    return profile === undefined ? own : tightestLimits(own, profile.limits);
  }

  /** Emits on the registry alone. */
  emitToolsChanged(change: ToolsChange): void {
    if (this.#gathered !== undefined) {
      this.#gathered.add(change);
      return;
    }
    if (!this.hub.hears('tools:changed')) return;
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

  /** Hides what the registry's own paths name, whatever the tool. */
  pathRedactor(): Redactor | undefined {
    if (this.#pathRedactor === null) this.#pathRedactor = createRedactor(undefined, this.redact);
    return this.#pathRedactor;
  }

  /** The registered name that a name could be mistaken for. */
  twinOf(name: string): string | undefined {
    return this.skeletons.get(nameSkeleton(name));
  }

  /** Monotonic milliseconds. Looked up at each call, so that test clocks count. */
  monotonic(): number {
    // Reading the global `performance` runs a getter that costs as much as the clock. Fakes of it
    // come and go with those of `setTimeout`, which is cheap to look at.
    if (globalThis.setTimeout !== this.#timers) {
      this.#timers = globalThis.setTimeout;
      this.#clock = globalThis.performance;
    }
    return this.#clock.now();
  }

  /**
   * Remembers that a tool was there; the oldest names are forgotten first. Called right before the
   * change is told.
   */
  rememberRemoved(name: string): void {
    this.removed.delete(name);
    if (this.removed.size >= mostRemoved)
      this.removed.delete(this.removed.keys().next().value as string);
    this.removed.set(name, this.epoch + 1);
  }

  listenerFailed(error: unknown, type: string): void {
    this.hostFault(error, { event: type, source: 'listener' }, 'an event listener failed');
  }

  /** Logs; a logger that throws or rejects affects nothing. */
  warn(data: object, message: string, level: 'warn' | 'error' = 'warn'): void {
    logTo(this.logger, level, data, message);
  }

  /**
   * Reports what the host's own code threw, with its stack:
   * `logger.error({ err, ...where }, message)`.
   * @param scrub Hides the secrets of the call that it was thrown in.
   */
  hostFault(
    thrown: unknown,
    where: object,
    message: string,
    scrub?: (text: string) => string,
  ): void {
    if (this.logger !== undefined)
      logTo(this.logger, 'error', { err: loggedError(thrown, scrub), ...where }, message);
  }
}
