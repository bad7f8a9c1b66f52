/**
 * What applies to one tool in one session. It is computed on first use, and again after a change.
 */

import type { Effect } from '../../api/policy.ts';
import type { HostTool } from '../../api/session.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { MadeHandler } from '../tool/definition.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { ConstantDenial } from './constant-denial.ts';
import type { ToolCounts } from './counters.ts';
import type { BeginGate, Masking, OverBudget, ToolGates } from './ports.ts';
import type { CallSession } from './session-port.ts';
import type { CallStep } from './step.ts';

/** What a session answers about a tool, from which a binding is made. */
export interface ToolStatus {
  /** Why the tool is not effective; undefined if it is. */
  readonly drop: string | undefined;
  /** Registry and scope rules that apply to the tool. */
  readonly registryRules: readonly CompiledRule[];
  /** Profile and session rules that apply to the tool. */
  readonly sessionRules: readonly CompiledRule[];
  /** What parts do for calls to the tool. */
  readonly gates: readonly ToolGates[];
  /** The strictest of the defaults that apply. */
  readonly default: Effect;
  /** The profile requires approval. */
  readonly profileAsks: boolean;
  /** Some rule asks for approval of every call, whatever its input. */
  readonly rulesAsk: boolean;
  /**
   * The default asks for approval of every call, unless one of the session's own policies allows
   * it.
   */
  readonly defaultAsks: boolean;
  /** Frozen; undefined if they are missing. */
  readonly knobs: unknown;
  /**
   * No gate applies to the tool except the session's own policies: without those, every call is
   * allowed.
   */
  readonly open: boolean;
  readonly timeoutMs: number;
  /** The smaller of the limits that the tool and the profile set. */
  readonly maxOutputChars: number;
  /** Undefined if calls of the tool have nothing to hide. */
  readonly masking: Masking | undefined;
}

export class Binding {
  readonly session: CallSession;
  readonly entry: ToolEntry;
  /** The session's stamp for which the other fields were computed. */
  stamp = -1;
  /** What the session says about the tool; set by {@link refresh}. Sessions may share it. */
  status!: ToolStatus;
  /** The steps of a call. Made on first use. */
  steps: readonly CallStep[] | undefined;
  /** Told when a handler begins; undefined if there are none. */
  begins: readonly BeginGate[] | undefined;
  /** What shows outputs that are over their budget; undefined if they are cut. */
  overBudget: OverBudget | undefined;
  /** Those that look at outputs. */
  outputs: readonly NonNullable<ToolGates['output']>[] = [];
  /** The gates in order. The decide stage creates them on first use. */
  judges: readonly unknown[] | undefined;
  /** Calls can be judged before they have a record. Found out on first use. */
  endsEarly: boolean | undefined;
  /** The denial of every call; null if calls have to be judged. Made on first use. */
  denial: ConstantDenial | null | undefined;
  /** The profile, or rules that look at no input, ask for every call. */
  asks = false;
  /** The handler needs slots or a lock before it runs. */
  isBounded = false;
  /** No gate applies to the tool: every call is allowed. */
  open = false;
  /** The smallest of the limits that the tool, the profile and the session set. */
  maxOutputChars = Number.POSITIVE_INFINITY;
  hostTool: HostTool | undefined;
  /** The handler of a tool with `create`, once it has been called. */
  handler: SessionHandler | undefined;
  /** Where ended calls count; undefined until the first one has ended. */
  counts: ToolCounts | undefined;

  /** Calls in flight keep the binding of the definition on which they started. */
  constructor(session: CallSession, entry: ToolEntry) {
    this.session = session;
    this.entry = entry;
  }

  refresh(stamp: number): void {
    const { session, entry } = this;
    const { limits } = session;
    const status = session.statusOf(entry);
    const asks =
      status.profileAsks ||
      status.rulesAsk ||
      (status.defaultAsks && session.policies.length === 0);
    // The host tool's `requiresApproval` depends on profile and rules.
    if (asks !== this.asks) this.hostTool = undefined;
    this.asks = asks;
    this.judges = undefined;
    this.endsEarly = undefined;
    this.denial = undefined;
    this.status = status;
    this.steps = undefined;
    const begins = status.gates.flatMap((gates) => gates.begins ?? []);
    this.begins = begins.length === 0 ? undefined : begins;
    this.overBudget = status.gates.find((gates) => gates.overBudget !== undefined)?.overBudget;
    this.outputs = status.gates.flatMap(({ output }) => output ?? []);
    for (const { bound } of status.gates) bound?.(session);
    this.open = status.open && session.policies.length === 0;
    this.maxOutputChars = Math.min(
      status.maxOutputChars,
      limits.maxOutputChars ?? Number.POSITIVE_INFINITY,
    );
    this.isBounded =
      entry.slots !== undefined ||
      entry.internals.execution.resourceKey !== undefined ||
      session.calls.slots !== undefined ||
      session.outer !== undefined;
    this.stamp = stamp;
  }

  /** Takes over the handler of the binding that it replaces, if both have the same `create`. */
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

  /** Disposes the handler once its calls have ended, since the tool was replaced or removed. */
  retire(): void {
    if (this.handler === undefined) return;
    const drained = Promise.all([...this.handler.entries].map((entry) => entry.drain()));
    void drained.then(() => this.discard());
  }

  /** Disposes a session-scoped handler. Resolves once that is done, even if it failed. */
  discard(): Promise<void> | undefined {
    const { handler } = this;
    const made = handler?.made;
    this.handler = undefined;
    if (handler === undefined || made === undefined) return undefined;
    // From here on a failing `create` must not release the session a second time.
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

/**
 * It outlives changes to the definition. As long as `create` is the same function, the session
 * keeps its connection and its state. When the tool is removed or gets another `create`, the
 * handler is disposed as soon as the calls on all definitions that use it have ended.
 */
export interface SessionHandler {
  made: Promise<MadeHandler> | undefined;
  /** The handler, once `create` has returned it. */
  now: MadeHandler | undefined;
  /** The definitions whose calls run on it. */
  readonly entries: Set<ToolEntry>;
}

export function createSessionHandler(entry: ToolEntry): SessionHandler {
  return { made: undefined, now: undefined, entries: new Set([entry]) };
}
