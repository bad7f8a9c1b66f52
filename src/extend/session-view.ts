/** A session as surfaces see it. */

import { takeAnswer } from '../core/approval/wrong-answer.ts';
import { idsInFlight, newId } from '../core/call/calls-in-flight.ts';
import { callTool } from '../core/call/spine.ts';
import { wholeRegistry } from '../core/registry/registry-state.ts';
import { hostToolOf } from '../core/session/bind-host-tool.ts';
import { declareFacts } from '../core/session/declared-facts.ts';
import { stateOf } from '../core/session/session.ts';
import type { SessionState } from '../core/session/session-state.ts';
import { listingOf, questionsOf } from '../core/session/view.ts';
import type { ToolSpec } from '../core/toolset/tool-spec.ts';
import type {
  AnyTool,
  ApprovalAnswer,
  Approver,
  CallOptions,
  HostTool,
  JsonObject,
  JsonPrimitive,
  JsonValue,
  PendingApproval,
  ToolResult,
} from '../core.ts';
import { inCodePort } from '../parts/code/session-port.ts';
import { findablePort } from '../parts/discovery/session-port.ts';
import { approvalsPort } from '../parts/durable-approvals/session-port.ts';
import { originsPort } from '../parts/origins/session-port.ts';
import { neededScopes } from '../parts/scopes/needed.ts';
import { takeBackPort } from '../parts/undo/session-port.ts';
import { type RegistryView, viewOfRegistry } from './registry-view.ts';

/** What a session with discovery may show, by how a tool gets listed. */
interface FindableTools {
  /** What is always listed. */
  readonly kept: readonly string[];
  /** The name of `find_tools`, unless it is hidden. */
  readonly finder: string | undefined;
  /** The tools that can be found, whether they were found or not, in the registry's order. */
  readonly others: readonly string[];
}

/** A form with what a person has filled in. */
interface FilledForm {
  /** Its schema. */
  readonly form: JsonValue;
  readonly answers: JsonObject;
}

/**
 * What a session has, and what a surface may do with it. Members of a part that the registry does
 * not have do nothing, or give undefined, unless they say otherwise.
 */
