/**
 * One tool in one session: what applies to it there, worked out when first asked for and again when
 * something changed.
 */

import type { Effect } from '../policy/decision.ts';
import type { Policy } from '../policy/policy.ts';
import type { CompiledRule } from '../policy/rule.ts';
import type { HostTool } from '../tool/host-tool.ts';
import type { Counters } from './counters.ts';
import type { SessionHandler } from './session-handler.ts';
import type { SessionState } from './session-state.ts';
import type { ToolEntry } from './tool-entry.ts';

export class Binding {
  readonly session: SessionState;
  entry: ToolEntry;
  /** The session's stamp that the rest is worked out for. */
  stamp = -1;
  /** Why the tool is not effective; undefined when it is. */
  drop: string | undefined;
  /** Registry and scope rules that touch the tool. */
  registryRules: readonly CompiledRule[] = [];
  /** Profile and session rules that touch the tool. */
  sessionRules: readonly CompiledRule[] = [];
  policies: readonly Policy<unknown>[] = [];
  sessionPolicies: readonly Policy<unknown>[] = [];
  default: Effect = 'allow';
  /** The gates in order, made by the decide stage when first needed. */
  judges: readonly unknown[] | undefined;
  /** The profile demands approval. */
  profileAsks = false;
  /** The profile, or rules that look at no input, ask for every call. */
  asks = false;
  /** Slots or a lock are to be taken before the handler runs. */
  isBounded = false;
  /** Nothing judges the tool: every call is allowed. */
  open = false;
  knobs: unknown;
  timeoutMs = 0;
  maxOutputChars = Number.POSITIVE_INFINITY;
  secretive = false;
  hostTool: HostTool | undefined;
  /** Of a tool with `create`, once it has been called. */
  handler: SessionHandler | undefined;
  // Counters.
  calls = 0;
  succeeded = 0;
  failed = 0;
  rejected = 0;
  cancelled = 0;
  pending = 0;
  denied = 0;

  /** Where calls of this binding count once it has been replaced or removed. */
  heir: Counters | undefined;

  /**
   * Calls in flight keep the binding of the definition on which they started; a replaced one hands
   * its counts on.
   */
  constructor(session: SessionState, entry: ToolEntry, before?: Binding) {
    this.session = session;
    this.entry = entry;
    if (before !== undefined) before.countIn(this);
  }

  /** Moves the counts, those to come too. */
  countIn(heir: Counters): void {
    for (const key of counterNames) {
      heir[key] += this[key];
      this[key] = 0;
    }
    this.heir = heir;
  }

  refresh(stamp: number): void {
    const { session, entry } = this;
    const { registry, limits } = session;
    const status = registry.toolStatusOf(session, entry);
    const asks =
      status.profileAsks ||
      status.rulesAsk ||
      (status.defaultAsks && session.policies.length === 0);
    // What the host tool shows of approvals follows profile and rules.
    if (asks !== this.asks) this.hostTool = undefined;
    this.asks = asks;
    this.judges = undefined;
    this.drop = status.drop;
    this.registryRules = status.registryRules;
    this.sessionRules = status.sessionRules;
    this.policies = registry.policies;
    this.sessionPolicies = session.policies;
    this.default = status.default;
    this.profileAsks = status.profileAsks;
    this.knobs = status.knobs;
    this.open = status.open && session.policies.length === 0;
    this.timeoutMs = status.timeoutMs;
    this.maxOutputChars = Math.min(
      status.maxOutputChars,
      limits.maxOutputChars ?? Number.POSITIVE_INFINITY,
    );
    this.secretive = status.secretive;
    this.isBounded =
      entry.slots !== undefined ||
      entry.internals.resourceKey !== undefined ||
      session.slots !== undefined;
    this.stamp = stamp;
  }

  /**
   * Goes on with the handler of the binding that it replaces, where both are made by the same
   * `create`.
   */
  adopt(before: Binding): void {
    const { handler } = before;
    if (handler === undefined || before.entry.internals.create !== this.entry.internals.create)
      return;
    before.handler = undefined;
    this.handler = handler;
    handler.entries.add(this.entry);
    for (const entry of handler.entries)
      if (entry.inFlight === 0 && entry !== this.entry) handler.entries.delete(entry);
  }

  /**
   * The tool was replaced or removed here: its handler is disposed once the calls that run on it
   * have ended.
   */
  retire(): void {
    if (this.handler === undefined) return;
    const drained = Promise.all([...this.handler.entries].map((entry) => entry.drain()));
    void drained.then(() => this.discard());
  }

  /**
   * Disposes a session-scoped handler that was made; resolves when it has been, however that went.
   */
  discard(): Promise<void> | undefined {
    const { handler } = this;
    const made = handler?.made;
    this.handler = undefined;
    if (handler === undefined || made === undefined) return undefined;
    // One that cannot be made after all has nothing left to give back.
    handler.made = undefined;
    const { registry, sessionId } = this.session;
    this.session.release();
    return made
      .then((one) => one.dispose?.())
      .then(undefined, (error: unknown) =>
        registry.hostFault(
          error,
          { sessionId, toolName: this.entry.name, source: 'dispose' },
          'disposing a session-scoped handler failed',
        ),
      );
  }
}

const counterNames = [
  'calls',
  'succeeded',
  'failed',
  'rejected',
  'cancelled',
  'pending',
  'denied',
] as const;
