/**
 * Sessions. Each is one agent conversation over a registry's shared tools. A session is cheap to
 * create, because a tool is bound on first use.
 */

import type { Approvals } from '../../api/answers.ts';
import type { ApprovalAnswer } from '../../api/approval.ts';
import type { BatchOptions, BatchPlan, BatchResult, ToolCall } from '../../api/batch.ts';
import type { CallOptions, CallTool } from '../../api/context.ts';
import type { Emitter, ToolEvents } from '../../api/events.ts';
import type { CallMetrics } from '../../api/metrics.ts';
import type { Hook } from '../../api/policy.ts';
import type { CoreSession, EffectiveTools, HostTool, ToolSession } from '../../api/session.ts';
import type { Overrides } from '../../api/session-options.ts';
import type { AnyTool, ToolRegistration } from '../../api/tool.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { nameOf, nameSkeleton } from '../../values/text/names.ts';
import type { ReadAnswer } from '../approval/request.ts';
import { takeAnswer } from '../approval/wrong-answer.ts';
import { readCallOptions } from '../call/call-options.ts';
import { boundSlots } from '../call/session-limits.ts';
import { callTool } from '../call/spine.ts';
import { defineMethods } from '../part.ts';
import { checkPages } from '../tool/check-pages.ts';
import { isDefinition } from '../tool/definition.ts';
import { releaseExecutor, retainExecutor } from '../tool/executors.ts';
import { ToolEntry } from '../tool/tool-entry.ts';
import { checkNames } from '../toolset/effective.ts';
import { unknownProfile } from '../toolset/unknown-profile.ts';
import { executeBatch, planCalls } from './batch.ts';
import { boundTools, hostToolOf } from './bind-host-tool.ts';
import { checkDefinition, showDefinition } from './check-definition.ts';
import { closeSession } from './close.ts';
import { ownFacts } from './declared-facts.ts';
import { metricsOf } from './metrics.ts';
import { readHook } from './read-hook.ts';
import { giveHandle, Registration, type ToolTable } from './registration.ts';
import { changeFacts, readOverrides } from './session-options.ts';
import type { SessionState } from './session-state.ts';
import { listingOf } from './view.ts';

/**
 * Set by the class, which is the only code that can read the private field. A symbol would give
 * anyone who looks for it access to the handlers.
 */
let readState: (session: object) => SessionState | undefined;

/** The state behind a session of this copy of the package. @throws MisuseError */
export function stateOf(session: unknown): SessionState {
  const state = typeof session === 'object' && session !== null ? readState(session) : undefined;
  if (state === undefined)
    throw new MisuseError(
      'invalid_option',
      'Expected a session made by createSession() of this copy of host-tools.',
    );
  return state;
}

/** A session over its state. {@link defineSessionMethods} adds the methods of parts. */
export function sessionOf<S>(state: SessionState): ToolSession<S> {
  const session: CoreSession<S> = new Session<S>(state);
  return session as ToolSession<S>;
}

class Session<S> implements CoreSession<S> {
  readonly #state: SessionState;
  #call: CallTool | undefined;

  constructor(state: SessionState) {
    this.#state = state;
  }