export interface SessionView {
  /** The registry of the session. */
  readonly registry: RegistryView;
  /** Whether the session or its registry is closed. */
  readonly closed: boolean;
  /** Whom the session acts for. */
  readonly principal: string | undefined;
  /** The agents of its chain, the first one first. */
  readonly agents: readonly string[];
  /** The session's working directory; `""` if it has none. */
  readonly cwd: string;
  /** The facts as they are now. */
  readonly facts: JsonObject;
  /** Whether the session has an approver of its own. */
  readonly hasApprover: boolean;
  /**
   * Lets a session without an approver ask this one, whichever surface a call comes through. The
   * returned function ends that.
   */
  lendApprover(approver: Approver): () => void;
  /** Whether the session remembers texts, for rules about the origins of values. */
  readonly remembersTexts: boolean;
  /** Undefined for a session without discovery. The same object until it changes. */
  readonly findable: FindableTools | undefined;
  /** The tools that the session brings itself, such as `find_tools`, in the place of others. */
  readonly brought: readonly string[];
  /** The tools that no model sees, and that only an app may call. */
  readonly appTools: readonly HostTool[];
  /**
   * The specs of all tools that a model could see, and of those that a profile names without their
   * being registered, for plans of batches.
   */
  readonly specs: ReadonlyMap<string, ToolSpec>;
  /** The definition of this name, whether it is listed or not. */
  definition(name: string): AnyTool | undefined;
  /** An id like those that calls without one get. */
  newCallId(): string;
  /**
   * Starts a call while its id counts as that of a call in flight, so that the session refuses it
   * as a duplicate.
   */
  withTakenId<T>(callId: string, start: () => T): T;
  /** The calls that wait for a person: here and, with `durableApprovals()`, in other processes. */
  questions(): Promise<readonly PendingApproval[]>;
  /**
   * Checks an answer before it reaches its question.
   * @throws MisuseError for an answer that cannot count.
   */
  checkAnswer(answer: ApprovalAnswer): void;
  /**
   * Answers a suspended call, as `session.approvals.resume` does, through a surface. Never rejects.
   * @throws MisuseError `missing_part` without `durableApprovals()`.
   */
  resume(
    token: string,
    answer: ApprovalAnswer,
    options?: Pick<CallOptions, 'signal' | 'surface'>,
  ): Promise<ToolResult>;
  /**
   * The call of a genuine token, expired or not; undefined for any other text. If a program has
   * made it, `tool` and `callId` are those of the call that runs the program.
   */
  readToken(token: string): { readonly tool: string; readonly callId: string } | undefined;
  /**
   * Sets the facts that another party declares, all of which begin with a prefix. Those of an
   * earlier declaration that are missing are removed. Facts of the host stay as they are.
   */
  declareFacts(prefix: string, facts: Readonly<Record<string, JsonValue>>): void;
  /** The word `task` of a tool that the session shows; undefined for any other. */
  taskOf(tool: string): 'optional' | 'required' | undefined;
  /**
   * Takes back the question of a token, so that no one can answer it any more. False if it is not
   * one of this session and principal, or was answered. Rejects if the store fails.
   */
  withdraw(token: string): Promise<boolean>;
  /**
   * Resolves once no suspended call needs this very session; undefined if none does. Close a
   * session that you drop only then: its approvals could not be answered otherwise. Where the
   * registry has `approvals.session`, none does.
   */
  needed(): Promise<void> | undefined;
  /** The scopes that calls of a tool need. None of a name that the session does not show. */
  neededScopes(tool: string): readonly string[];
  /**
   * Remembers a text that the surface has seen, or what the user wrote into a form, if the session
   * remembers any.
   */
  heard(text: string | FilledForm, origin: 'user' | 'trusted'): void;
  /**
   * Remembers an output that no call of this session has returned, as if its model had been shown
   * it. False if there is no such tool.
   * @param about The call that returned the output elsewhere.
   */
  seen(
    toolName: string,
    output: JsonValue,
    about?: { readonly callId?: string; readonly input?: JsonValue },
  ): boolean;
  /** From now on, a value counts as known, because a person has approved it. */
  approved(value: JsonPrimitive, by: string): void;
  /**
   * From now on, the scopes of a request to this session count for its outer session too: agents of
   * a token act with what the token grants.
   */
  shareScopes(): void;
  /** Whether calls of a tool can be taken back. */
  reverts(tool: string): boolean;
  /**
   * Takes a call back, as `session.revert` does, through a surface.
   * @param by The person who wants that, where one has signed in.
   * @param approval The id of the question that allowed the call. Then no other call of its id is
   * taken back.
   * @throws (rejects with) MisuseError `missing_part`, `closed`.
   */
  takeBack(callId: string, surface: string, by?: string, approval?: string): Promise<ToolResult>;
}

/**
 * Looks into a session.
 * @throws MisuseError `invalid_option` for anything but a session of this copy of the package.
 *
 * @example
 * ```ts
 * import { inspectSession } from 'host-tools/extend';
 *
 * // An adapter whose SDK reports answers by the id of the call:
 * async function answered(callId: string, allowed: boolean) {
 *   const view = inspectSession(session);
 *   const asked = (await view.questions()).find((one) => one.callId === callId);
 *   if (asked?.token === undefined) return undefined;
 *   return view.resume(asked.token, allowed ? 'allow_once' : 'reject_once');
 * }
 * ```
 */
export function inspectSession(session: unknown): SessionView {
  return new Inspected(stateOf(session));
}

class Inspected implements SessionView {
  readonly #state: SessionState;

  constructor(state: SessionState) {
    this.#state = state;
  }