  static {
    readState = (session) => (#state in session ? session.#state : undefined);
  }

  get sessionId(): string {
    return this.#state.sessionId;
  }

  tools(): readonly HostTool[] {
    return boundTools(this.#state, callTool);
  }

  tool(tool: unknown): HostTool<never, never> | undefined {
    const state = this.#state;
    const name = nameOf(tool);
    const binding = state.binding(name);
    if (
      binding === undefined ||
      binding.status.drop !== undefined ||
      binding.entry.internals.internal
    )
      return undefined;
    if (isDefinition(tool) && binding.entry.definition !== tool) return undefined;
    return hostToolOf(binding, callTool) as HostTool<never, never>;
  }

  // Bound on first read, so that `const { call } = session` works and sessions stay small.
  get call(): CallTool {
    this.#call ??= ((tool: unknown, input?: unknown, options?: CallOptions) =>
      callTool(
        this.#state,
        nameOf(tool),
        input,
        options === undefined ? undefined : readCallOptions(options),
      )) as CallTool;
    return this.#call;
  }

  plan(calls: readonly ToolCall[]): BatchPlan {
    return planCalls(this.#state, calls);
  }

  executeBatch(calls: readonly ToolCall[], options: BatchOptions = {}): Promise<BatchResult> {
    return executeBatch(this.#state, calls, options);
  }

  effectiveTools(): EffectiveTools {
    const state = this.#state;
    const { names, dropped, prerequisites, hash } = listingOf(state);
    return Object.freeze({
      names,
      get tools() {
        return boundTools(state, callTool);
      },
      dropped,
      prerequisites,
      revision: state.registry.catalogue.revision,
      hash,
    });
  }

  register(definition: AnyTool<S>): ToolRegistration {
    const state = this.#state;
    const { registry } = state;
    state.checkOpen('register a tool');
    if (state.outer !== undefined)
      throw new MisuseError(
        'invalid_option',
        'register: expected a session that acts for no other, got that of a sub-agent.',
      );
    checkDefinition(definition as AnyTool, registry);
    const { name } = definition;
    const twin =
      registry.catalogue.twinOf(name) ??
      [...(state.tools.own?.keys() ?? []), ...(state.tools.brought?.keys() ?? [])].find(
        (other) => nameSkeleton(other) === nameSkeleton(name),
      );
    if (twin !== undefined) {
      throw new MisuseError(
        twin === name ? 'duplicate_name' : 'name_conflict',
        `Session \`${state.sessionId}\`: expected a name that no other tool has, got ` +
          `\`${name}\`${twin === name ? '' : `, which could be mistaken for \`${twin}\``}. ` +
          'Choose another name.',
      );
    }
    checkPages([definition as AnyTool], () => state.tools.own?.values() ?? [], 'session');
    showDefinition(definition as AnyTool, registry, state);
    const entry = new ToolEntry(definition as AnyTool, 'session', registry.waiting.graph);
    registry.ports.review?.registering([entry], undefined, state);
    state.tools.own ??= new Map();
    state.tools.own.set(name, entry);
    retainExecutor(entry, registry);
    state.tools.gone?.delete(name);
    state.touch('session');
    return giveHandle(new Registration(ownTable(state), entry), entry);
  }

  setProfile(id: string): void {
    const state = this.#state;
    state.checkOpen('change the profile');
    const { registry } = state;
    const profile = registry.profiles.get(id)?.resolved;
    if (profile === undefined)
      throw unknownProfile('setProfile: expected the id', id, [...registry.profiles.keys()]);
    state.profileId = id;
    state.profile = profile;
    state.limits = registry.limitsOf(state.setup.limits, profile);
    boundSlots(state);
    state.touch('profile');
  }

  setOverrides(overrides: Overrides): void {
    const state = this.#state;
    state.checkOpen('change overrides');
    const read = readOverrides(overrides);
    checkOverrides(state, read);
    state.overrides = read;
    state.touch('overrides');
  }

  setFacts(facts: JsonObject): void {
    const state = this.#state;
    state.checkOpen('change facts');
    state.facts = changeFacts(state.facts, facts);
    ownFacts(state, Object.keys(facts));
    state.touch('facts');
  }

  use(hook: Hook): () => void {
    const state = this.#state;
    state.checkOpen('add a hook');
    const own = readHook(hook);
    state.hooks = Object.freeze([...state.hooks, own]);
    return () => {
      state.hooks = Object.freeze(state.hooks.filter((one) => one !== own));
    };
  }

  /** Without the members that parts add. */
  get approvals(): Approvals {
    const state = this.#state;
    const own: Pick<Approvals, 'answer' | 'grants' | 'revoke'> = {
      answer: (id: string, answer: ApprovalAnswer) =>
        answerHere(state, id, takeAnswer('approvals.answer', answer, state.limits.maxInputBytes)),
      grants: () => state.desk?.grants.list(state.registry.now()) ?? [],
      revoke: (id: string) => state.approvalDesk().grants.revoke(id),
    };
    return own as Approvals;
  }

  get events(): Emitter<ToolEvents> {
    return this.#state.listeners();
  }

  metrics(): CallMetrics {
    return metricsOf(this.#state.calls.counts);
  }

  close(): Promise<void> {
    return closeSession(this.#state);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function ownTable(state: SessionState): ToolTable {
  return {
    has: (entry) => state.tools.own?.get(entry.name) === entry,
    replace: (before, entry) => {
      state.tools.own?.set(entry.name, entry);
      retainExecutor(entry, state.registry);
      void releaseExecutor(before, state.registry);
      state.touch('session');
    },
    remove: (entry) => {
      const { name } = entry;
      state.tools.own?.delete(name);
      state.tools.gone ??= new Set();
      state.tools.gone.add(name);
      void releaseExecutor(entry, state.registry);
      state.touch('session');
    },
    changed: () => state.touch('session'),
    registry: state.registry,
  };
}

/** @throws MisuseError `unknown_tool`. */
export function checkOverrides(state: SessionState, overrides: Overrides): void {
  const known = new Map<string, unknown>([
    ...state.registry.catalogue.tools,
    ...(state.tools.own ?? []),
  ]);
  for (const list of ['enable', 'disable', 'force'] as const)
    checkNames(overrides[list], known, `overrides.${list}`);
}

/** Defines methods of parts. One of an absent part throws a MisuseError `missing_part`. */
export function defineSessionMethods(names: Iterable<string>): void {
  defineMethods(Session.prototype, 'session', names, (session) => {
    const state = readState(session) as SessionState;
    const { parts, ports } = state.registry;
    return { state, methods: ports.sessions.methods, parts };
  });
}

/**
 * False if no such call waits.
 * @throws MisuseError `invalid_option` for someone who may not answer.
 */
function answerHere(session: SessionState, id: string, answer: ReadAnswer): boolean {
  const { desk, registry } = session;
  if (desk === undefined || !desk.waiting.has(id)) return false;
  const refusal = registry.ports.calls.answers?.refusal(session, answer.by);
  if (refusal !== undefined)
    throw new MisuseError(
      'invalid_option',
      `approvals.answer: under \`${refusal.option}\`, ${refusal.message} The question stays open.`,
    );
  return desk.answer(id, answer);
}