  get registry(): RegistryView {
    return viewOfRegistry(wholeRegistry(this.#state.registry));
  }

  get closed(): boolean {
    return this.#state.closed || this.#state.registry.closed;
  }

  get principal(): string | undefined {
    return this.#state.principal;
  }

  get agents(): readonly string[] {
    return this.#state.chain.map(({ agent }) => agent);
  }

  get cwd(): string {
    return this.#state.setup.cwd;
  }

  get facts(): JsonObject {
    return this.#state.facts;
  }

  get hasApprover(): boolean {
    return this.#state.setup.approver !== undefined;
  }

  lendApprover(approver: Approver): () => void {
    const state = this.#state;
    state.lentApprover = approver;
    return () => {
      if (state.lentApprover === approver) state.lentApprover = undefined;
    };
  }

  get remembersTexts(): boolean {
    return this.#origins?.remembers(this.#state) === true;
  }

  get findable(): FindableTools | undefined {
    const { registry } = this.#state;
    const found = findablePort.of(registry)?.(this.#state);
    return found && (inCodePort.of(registry)?.(this.#state, found) ?? found);
  }

  get brought(): readonly string[] {
    return [...(this.#state.tools.brought?.keys() ?? [])];
  }

  get appTools(): readonly HostTool[] {
    const state = this.#state;
    return listingOf(state).dropped.flatMap(({ name, code }) => {
      const binding = code === 'app_only' ? state.binding(name) : undefined;
      return binding === undefined ? [] : hostToolOf(binding, callTool);
    });
  }

  get specs(): ReadonlyMap<string, ToolSpec> {
    return this.#state.registry.viewOf(this.#state).specs;
  }

  definition(name: string): AnyTool | undefined {
    return this.#state.entryOf(name)?.definition;
  }

  newCallId(): string {
    return newId(this.#state);
  }

  withTakenId<T>(callId: string, start: () => T): T {
    const state = this.#state;
    state.calls.ids ??= idsInFlight(state);
    const free = !state.calls.ids.has(callId);
    if (free) state.calls.ids.set(callId, undefined);
    const result = start();
    if (free) state.calls.ids.delete(callId);
    return result;
  }

  questions(): Promise<readonly PendingApproval[]> {
    return questionsOf(this.#state);
  }

  checkAnswer(answer: ApprovalAnswer): void {
    takeAnswer('approval', answer, this.#state.limits.maxInputBytes);
  }

  resume(
    token: string,
    answer: ApprovalAnswer,
    options?: Pick<CallOptions, 'signal' | 'surface'>,
  ): Promise<ToolResult> {
    const { parts } = this.#state.registry;
    const port = approvalsPort.of(this.#state.registry);
    if (port === undefined)
      throw parts.missing('sessionMethods', 'approvals.resume', 'An answer to a suspended call');
    return port.resume(this.#state, token, answer, options);
  }

  readToken(token: string): { readonly tool: string; readonly callId: string } | undefined {
    return approvalsPort.of(this.#state.registry)?.read(this.#state, token);
  }

  declareFacts(prefix: string, facts: Readonly<Record<string, JsonValue>>): void {
    const state = this.#state;
    const changes = new Map<string, JsonValue>(Object.entries(facts));
    for (const key of state.declared ?? [])
      if (key.startsWith(prefix) && !changes.has(key)) changes.set(key, null);
    declareFacts(state, Object.fromEntries(changes));
  }

  taskOf(tool: string): 'optional' | 'required' | undefined {
    const entry = this.#state.entryOf(tool);
    if (entry === undefined || this.#state.binding(tool)?.status.drop !== undefined)
      return undefined;
    return this.#state.profile?.tools.get(entry.name)?.task ?? entry.internals.execution.task;
  }

  async withdraw(token: string): Promise<boolean> {
    return (await approvalsPort.of(this.#state.registry)?.withdraw(this.#state, token)) === true;
  }

  needed(): Promise<void> | undefined {
    return approvalsPort.of(this.#state.registry)?.needed(this.#state);
  }

  neededScopes(tool: string): readonly string[] {
    const entry = this.#state.entryOf(tool);
    return entry === undefined || this.#state.binding(tool)?.status.drop !== undefined
      ? []
      : neededScopes(this.#state, entry);
  }

  heard(text: string | FilledForm, origin: 'user' | 'trusted'): void {
    this.#origins?.heard(this.#state, text, origin);
  }

  seen(
    toolName: string,
    output: JsonValue,
    about: { readonly callId?: string; readonly input?: JsonValue } = {},
  ): boolean {
    return this.#origins?.seen(this.#state, toolName, output, about) === true;
  }

  approved(value: JsonPrimitive, by: string): void {
    this.#origins?.approved(this.#state, value, by);
  }

  shareScopes(): void {
    const { acting } = this.#state;
    if (acting !== undefined) acting.sharesScopes = true;
  }

  reverts(tool: string): boolean {
    const { registry } = this.#state;
    return (
      takeBackPort.of(registry) !== undefined &&
      this.#state.entryOf(tool)?.internals.revert !== undefined
    );
  }

  async takeBack(
    callId: string,
    surface: string,
    by?: string,
    approval?: string,
  ): Promise<ToolResult> {
    const { registry } = this.#state;
    const take = takeBackPort.of(registry);
    if (take === undefined)
      throw registry.parts.missing('sessionMethods', 'revert', 'Taking a call back');
    return take(this.#state, callId, { surface, by, approval });
  }

  get #origins() {
    return originsPort.of(this.#state.registry);
  }
}
